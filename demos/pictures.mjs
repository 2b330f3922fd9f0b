/**
 * Takes the pictures of the first page's cards, and of the first page itself: hero.jpg, and hero.webp, which moves:
 *
 *   node demos/pictures.mjs              all
 *   node demos/pictures.mjs city moving  some
 *
 * With SIM_GPU=1 a GPU draws (see CONTRIBUTING), and as many figures as a visitor with one sees.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright';
import { createServer } from 'vite';
import { browserFlags } from '../tests/setup/browserFlags.mjs';
import { findBrowser } from '../tests/setup/findBrowser.mjs';

/** Addresses, with as many figures as a software renderer draws in some seconds. */
const PAGES = {
  battlefield: 'battlefield/index.html?count=1500',
  crowd: 'crowd/index.html?count=400',
  village: 'village/index.html?count=300',
  game: 'game/index.html?count=60',
  stadium: 'stadium/index.html?count=4000',
  city: 'city/index.html?count=4000&renderer=webgpu',
  swarm: 'swarm/index.html?count=700&renderer=webgpu',
  effects: 'village/index.html?count=300&renderer=webgpu&effects=1',
  shoal: 'shoal/index.html?count=1500',
  meadow: 'meadow/index.html?count=6000',
  dressing: 'dressing/index.html?count=120',
  playback: 'playback/index.html?count=150&changes=5',
  mixing: 'mixing/index.html?count=60',
  layers: 'layers/index.html?count=40',
  bones: 'bones/index.html',
  react: 'react/index.html?count=80',
  texture: 'texture/index.html',
  comparison: 'comparison/index.html?count=100',
  benchmark: 'benchmark/index.html',
  arena: 'ports/arena/index.html',
  rts: 'ports/rts/index.html',
  zoo: 'ports/zoo/index.html',
};
const CARD = { width: 480, height: 270, most: 25_000, type: 'image/webp' };
const HERO = { width: 1200, height: 630, most: 120_000, type: 'image/jpeg' };
/** The moving picture: frames, milliseconds from one to the next, and the size that they are drawn at. */
const MOVING = { count: 40, step: 80, width: 640, height: 336, scale: 1.5, quality: 0.62, most: 2_000_000 };
/** Controls stay out of the pictures. */
const BARE =
  '.panel, .message, .headline, .label, .hero > header, .hero > footer, .hero::after { display: none !important }';
const SETTLE = 4000;

const here = fileURLToPath(new URL('.', import.meta.url));
const chosen = process.argv.slice(2);
const hasGPU = process.env.SIM_GPU !== undefined;
const server = await createServer({ logLevel: 'error', server: { port: 0, hmr: false, watch: null } });
await server.listen();
const browser = await chromium.launch({ executablePath: await findBrowser(), args: browserFlags });

/** Scales a picture down and packs it into so many bytes at most. */
function pack(page, png, format) {
  return page.evaluate(
    async ({ data, width, height, most, type }) => {
      const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
      const canvas = new OffscreenCanvas(width, height);
      const context = canvas.getContext('2d');
      context.imageSmoothingQuality = 'high';
      context.drawImage(picture, 0, 0, width, height);
      for (let quality = 0.9; ; quality -= 0.06) {
        const bytes = new Uint8Array(await (await canvas.convertToBlob({ type, quality })).arrayBuffer());
        if (bytes.length <= most || quality < 0.2) return [...bytes];
      }
    },
    { data: png.toString('base64'), ...format },
  );
}

async function take(path, file, format, viewport) {
  const page = await browser.newPage({ viewport });
  page.setDefaultTimeout(300_000);
  await page.goto(`http://localhost:${server.httpServer.address().port}/demos/${path}`);
  await page.addStyleTag({ content: BARE });
  await page.waitForFunction(() => document.body.dataset.ready === '1');
  await page.waitForTimeout(format === HERO ? 0 : SETTLE);
  // A software renderer shall take the picture, and no further frames.
  await page.evaluate(() => {
    window.requestAnimationFrame = () => 0;
  });
  const png = await page.screenshot();
  await page.goto('about:blank');
  const bytes = await pack(page, png, format);
  await page.close();
  writeFileSync(`${here}${file}`, Uint8Array.from(bytes));
  console.log(file, bytes.length);
}

/** The first page, frame by frame, by a clock that waits for it. */
async function film(path, file, { count, step, width, height, scale, quality, most }) {
  const page = await browser.newPage({ viewport: { width, height }, deviceScaleFactor: scale });
  page.setDefaultTimeout(300_000);
  await page.addInitScript(() => {
    let now = 0;
    let callbacks = [];
    performance.now = () => now;
    window.requestAnimationFrame = (callback) => callbacks.push(callback);
    window.advance = (by) => {
      now += by;
      const called = callbacks;
      callbacks = [];
      for (const callback of called) callback(now);
    };
  });
  await page.goto(`http://localhost:${server.httpServer.address().port}/demos/${path}`);
  await page.addStyleTag({ content: `${BARE} .hero { min-height: 0 !important }` });
  await page.waitForSelector('canvas');
  const isReady = () => {
    window.advance(50);
    return document.body.dataset.ready === '1';
  };
  // not at animation frames, which wait for this
  await page.waitForFunction(isReady, null, { polling: 100 });
  const frames = [];
  for (let i = 0; i < count; i++) {
    const bytes = await page.evaluate(
      async ([by, w, h, q]) => {
        window.advance(by);
        const canvas = new OffscreenCanvas(w, h);
        const context = canvas.getContext('2d');
        context.imageSmoothingQuality = 'high';
        context.drawImage(document.querySelector('canvas'), 0, 0, w, h);
        const blob = await canvas.convertToBlob({ type: 'image/webp', quality: q });
        return [...new Uint8Array(await blob.arrayBuffer())];
      },
      [step, width, height, quality],
    );
    frames.push(Buffer.from(bytes));
  }
  await page.close();
  const bytes = animated(frames, width, height, step);
  if (bytes.length > most) throw new Error(`${file} has ${bytes.length} bytes, more than ${most}.`);
  writeFileSync(`${here}${file}`, bytes);
  console.log(file, bytes.length);
}

/** Still pictures as one that moves: https://developers.google.com/speed/webp/docs/riff_container */
function animated(frames, width, height, milliseconds) {
  const number = (value, bytes) => {
    const buffer = Buffer.alloc(bytes);
    buffer.writeUIntLE(value, 0, bytes);
    return buffer;
  };
  const chunk = (name, ...parts) => {
    const data = Buffer.concat(parts);
    return Buffer.concat([Buffer.from(name), number(data.length, 4), data, Buffer.alloc(data.length % 2)]);
  };
  const size = [number(width - 1, 3), number(height - 1, 3)];
  const pictures = frames.map((frame) => {
    let at = 12;
    while (!/^VP8[ L]$/.test(frame.toString('latin1', at, at + 4))) {
      const length = frame.readUInt32LE(at + 4);
      at += 8 + length + (length % 2);
    }
    return chunk('ANMF', number(0, 6), ...size, number(milliseconds, 3), number(0, 1), frame.subarray(at));
  });
  const header = chunk('VP8X', number(2, 4), ...size);
  return chunk('RIFF', Buffer.from('WEBP'), header, chunk('ANIM', number(0, 6)), ...pictures);
}

try {
  mkdirSync(`${here}pictures`, { recursive: true });
  for (const [name, path] of Object.entries(PAGES)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    const usual = path.replace(/count=\d+&?/, '');
    await take(hasGPU ? usual : path, `pictures/${name}.webp`, CARD, { width: 800, height: 450 });
  }
  if (chosen.length === 0 || chosen.includes('hero')) {
    await take(`index.html?count=${hasGPU ? 20_000 : 1600}&time=3`, 'hero.jpg', HERO, {
      width: 1200,
      height: 630,
    });
  }
  if (chosen.length === 0 || chosen.includes('moving')) {
    await film(`index.html?count=${hasGPU ? 10_000 : 700}&time=3`, 'hero.webp', MOVING);
  }
} finally {
  await browser.close();
  await server.close();
}
