/**
 * Takes the pictures of the first page's cards, and of the first page itself as hero.jpg:
 *
 *   node demos/pictures.mjs            all
 *   node demos/pictures.mjs city hero  some
 *
 * SIM_BROWSER names another Chromium than Playwright's.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright';
import { createServer } from 'vite';
import { browserFlags } from '../tests/setup/browserFlags.mjs';

/** Addresses, with as many figures as a software renderer draws in some seconds; and seconds until the picture. */
const PAGES = {
  battlefield: 'battlefield/index.html?count=1500',
  crowd: 'crowd/index.html?count=400',
  village: 'village/index.html?count=300',
  game: 'game/index.html?count=60',
  city: 'city/index.html?count=2000&renderer=webgpu',
  shoal: 'shoal/index.html?count=1500',
  meadow: 'meadow/index.html?count=6000',
  dressing: 'dressing/index.html?count=120',
  playback: 'playback/index.html?count=150&changes=5',
  mixing: 'mixing/index.html?count=60',
  layers: 'layers/index.html?count=40',
  bones: 'bones/index.html',
  texture: 'texture/index.html',
  comparison: 'comparison/index.html?count=100',
  benchmark: 'benchmark/index.html',
  arena: 'ports/arena/index.html',
  rts: 'ports/rts/index.html',
  zoo: 'ports/zoo/index.html',
};
const CARD = { width: 480, height: 270, most: 25_000, type: 'image/webp' };
const HERO = { width: 1200, height: 630, most: 120_000, type: 'image/jpeg' };
/** Controls stay out of the pictures. */
const BARE = '.panel, .message, .hero > header, .hero > footer, .hero::after { display: none !important }';
const SETTLE = 4000;

const here = fileURLToPath(new URL('.', import.meta.url));
const chosen = process.argv.slice(2);
const server = await createServer({ logLevel: 'error', server: { port: 0, hmr: false, watch: null } });
await server.listen();
const browser = await chromium.launch({ executablePath: process.env.SIM_BROWSER, args: browserFlags });

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

try {
  mkdirSync(`${here}pictures`, { recursive: true });
  for (const [name, path] of Object.entries(PAGES)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    await take(path, `pictures/${name}.webp`, CARD, { width: 800, height: 450 });
  }
  if (chosen.length === 0 || chosen.includes('hero')) {
    await take('index.html?count=1600&time=3', 'hero.jpg', HERO, { width: 1200, height: 630 });
  }
} finally {
  await browser.close();
  await server.close();
}
