// Prints what programs weigh: minified by esbuild, gzip -9, `three` external, in kB of 1,024 bytes; with texts of production, and
// with those of development.
//
//   node tests/build/sizes.mjs [--modules=NAME]
//
// With --modules it lists what of that program comes from which module, before gzip.
import { readFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { parseAst } from 'vite';
import { esbuildNodes } from '../setup/shaderNodes.mjs';
import { shortenAll } from '../setup/shortShaders.mjs';
import { shortenTexts } from '../setup/shortTexts.mjs';

const lib = fileURLToPath(new URL('../../lib', import.meta.url));

/** Sources of programs by name. What each may weigh stands in weights.json. */
export const PROGRAMS = {
  'hello crowd': "export { bakeCharacter, SkinnedInstancedMesh } from './index.js'",
  'hello crowd, WebGPU': "export { bakeCharacter, SkinnedInstancedMesh } from './webgpu.js'",
  'plays a baked file':
    "export { SkinnedInstancedMesh } from './index.js'; export { SkinnedInstancedMeshExtension } from './files.js'",
  'hello + InstanceUniforms':
    "export { bakeCharacter, InstanceUniforms, SkinnedInstancedMesh } from './index.js'",
  'hello + InstanceParts': "export { bakeCharacter, InstanceParts, SkinnedInstancedMesh } from './index.js'",
  'hello + InstanceMorphs':
    "export { bakeCharacter, InstanceMorphs, SkinnedInstancedMesh } from './index.js'",
  'hello + InstanceMotions':
    "export { bakeCharacter, defineMotion, InstanceMotions, SkinnedInstancedMesh } from './index.js'",
  'hello + AnimationLayers':
    "export { AnimationLayers, bakeCharacter, SkinnedInstancedMesh } from './index.js'",
  'hello + SkinnedInstance':
    "export { bakeCharacter, SkinnedInstance, SkinnedInstancedMesh } from './index.js'",
  'hello + JointEdits': "export { bakeCharacter, JointEdits, SkinnedInstancedMesh } from './index.js'",
  'hello + mergeMaterials':
    "export { bakeCharacter, mergeMaterials, SkinnedInstancedMesh } from './index.js'",
  'hello + CrowdLevels': "export { bakeCharacter, CrowdLevels, SkinnedInstancedMesh } from './index.js'",
  'hello + CrowdLevels + Impostor':
    "export { bakeCharacter, CrowdLevels, Impostor, SkinnedInstancedMesh } from './index.js'",
  'hello + CrowdKinds': "export { bakeCharacter, CrowdKinds, SkinnedInstancedMesh } from './index.js'",
  'hello + ClipBlend': "export { bakeCharacter, ClipBlend, SkinnedInstancedMesh } from './index.js'",
  'hello + DrawOrder': "export { bakeCharacter, DrawOrder, SkinnedInstancedMesh } from './index.js'",
  'hello + frames': "export { bakeCharacter, frames, SkinnedInstancedMesh } from './index.js'",
  'hello + extractRootMotion':
    "export { applyRootMotion, bakeCharacter, extractRootMotion, SkinnedInstancedMesh } from './index.js'",
  everything: "export * from './index.js'",
  'hello + GPUInstances, WebGPU':
    "export { bakeCharacter, GPUInstances, SkinnedInstancedMesh } from './webgpu.js'",
  'hello + CrowdLevels, WebGPU':
    "export { bakeCharacter, CrowdLevels, SkinnedInstancedMesh } from './webgpu.js'",
  'hello + CrowdLevels + Impostor, WebGPU':
    "export { bakeCharacter, CrowdLevels, Impostor, SkinnedInstancedMesh } from './webgpu.js'",
  'hello + a swarm, WebGPU':
    "export { accelerate, arrive, bakeCharacter, gaitOf, GPUInstances, limit, NeighbourGrid, seek, separate, SkinnedInstancedMesh } from './webgpu.js'",
  'everything, WebGPU': "export * from './webgpu.js'",
};

/** Texts of modules that one program has had, for the next: to read them takes most of the time. */
const texts = new Map();

/** Shaders, and texts for users, as the package has them. */
const shortened = (condition) => ({
  name: 'shortened',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const contents = texts.get(condition + path) ?? (await shorten(path, condition));
      texts.set(condition + path, contents);
      return { contents, loader: 'ts' };
    });
  },
});

async function shorten(path, condition) {
  const code = await readFile(path, 'utf8');
  const plain = shortenAll(code, parseAst(code, { lang: 'ts' }), condition === 'production');
  return condition === 'production' ? shortenTexts(plain, parseAst(plain, { lang: 'ts' }), path) : plain;
}

/**
 * @param {'production' | 'development'} [condition]
 * @returns {Promise<{ kB: number, modules: [string, number][] }>}
 */
export async function sizeOf(source, condition = 'production') {
  const { outputFiles, metafile } = await build({
    stdin: { contents: source, resolveDir: lib, loader: 'ts' },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    external: ['three', 'three/*', '@gltf-transform/core'],
    loader: { '.wasm': 'binary' },
    metafile: true,
    plugins: [esbuildNodes, shortened(condition)],
    write: false,
    logLevel: 'error',
  });
  const [{ inputs }] = Object.values(metafile.outputs);
  const modules = Object.entries(inputs).map(([path, { bytesInOutput }]) => [path, bytesInOutput]);
  const kB = gzipSync(outputFiles[0].contents, { level: 9 }).length / 1024;
  return { kB, modules: modules.filter(([, bytes]) => bytes > 0).sort((a, b) => b[1] - a[1]) };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const wanted = process.argv.find((arg) => arg.startsWith('--modules='))?.slice('--modules='.length);
  const { kB: most } = JSON.parse(await readFile(new URL('weights.json', import.meta.url), 'utf8'));
  for (const [name, source] of Object.entries(PROGRAMS)) {
    if (wanted && wanted !== name) continue;
    const { kB, modules } = await sizeOf(source);
    const full = (await sizeOf(source, 'development')).kB.toFixed(1);
    console.log(
      `${kB.toFixed(1).padStart(6)} kB, at most ${most[name]}; ${full} in development: ${name} (${modules.length} modules)`,
    );
    if (wanted) for (const [path, bytes] of modules) console.log(`${String(bytes).padStart(8)}  ${path}`);
  }
}
