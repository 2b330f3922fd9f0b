// Prints what a frame costs, what the vertex stage costs and what baking costs, each beside a peer or a floor that was
// measured in the same run. Ratios carry over to other machines; milliseconds do not.
//
//   npm run bench                 everything
//   npm run bench -- vertices     one of frames, vertices, baking
import { chromium } from 'playwright';
import { createServer } from 'vite';
import { browserFlags } from '../setup/browserFlags.mjs';
import { findBrowser } from '../setup/findBrowser.mjs';

const COUNTS = [10, 100, 1_000, 10_000];
const wanted = process.argv.slice(2);
const wants = (what) => wanted.length === 0 || wanted.includes(what);

const server = await createServer({ logLevel: 'error', server: { port: 0 } });
await server.listen();
const { port } = server.httpServer.address();
const browser = await chromium.launch({ executablePath: await findBrowser(), args: browserFlags });

async function openPage() {
  const page = await browser.newPage();
  page.on('pageerror', (error) => console.error(String(error)));
  await page.goto(`http://localhost:${port}/tests/bench/index.html`);
  await page.waitForFunction(() => window.bench !== undefined);
  return page;
}

const cell = (text, width) => String(text).padStart(width);
const number = (value, digits) => value.toLocaleString('en', { maximumFractionDigits: digits });

try {
  const page = await openPage();
  const models = ['built-in', ...(await page.evaluate(() => window.bench.models()))];
  const gpu = await page.evaluate(() => {
    const gl = document.querySelector('canvas').getContext('webgl2');
    const info = gl.getExtension('WEBGL_debug_renderer_info');
    return info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : 'unknown';
  });
  console.log(`Measured on ${gpu}, Chromium ${browser.version()}\n`);

  if (wants('frames')) {
    console.log('A frame of a crowd in mixed clips, vertices left out: JavaScript, draw calls, uploads');
    console.log(
      `${'instances'.padEnd(12)}${'drawn as'.padEnd(32)}${cell('JS ms', 10)}${cell('× floor', 10)}${cell('draws', 8)}${cell('uploads', 9)}${cell('bytes', 14)}`,
    );
    for (const count of COUNTS) {
      const fresh = await openPage();
      const rows = await fresh.evaluate((n) => window.bench.frames(n), count);
      await fresh.close();
      for (const row of rows) {
        const ratio = row.js / rows[0].js;
        console.log(
          `${number(count, 0).padEnd(12)}${row.name.padEnd(32)}${cell(row.js.toFixed(3), 10)}${cell(ratio.toFixed(ratio < 10 ? 2 : 0), 10)}${cell(number(row.draws, 0), 8)}${cell(number(row.uploads, 0), 9)}${cell(number(row.bytes, 0), 14)}`,
        );
      }
    }
    const fresh = await openPage();
    const rows = await fresh.evaluate((n) => window.bench.nodeFrames(n), 10_000);
    await fresh.close();
    for (const { name, js } of rows) {
      const ratio = (js / rows[0].js).toFixed(2);
      console.log(
        `${'10,000'.padEnd(12)}${`${name}, WebGPURenderer`.padEnd(48)}${js.toFixed(3)} ms, ${ratio} × floor`,
      );
    }
    console.log();
  }

  if (wants('vertices')) {
    console.log(
      'The vertex stage alone (rasterizer discard), still InstancedMesh = 1.00: median (least, most)',
    );
    for (const model of models.filter((name) => ['built-in', 'Knight.glb', 'CesiumMan.glb'].includes(name))) {
      const rows = await page.evaluate((name) => window.bench.vertices(name, 15), model);
      for (const { name, ratio, low, high } of rows) {
        console.log(
          `${model.padEnd(16)}${name.padEnd(48)}${ratio.toFixed(2)} (${low.toFixed(2)}, ${high.toFixed(2)})`,
        );
      }
    }
    console.log();
  }

  if (wants('baking')) {
    console.log(
      'Baking at 30 fps against mixer.setTime + updateMatrixWorld for the same frames, each on a page of its own',
    );
    for (const model of models) {
      const measure = async (run, ...args) => {
        const fresh = await openPage();
        const result = await fresh.evaluate(([name, rest]) => window.bench[name](...rest), [run, args]);
        await fresh.close();
        return result;
      };
      const bake = await measure('baking', model, 'bake');
      const mixer = await measure('baking', model, 'mixer');
      const longest = await measure('longestSlice', model);
      const line = (i) =>
        `${bake[i].toFixed(0)} ms against ${mixer[i].toFixed(0)} (${(mixer[i] / bake[i]).toFixed(1)} ×)`;
      console.log(
        `${model.padEnd(24)}cold ${line(0)}, warm ${line(4)}; longest slice of bakeAsync ${longest.toFixed(0)} ms`,
      );
    }
  }
} finally {
  await browser.close();
  await server.close();
}
