import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Data flows down this list: a file may import from its own layer and from those above it. */
const LAYERS = [
  /^lib\/constants\.ts$/,
  /^lib\/utils\//,
  /^lib\/poses\//,
  /^lib\/tracks\//,
  /^lib\/encodings\//,
  /^lib\/baking\//,
  /^lib\/texture\//,
  /^lib\/instances\//,
  /^lib\/playback\//,
  /^shaders\//,
  /^lib\/backends\//,
  /^lib\/character\//,
  /^lib\/queries\//,
  /^lib\/objects\//,
  /^lib\/[a-z]+\.ts$/,
];

const layerOf = (file: string) => LAYERS.findIndex((layer) => layer.test(file));

const files = ['lib', 'shaders'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`),
);

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const kinds = [
    /^(?:import|export)\b[^;']*?\bfrom '([^']+)'/gm,
    /^import '([^']+)'/gm,
    /\bimport\('([^']+)'/g,
  ];
  return kinds.flatMap((kind) => [...text.matchAll(kind)].map(([, name]) => name));
}

test.each(files)('%s imports only from layers above', (file) => {
  expect(layerOf(file), 'belongs to a layer').toBeGreaterThanOrEqual(0);
  for (const name of importsOf(file)) {
    if (!name.startsWith('.')) continue;
    const target = relative(root, resolve(root, dirname(file), name))
      .replaceAll('\\', '/')
      .replace(/\.js$/, '.ts');
    expect(layerOf(target), `${file} imports ${target}, which is in no layer`).toBeGreaterThanOrEqual(0);
    expect(layerOf(target), `${file} imports ${target}`).toBeLessThanOrEqual(layerOf(file));
  }
});

test.each(files)('%s has no other run-time dependency than three', (file) => {
  for (const name of importsOf(file)) {
    if (name.startsWith('.')) continue;
    const allowed = /webgpu|\.tsl\.|TexelNode/i.test(file) ? /^three(\/webgpu|\/tsl)?$/ : /^three$/;
    expect(name).toMatch(allowed);
  }
});

test('every shader function in GLSL has its twins', () => {
  const glsl = files.filter((file) => file.endsWith('.glsl.ts'));
  const names = glsl.map((file) => file.replace('.glsl.ts', ''));
  expect(names.length).toBeGreaterThan(3);
  const tsl = files.filter((file) => file.endsWith('.tsl.ts')).map((file) => file.replace('.tsl.ts', ''));
  // skinVertex patches three.js's GLSL chunks; for nodes the backend does that
  const patches = ['shaders/skinVertex'];
  expect([...tsl, ...patches].sort()).toEqual([...names].sort());
});
