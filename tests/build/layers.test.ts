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
  /^lib\/format\//,
  /^lib\/worker\//,
  /^lib\/instances\//,
  /^lib\/views\//,
  /^lib\/playback\//,
  /^lib\/edits\//,
  /^lib\/crowd\//,
  /^shaders\//,
  /^lib\/motion\//,
  /^lib\/sources\//,
  /^lib\/backends\//,
  /^lib\/character\//,
  /^lib\/vertexTextures\//,
  /^lib\/queries\//,
  /^lib\/objects\//,
  /^lib\/instanceObjects\//,
  /^lib\/cli\//,
  /^lib\/[a-zA-Z]+\.ts$/,
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

/** The library's own files that a file imports, types included. */
const ownImportsOf = (file: string) =>
  importsOf(file)
    .filter((name) => name.startsWith('.'))
    .map((name) => relative(root, resolve(root, dirname(file), name)))
    .map((path) => path.replaceAll('\\', '/').replace(/\.js$/, '.ts'));

test.each(files)('%s imports only from layers above', (file) => {
  expect(layerOf(file), 'belongs to a layer').toBeGreaterThanOrEqual(0);
  for (const target of ownImportsOf(file)) {
    expect(layerOf(target), `${file} imports ${target}, which is in no layer`).toBeGreaterThanOrEqual(0);
    expect(layerOf(target), `${file} imports ${target}`).toBeLessThanOrEqual(layerOf(file));
  }
});

test('no files import each other in a circle', () => {
  const circles = findCircles(new Map(files.map((file) => [file, ownImportsOf(file)])));
  expect(circles.map((circle) => circle.join(' <-> '))).toEqual([]);
});

test('circles between files are found', () => {
  const imports = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', ['a']],
    ['d', ['e']],
    ['e', ['e', 'f']],
    ['f', []],
  ]);
  expect(findCircles(imports)).toEqual([['a', 'b', 'c'], ['e']]);
});

/**
 * Groups of files each of which leads to every other of its group along imports (Tarjan's strongly connected components),
 * and files that import themselves.
 */
function findCircles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const earliest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];

  const visit = (file: string): number => {
    const place = order.size;
    order.set(file, place);
    earliest.set(file, place);
    open.push(file);
    let first = place;
    for (const target of imports.get(file) ?? []) {
      if (!order.has(target)) first = Math.min(first, visit(target));
      else if (open.includes(target)) first = Math.min(first, earliest.get(target) as number);
      earliest.set(file, first);
    }
    if (first === place) {
      const group = open.splice(open.indexOf(file)).sort();
      if (group.length > 1 || imports.get(file)?.includes(file)) circles.push(group);
    }
    return first;
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return circles.sort((a, b) => a[0].localeCompare(b[0]));
}

test.each(files)('%s has no other run-time dependency than three', (file) => {
  for (const name of importsOf(file)) {
    if (name.startsWith('.')) continue;
    expect(name).toMatch(allowedFor(file));
  }
});

/** The command alone may use what is built into it, and Node. */
function allowedFor(file: string): RegExp {
  if (file.startsWith('lib/cli/'))
    return /^(three(\/addons\/.*)?|node:\w+|@gltf-transform\/\w+|meshoptimizer)$/;
  return /webgpu|\btsl\.|TexelNode/i.test(file) ? /^three(\/webgpu|\/tsl)?$/ : /^three$/;
}

test('every shader function in GLSL has its twins', () => {
  const glsl = files.filter((file) => file.endsWith('.glsl.ts'));
  const names = glsl.map((file) => file.replace('.glsl.ts', ''));
  expect(names.length).toBeGreaterThan(3);
  const tsl = files.filter((file) => file.endsWith('.tsl.ts')).map((file) => file.replace('.tsl.ts', ''));
  // These patch GLSL of three.js and of the user; for nodes the backend does that.
  const patches = ['shaders/placeVertex', 'shaders/skinVertex'];
  expect([...tsl, ...patches].sort()).toEqual([...names].sort());
});

test('what the types of the node system lack stands in one place', () => {
  const others = files.filter((file) => /\.tsl\.|webgpu\//.test(file));
  const casts = others.filter((file) =>
    /as never|as unknown as (Node|Rows)\b|as Node</.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(casts, 'cast nodes; let shaders/tsl.ts do it').toEqual([]);
});

test('files are small enough to be read at once', () => {
  const lengths = files.map(
    (file) => [readFileSync(join(root, file), 'utf8').split('\n').length - 1, file] as const,
  );
  expect(lengths.filter(([length]) => length > 350)).toEqual([]);
  const mean = lengths.reduce((sum, [length]) => sum + length, 0) / lengths.length;
  console.log(
    `${lengths.length} files of ${mean.toFixed(0)} lines on average, at most ${Math.max(...lengths.map(([length]) => length))}`,
  );
  expect(mean).toBeLessThan(120);
});
