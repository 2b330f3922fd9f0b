// Prints what a frame costs, what the vertex stage costs, what baking costs, each beside a peer or a
// floor that was measured in the same run. Ratios carry over to other machines; milliseconds do not.
//
//   npm run bench                 frames, vertices, poses, baking
//   npm run bench -- vertices     one of them
//   npm run bench -- costs        what a crowd costs beside its vertices: JavaScript, memory
//   npm run bench -- scene        10,000 of a baked file in view, with its levels and shadows, and without levels
//   npm run bench -- game         a game's frame: 8 crowds with levels, swords and a shadow map; --lights=1,3,csm, --crowds=24, --each=84
//   npm run bench -- ports        programs with SkinnedMeshes beside their ports
//   npm run bench -- whole        frames of whole characters, which a software renderer takes minutes over
//   npm run bench -- compare COMMIT vertices       the same of another commit, in turns with those here: ratios and their spread
//   npm run bench -- frames --json=results.json     also keeps the benchmark page's numbers in a file
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { chromium } from 'playwright';
import { createServer } from 'vite';
import { browserFlags } from '../setup/browserFlags.mjs';
import { findBrowser } from '../setup/findBrowser.mjs';
import { compare } from './compare.mjs';

if (process.argv[2] === 'compare') {
  compare(process.argv.slice(3));
  process.exit();
}

const wanted = process.argv.slice(2).filter((arg) => !arg.startsWith('--'));
const jsonFile = process.argv.find((arg) => arg.startsWith('--json='))?.slice('--json='.length);
const kept = [];

const server = await createServer({ logLevel: 'error', server: { port: 0, hmr: false, watch: null } });
await server.listen();
const { port } = server.httpServer.address();
const browser = await chromium.launch({ executablePath: await findBrowser(), args: browserFlags });

async function open(path) {
  const page = await browser.newPage();
  page.on('pageerror', (error) => console.error(String(error)));
  await page.goto(`http://localhost:${port}${path}`);
  return page;
}

/** A page that has `window.bench`, for as long as `work` takes. */
async function onPage(work) {
  const page = await open('/tests/bench/index.html');
  await page.waitForFunction(() => window.bench !== undefined);
  const result = await work(page);
  await page.close();
  return result;
}

const cell = (text, width) => String(text).padStart(width);
const number = (value, digits = 0) => value.toLocaleString('en', { maximumFractionDigits: digits });

/** What the gallery's benchmark page measures, run without anyone looking. */
async function frames(parameters, title) {
  console.log(title);
  for (const renderer of ['webgl', 'webgpu']) {
    const page = await open(
      `/demos/benchmark/index.html?${new URLSearchParams({ auto: '1', renderer, ...parameters })}`,
    );
    await page.waitForFunction(() => document.body.dataset.done === '1', null, { timeout: 0 });
    const result = JSON.parse(await page.textContent('[data-json]'));
    await page.close();
    kept.push(result);

    console.log(`\n${result.renderer} on ${result.device}`);
    console.log(
      `${'characters'.padEnd(12)}${'drawn as'.padEnd(46)}${cell('JS ms', 10)}${cell('× floor', 9)}${cell('GPU ms', 10)}${cell('frame ms', 11)}${cell('draws', 8)}${cell('uploads', 9)}${cell('bytes', 13)}`,
    );
    for (const row of result.rows) {
      const floor = result.rows.find(({ contender, count }) => contender === 'floor' && count === row.count);
      const ratio = row.js / floor.js;
      console.log(
        `${number(row.count).padEnd(12)}${row.name.padEnd(46)}${cell(row.js.toFixed(3), 10)}${cell(ratio.toFixed(ratio < 10 ? 2 : 0), 9)}${cell(row.gpu?.toFixed(1) ?? '–', 10)}${cell(row.frame.toFixed(2), 11)}${cell(number(row.draws), 8)}${cell(number(row.uploads), 9)}${cell(number(row.bytes), 13)}`,
      );
    }
    for (const problem of result.problems) console.log(problem);
  }
  console.log();
}

/** Rows of `vertices` or `poses`, for some models. */
async function ratios(models, kind, title, digits) {
  console.log(`${title}, vertex stage of a still InstancedMesh = 1: median (least, most)`);
  for (const model of models.filter((name) => ['built-in', 'Knight.glb', 'CesiumMan.glb'].includes(name))) {
    const rows = await onPage((page) =>
      page.evaluate((args) => window.bench[args[0]](args[1], 15), [kind, model]),
    );
    for (const { name, ...row } of rows) {
      const [ratio, low, high] = [row.ratio, row.low, row.high].map((value) => value.toFixed(digits));
      console.log(`${model.padEnd(16)}${name.padEnd(48)}${ratio} (${low}, ${high})`);
    }
  }
  console.log();
}

async function baking(models) {
  console.log(
    'Baking at 30 fps against mixer.setTime + updateMatrixWorld for the same frames, each on a page of its own',
  );
  for (const model of models) {
    const measure = (run, ...args) =>
      onPage((page) => page.evaluate(([name, rest]) => window.bench[name](...rest), [run, args]));
    const bake = await measure('baking', model, 'bake');
    const mixer = await measure('baking', model, 'mixer');
    const longest = await measure('longestSlice', model);
    const line = (i) =>
      `${bake[i].toFixed(0)} ms against ${mixer[i].toFixed(0)} (${(mixer[i] / bake[i]).toFixed(1)} ×)`;
    console.log(
      `${model.padEnd(24)}cold ${line(0)}, warm ${line(4)}; longest slice of bakeAsync ${longest.toFixed(0)} ms`,
    );
  }
  console.log();
}

const load = () => `load of the machine ${loadavg()[0].toFixed(1)} on ${cpus().length} cores`;

/** What a crowd costs beside its vertices, each on a page of its own. */
async function costs() {
  const names = await onPage((page) => page.evaluate(() => window.bench.costNames()));
  for (const renderer of ['webgl', 'webgpu']) {
    console.log(`Beside a still InstancedMesh, ${renderer}, built-in figure; ${load()}`);
    for (const name of names) {
      const rows = await onPage((page) =>
        page.evaluate((args) => window.bench.measureCosts(...args), [renderer, name]),
      );
      for (const row of rows) console.log(`${row.name.padEnd(44)}${row.ours.padEnd(56)} ${row.floor}`);
    }
    console.log();
  }
}

/** The ports of the gallery beside what they were. */
async function ports() {
  for (const renderer of ['webgl', 'webgpu']) {
    console.log(`Programs of 100 characters and their ports, ${renderer}: a frame of simulation and drawing`);
    console.log(
      `${''.padEnd(12)}${cell('SkinnedMesh', 14)}${cell('ported', 10)}${cell('draw calls', 14)}${cell('ported', 10)}${cell('pixels off', 14)}`,
    );
    for (const name of ['arena', 'rts', 'zoo']) {
      const page = await open(
        `/demos/ports/${name}/index.html?frames=40&count=100&width=120&renderer=${renderer}`,
      );
      await page.waitForFunction(() => document.body.dataset.ready === '1', null, { timeout: 0 });
      const { js, draws, off } = JSON.parse(await page.getAttribute('body', 'data-measured'));
      await page.close();
      console.log(
        `${name.padEnd(12)}${cell(js[0].toFixed(1), 11)} ms${cell(js[1].toFixed(1), 7)} ms${cell(draws[0], 14)}${cell(draws[1], 10)}${cell((off * 100).toFixed(3), 12)} %`,
      );
    }
    console.log();
  }
}

const option = (name, otherwise) =>
  process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? otherwise;

/** JavaScript of a game's frame, in turns with plain InstancedMeshes of as many draws; and which functions and files ours is in. */
async function game(models) {
  const there = models.some((name) => name.endsWith('.glb'));
  if (!there)
    throw new Error('There are no models; set SIM_MODELS to a folder that has CesiumMan.glb and the like.');
  const warm = Number(option('warm', 1500));
  for (const renderer of option('renderer', 'webgl,webgpu').split(','))
    for (const lights of option('lights', '1').split(',')) {
      const [crowds, each] = [option('crowds', 8), option('each', 250)];
      const pages = [];
      for (const what of ['ours', 'floor']) {
        const query = new URLSearchParams({ renderer, lights, what, crowds, each });
        pages.push(await open(`/tests/bench/game.html?${query}`));
        await pages.at(-1).waitForFunction(() => window.game !== undefined, null, { timeout: 0 });
      }
      const frames = (page, count) => page.evaluate((n) => window.game.frames(n), count);
      await Promise.all(pages.map((page) => frames(page, warm)));
      const times = [[], []];
      for (let round = 0; round < 10; round++)
        for (const i of [0, 1]) times[i].push(...(await frames(pages[i], 60)));
      const [ours, floor] = times.map((all) => all.sort((a, b) => a - b)[all.length >> 1]);
      const [drawn, still] = await Promise.all(
        pages.map((page) => page.evaluate(() => window.game.draws.count)),
      );
      console.log(
        `\nA game's frame, ${renderer}, lights: ${lights}, ${crowds} crowds of ${each}; ${load()}\n${ours.toFixed(2)} ms, ${drawn} draws with those of passes; floor ${floor.toFixed(2)} ms, ${still} draws: ${(ours / floor).toFixed(2)} ×`,
      );
      await profile(pages[0], () => frames(pages[0], 500), 500);
      for (const page of pages) await page.close();
    }
}

/** Prints in which functions and files a page is, in microseconds of a frame. */
async function profile(page, work, count) {
  const session = await page.context().newCDPSession(page);
  await session.send('Profiler.enable');
  await session.send('Profiler.setSamplingInterval', { interval: 50 });
  await session.send('Profiler.start');
  await work();
  const { nodes, samples, timeDeltas } = (await session.send('Profiler.stop')).profile;
  const frameOf = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const files = new Map();
  const functions = new Map();
  samples.forEach((id, i) => {
    const { functionName, url, lineNumber } = frameOf.get(id);
    if (['(idle)', '(program)', '(root)'].includes(functionName)) return;
    const file = url.replace(/^\w+:\/\/[^/]+\/|\?.*/g, '') || 'of the browser';
    const name = `${functionName || 'a function'} ${file.split('/').pop()}:${lineNumber + 1}`;
    for (const [map, key] of [
      [files, file],
      [functions, name],
    ])
      map.set(key, (map.get(key) ?? 0) + timeDeltas[i] / count);
  });
  for (const map of [files, functions]) {
    const rows = [...map].sort((a, b) => b[1] - a[1]).slice(0, 25);
    console.log(rows.map(([key, us]) => `${cell(us.toFixed(0), 8)} µs  ${key}`).join('\n'));
  }
}

/** An army with levels of detail and shadows; its frames on a GPU only. */
async function scene() {
  for (const renderer of ['webgl', 'webgpu']) {
    console.log(`10,000 knights of a baked file in view, with shadows, ${renderer}; ${load()}`);
    const rows = await onPage((page) =>
      page.evaluate((args) => window.bench.scene(...args), [renderer, Boolean(process.env.SIM_GPU)]),
    );
    for (const { name, levels, triangles, shadowTriangles, draws, js, frame } of rows)
      console.log(
        `${name.padEnd(12)}${cell(js.toFixed(2), 8)} ms JS${cell(frame?.toFixed(1) ?? '–', 8)} ms${cell(number(triangles), 14)} triangles, ${number(shadowTriangles)} in the shadow map${cell(draws, 5)} draws  ${levels.join(', ')}`,
      );
  }
  console.log();
}

const kinds = {
  costs,
  game,
  ports,
  scene,
  frames: () =>
    frames(
      { vertices: '0' },
      'A frame of a crowd in mixed clips, vertices left out: JavaScript, draw calls, uploads',
    ),
  whole: () =>
    frames(
      { vertices: '1', counts: process.env.SIM_GPU ? '1000,10000' : '10,100,300' },
      'A frame of a crowd of whole characters in mixed clips',
    ),
  vertices: (models) => ratios(models, 'vertices', 'The vertex stage alone (rasterizer discard)', 2),
  poses: (models) => ratios(models, 'poses', 'The pass that poses 1,000 instances by tracks', 3),
  baking,
};

try {
  const unknown = wanted.filter((kind) => !(kind in kinds));
  if (unknown.length > 0) {
    throw new Error(`npm run bench: no "${unknown[0]}"; there are ${Object.keys(kinds).join(', ')}.`);
  }
  const models = ['built-in', ...(await onPage((page) => page.evaluate(() => window.bench.models())))];
  const gpu = await onPage((page) => page.evaluate(() => window.bench.device()));
  console.log(`Measured on ${gpu}, Chromium ${browser.version()}\n`);
  const chosen = wanted.length > 0 ? wanted : ['frames', 'vertices', 'poses', 'baking'];
  for (const kind of chosen) await kinds[kind](models);
  if (jsonFile) writeFileSync(jsonFile, JSON.stringify(kept, null, 2));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await browser.close();
  await server.close();
}
