import { expect, test } from 'vitest';
import { pyramid, solidKtx2 } from '../../support/compressedFiles.js';
import { glb, look, nextFrames, open, visit } from './site.js';

test.each(['webgl'])('the page for files takes one or refuses it under %s', async (renderer) => {
  const page = await visit('file', 'count=2&shadows=0', renderer);
  await look(page, 'file', renderer);
  await page.$$eval('details', (all) => {
    for (const one of all) one.open = true;
  });
  const facts = () => page.textContent('[data-facts]');
  expect(await facts()).toMatch(/^The built-in figure: clips: 6, joints: 21, .* as tracks/);
  await page.selectOption('[name=encoding]', 'frames');
  expect(await facts()).toContain('as frames');
  await page.selectOption('[name=clip]', 'Wave');
  expect(await page.textContent('.code')).toContain("crowd.playAll('Wave'");
  expect(await page.textContent('.code')).toContain('encoding: frames');
  const own = renderer === 'webgpu' ? 'WebGPURenderer' : 'WebGLRenderer';
  expect(await page.textContent('.code')).toContain(`const renderer = new ${own}(`);
  await page.fill('[name=count]', '0.48');
  expect(await page.textContent('.code')).toContain('SkinnedInstancedMesh(character, 3)');

  // What it saves, it opens, and bakes nothing then.
  const saved = page.waitForEvent('download');
  await page.click('[name=save]');
  const path = await (await saved).path();
  await page.waitForFunction(() =>
    document.querySelector('[data-saved]')?.textContent?.includes('loaded in'),
  );
  await page.setInputFiles('input[type=file]', path);
  await page.waitForFunction(() =>
    document.querySelector('[data-facts]')?.textContent?.includes('as frames, from the file'),
  );
  expect(await page.textContent('.code')).toContain('new SkinnedInstancedMesh(character, 3');

  await page.setInputFiles('input[type=file]', glb('notes.glb', 'no model'));
  await page.waitForFunction(() => document.body.dataset.error?.includes('notes.glb is no glTF file'));
  await page.setInputFiles(
    'input[type=file]',
    glb('still.gltf', '{ "asset": { "version": "2.0" }, "scenes": [{}] }'),
  );
  await page.waitForFunction(() => document.body.dataset.error?.includes('still.gltf has no animations'));
  await page.click('.message button');
  expect(await page.isVisible('.message')).toBe(false);
});

test('compressed files look as if they were not', async () => {
  const page = await open('file/index.html?count=1&shadows=0');
  const look = async (name: string, bytes: Uint8Array) => {
    const file = { name: `${name}.glb`, mimeType: '', buffer: Buffer.from(bytes) };
    await page.setInputFiles('input[type=file]', file);
    await page.waitForFunction(
      (begin) => document.querySelector('[data-facts]')?.textContent?.startsWith(begin),
      `${file.name}: clips: 1, joints: 2, vertices: 5,`,
    );
    await page.$eval('.panel', (panel) => panel.setAttribute('style', 'display: none'));
    // The clip stands still, and so does the camera after a moment. On the right the page says which file it is.
    const shot = async () => {
      await nextFrames(page, 4);
      return page.screenshot({ clip: { x: 0, y: 0, width: 500, height: 420 } });
    };
    let picture = await shot();
    for (let before = picture; ; before = picture) {
      picture = await shot();
      if (picture.equals(before)) break;
    }
    await page.$eval('.panel', (panel) => panel.removeAttribute('style'));
    return picture.toString('base64');
  };
  const plain = await look('plain', await pyramid('plain'));
  for (const compression of ['quantised', 'meshopt', 'draco'] as const) {
    expect(await look(compression, await pyramid(compression)), compression).toBe(plain);
  }
  const red = await look('red', await pyramid('plain', solidKtx2(255, 0, 0)));
  expect(red, 'a KTX2 texture').not.toBe(plain);
  expect(await look('white', await pyramid('plain', solidKtx2(255, 255, 255))), 'a white one').toBe(plain);
});
