import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import * as webgpu from 'three/webgpu';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { esbuildNodes } from '../setup/shaderNodes.mjs';
import { PROGRAMS, sizeOf } from './sizes.mjs';
import weights from './weights.json' with { type: 'json' };

// The laws of the house: what a module of the library leads to when it is bundled, where types lead nowhere; and that no import, of
// types neither, goes up or in a circle.
// What weighs stands in weights.json, whose numbers only fall.

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A law: from these modules none of those is reached. */
const LAWS: [law: string, from: string[], never: RegExp][] = [
  ['the shaders of a page of WebGPURenderer are nodes', ['lib/webgpu.ts'], /^lib\/backends\/webgl\//],
  ['a page of WebGLRenderer has no nodes', ['lib/index.ts'], /webgpu|\btsl\.|TexelNode/i],
  [
    'the mesh and baked data reach no baker, nor what makes or merges geometries and materials',
    ['lib/crowd/SkinnedInstancedMesh.ts', 'lib/animation/BoneTexture.ts'],
    /^lib\/(baking|files)\/|lib\/character\/(assemble|collect|merge|pack|simplify)|createLevel/,
  ],
  [
    'a page that plays a baked file reaches no baker, nor what assembles characters or merges materials',
    ['lib/files/SkinnedInstancedMeshExtension.ts'],
    /^lib\/baking\/|lib\/character\/(assemble|collect|merge|pack|simplify)|createLevel/,
  ],
  [
    'who bakes without merging materials does not have what merges them',
    ['lib/baking/bakeCharacter.ts'],
    /lib\/character\/(mergeMaterials|mergeTextured|pack|simplify)/,
  ],
  [
    'who bakes and draws tracks has neither frames nor what extracts root motion',
    ['lib/baking/bakeCharacter.ts', 'lib/backends/webgl/WebGLBackend.ts'],
    /lib\/(animation|baking)\/frame|lib\/baking\/rootMotion|frameGLSL|skinningMatrix/,
  ],
  [
    'the mesh reaches no backend',
    ['lib/crowd/SkinnedInstancedMesh.ts'],
    /^lib\/backends\/|^shaders\/.*\.(glsl|tsl)\.ts/,
  ],
  [
    'the mesh and the pose passes reach no feature',
    [
      'lib/crowd/SkinnedInstancedMesh.ts',
      'lib/backends/webgl/WebGLBackend.ts',
      'lib/backends/webgpu/WebGPUBackend.ts',
    ],
    /^lib\/(actions|surface|features|objects)\/|jointEdits|JointAttachment/,
  ],
  [
    'playback reaches no mesh',
    ['lib/playback/InstancePlayback.ts'],
    /^lib\/(actions|backends|core|crowd|objects)\//,
  ],
  [
    'culling reaches no renderer',
    ['lib/culling/CrowdViews.ts'],
    /^lib\/(actions|backends|core|crowd|objects)\/|^shaders\/.*\.(glsl|tsl)\.ts/,
  ],
];

async function bundled(from: string[]) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: from,
    bundle: true,
    format: 'esm',
    outdir: 'never',
    packages: 'external',
    loader: { '.wasm': 'binary' },
    plugins: [esbuildNodes],
    treeShaking: true,
    metafile: true,
    write: false,
    logLevel: 'error',
  });
  return metafile;
}

test.each(LAWS)('%s', async (_law, from, never) => {
  const { outputs } = await bundled(from);
  const reached = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
  expect(reached.length).toBeGreaterThan(3);
  expect(reached.filter((file) => never.test(file))).toEqual([]);
});

/** From the ground up: a folder imports from itself and from those before it. Entries, files beside folders, import all. */
const FOLDERS = (
  'constants utils instances animation character baking playback shaders culling core surface ' +
  'actions queries crowd features backends objects gpu worker vertexTextures files cli react'
).split(' ');

const floorOf = (file: string): number => {
  const [root, folder, inside] = file.split('/');
  if (root === 'lib' && inside === undefined && folder !== 'constants.ts') return FOLDERS.length;
  return FOLDERS.indexOf(root === 'shaders' ? root : folder.replace('.ts', ''));
};

const sources = ['lib', 'shaders']
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  .filter((file) => file.endsWith('.ts'));

/** What each file imports, types included. */
function importsOf(): Map<string, string[]> {
  const files = sources.filter((file) => !file.endsWith('.d.ts'));
  return new Map(
    files.map((file) => [
      file,
      ts
        .preProcessFile(readFileSync(file, 'utf8'))
        .importedFiles.filter(({ fileName }) => /^\..*\.js$/.test(fileName))
        .map(({ fileName }) => join(dirname(file), fileName.replace(/js$/, 'ts'))),
    ]),
  );
}

test('nothing goes up, types neither', () => {
  const up = [...importsOf()].flatMap(([file, targets]) =>
    targets.filter((target) => !(floorOf(target) <= floorOf(file))).map((target) => `${file} → ${target}`),
  );
  expect(up).toEqual([]);
});

test('nothing goes in a circle, types neither', () => {
  const imports = importsOf();
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    else if (!done.has(file)) {
      for (const target of imports.get(file) ?? []) visit(target, [...path, file]);
      done.add(file);
    }
  };
  for (const file of imports.keys()) visit(file, []);
  expect(imports.size).toBeGreaterThan(200);
  expect(circles).toEqual([]);
});

test('whatever is imported from "three" is in three.webgpu.js too, which pages without a bundler call "three"', () => {
  const names = new Set<string>();
  for (const file of sources) {
    // the worker has a copy of three.js of its own, the command is for Node
    if (/^lib.(worker|cli)\b/.test(file)) continue;
    const code = readFileSync(file, 'utf8');
    for (const [, list] of code.matchAll(/import (?!type\b)\{([^}]*)\} from 'three';/g)) {
      for (const name of list.split(',').map((one) => one.trim())) {
        if (name !== '' && !name.startsWith('type ')) names.add(name.split(' as ')[0]);
      }
    }
  }
  expect(names.size).toBeGreaterThan(40);
  expect([...names].filter((name) => !(name in webgpu))).toEqual([]);
});

test('README and guides ask for the Node that package.json asks for', () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
  const versions = [...engines.node.matchAll(/\d+\.\d+/g)].join(', ');
  for (const file of ['README.md', 'demos/guides/start.md'])
    expect(readFileSync(file, 'utf8'), file).toContain(`With Node ${versions} or newer`);
});

test('lib and shaders have no more lines of code, files and interfaces than they may', () => {
  let codeLines = 0;
  let interfaces = 0;
  for (const path of sources) {
    const code = readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
    codeLines += code.split('\n').filter((line) => /^\s*(?!\/\/)\S/.test(line)).length;
    interfaces += code.match(/^(export )?interface /gm)?.length ?? 0;
  }
  expect(codeLines).toBeGreaterThan(10_000);
  expect(codeLines).toBeLessThanOrEqual(weights.codeLines);
  expect(sources.length).toBeLessThanOrEqual(weights.files);
  expect(interfaces).toBeLessThanOrEqual(weights.interfaces);
});

test.each(Object.entries(PROGRAMS))('a program weighs no more than it may: %s', async (name, source) => {
  expect((await sizeOf(source)).kB).toBeLessThan((weights.kB as Record<string, number>)[name]);
});

test('SkinnedInstancedMesh has at most 45 public members beside those of InstancedMesh', () => {
  const names = ['CrowdMesh', 'SkinnedInstancedMesh'].flatMap((name) => {
    const code = readFileSync(`lib/crowd/${name}.ts`, 'utf8');
    const file = ts.createSourceFile(name, code, ts.ScriptTarget.Latest, true);
    const members = file.statements.flatMap((one) => (ts.isClassDeclaration(one) ? [...one.members] : []));
    return members
      .filter((one) => one.name !== undefined && !/@internal/.test(one.getFullText().split('*/')[0]))
      .filter((one) => !/^(private|protected|override|declare|type)\b/.test(one.getText()))
      .map((one) => one.name?.getText());
  });
  expect(new Set(names).size).toBeGreaterThan(20);
  expect([...new Set(names)].length).toBeLessThanOrEqual(45);
});
