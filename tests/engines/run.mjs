// `npm run test:engines`: draws the same scenes in every browser engine that is there, and compares each with Chromium on
// SwiftShader, picture by picture and number by number.
//
//   npm run test:engines                            all engines, all scenes
//   npm run test:engines -- --install               installs what is missing, on Debian as root; so does CI=true
//   npm run test:engines -- Firefox --scene=parts   one engine, one scene
//   npm run test:engines -- --outputFile=FILE       also writes the counts and what failed, named as in Vitest's JSON
//
// CHROME_PATH and FIREFOX_PATH may name the browsers. Other options are passed over: CI gives those of Vitest to all that it counts.
import { writeFileSync } from 'node:fs';
import { findBrowser } from '../setup/findBrowser.mjs';
import { modelFiles, modelsFolder } from '../setup/models.mjs';
import { boundsAcrossDrivers, boundsOnOneDriver } from './bounds.mjs';
import { drawWith } from './drawWith.mjs';
import { BASELINE, ENGINES, LLVMPIPE } from './engines.mjs';
import { install } from './install.mjs';
import { Report } from './Report.mjs';
import { baselineOf, RENDERERS } from './renderers.mjs';
import { serve } from './serve.mjs';

const args = process.argv.slice(2);
const option = (name) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
const onlyScene = option('scene');

function chosenEngines() {
  const names = args.filter((arg) => !arg.startsWith('--'));
  const matches = (engine, name) => engine.name.toLowerCase().includes(name.toLowerCase());
  const unknown = names.find((name) => !ENGINES.some((engine) => matches(engine, name)));
  if (unknown !== undefined) {
    const known = ENGINES.map(({ name }) => name).join(', ');
    throw new Error(`npm run test:engines: no engine "${unknown}"; there are ${known}.`);
  }
  return ENGINES.filter((engine) => names.length === 0 || names.some((name) => matches(engine, name)));
}

async function draw(engine, site) {
  let drawings = await drawWith(engine, site, onlyScene);
  // A browser may fail to start where there is little memory or time; one that has told what it draws on has not.
  if (drawings.device === undefined) {
    console.log(`${engine.name} did not start (${drawings.strayProblems.join('; ')}): once more.`);
    drawings = await drawWith(engine, site, onlyScene);
  }
  const { device = 'nothing it told', drawn, seconds } = drawings;
  console.log(
    `${engine.name}: ${drawn.length} pictures in ${seconds.toFixed(1)} s, on ${device ?? 'nothing: it has no WebGL 2'}`,
  );
  return { name: engine.name, drawings };
}

/** Why an engine cannot be compared, or null; an engine that is there but ends in errors can. */
function whyNot({ packages }, missing, drawings) {
  let why = null;
  if (missing.length > 0) why = `there is no ${missing.join(', no ')}`;
  else if (drawings.problems.length === 0 && !drawings.accepted)
    why = `it draws on ${drawings.device ?? 'nothing: it has no WebGL 2'}`;
  return why && `${why}. On Debian: apt-get install ${packages.join(' ')}; or add --install, as root`;
}

async function run(site, engines) {
  const comparison = await site.load('/tests/engines/compare.ts');
  // Two at a time, each of which keeps one core busy at most.
  const waiting = [BASELINE, ...engines.filter((engine) => engine.missing().length === 0)];
  const drawn = new Map();
  const drawNext = async () => {
    for (let engine = waiting.shift(); engine !== undefined; engine = waiting.shift())
      drawn.set(engine, await draw(engine, site));
  };
  await Promise.all([drawNext(), drawNext()]);
  const baseline = drawn.get(BASELINE);
  const report = new Report(comparison, baseline);
  const { scenes, accepted, device } = baseline.drawings;
  report.countStray(baseline);
  if (!accepted)
    report.count(BASELINE.name, [`it draws on ${device ?? 'nothing'}, so there is nothing to compare with`]);
  else if (scenes.length === 0) throw new Error(`npm run test:engines: no scene "${onlyScene}".`);
  if (!accepted) return report;
  report.checkBaseline();

  const columns = [];
  for (const engine of engines) {
    const missing = engine.missing();
    const column = drawn.get(engine);
    const why = whyNot(engine, missing, column?.drawings);
    if (why !== null) {
      report.skipped += scenes.length * engine.renderers.length;
      console.log(`${engine.name}: skipped, since ${why}.`);
      continue;
    }
    report.countStray(column);
    columns.push(column);
  }

  const ownWebGPU = { name: 'SwiftShader, WebGPU', drawings: baseline.drawings };
  const hasWebGPU = baseline.drawings.drawn.some(({ backend }) => backend === 'WebGPU');
  if (!hasWebGPU) {
    report.skipped += scenes.length;
    console.log(`${ownWebGPU.name}: skipped, since it has none here.`);
  }
  const columnsOf = { WebGLRenderer: columns, WebGPURenderer: hasWebGPU ? [ownWebGPU, ...columns] : columns };
  for (const renderer of RENDERERS) {
    const reference = { ...baseline, renderer: baselineOf(renderer) };
    report.compare(renderer, columnsOf[renderer], reference, (name, scene) =>
      name === ownWebGPU.name ? boundsOnOneDriver(scene) : boundsAcrossDrivers(scene),
    );
  }

  // What differs between engines alone is seen where they draw by the same driver.
  const [onMesa, ...others] = columns;
  if (onMesa?.name === LLVMPIPE && others.length > 0) {
    for (const renderer of RENDERERS)
      report.compare(renderer, others, { ...onMesa, renderer }, (_, scene) => boundsOnOneDriver(scene));
  }
  return report;
}

async function main() {
  const engines = chosenEngines();
  await findBrowser();
  if (args.includes('--install') || process.env.CI === 'true') install(engines);
  const models = modelFiles();
  console.log(
    models.length > 0
      ? `Real models: ${models.join(', ')} in ${modelsFolder()}`
      : `Real models: none in ${modelsFolder()}, so there are no scenes of them; set SIM_MODELS to a folder of .glb files.`,
  );

  const site = await serve();
  try {
    const { passed, failed, skipped, failures, known } = await run(site, engines);
    if (known.size > 0) console.log(`\nKnown to be wrong, and counted as skipped:\n${[...known].join('\n')}`);
    if (failures.length > 0) console.log(`\nWhat is wrong:\n${failures.join('\n')}`);
    const outputFile = option('outputFile');
    if (outputFile !== undefined) {
      const assertionResults = failures.map((title) => ({ status: 'failed', title }));
      const results = {
        numPassedTests: passed,
        numFailedTests: failed,
        numPendingTests: skipped,
        testResults: [{ name: 'tests/engines', assertionResults }],
      };
      writeFileSync(outputFile, JSON.stringify(results));
    }
    console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);
    process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
  } finally {
    await site.close();
  }
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
