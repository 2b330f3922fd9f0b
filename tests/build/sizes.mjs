// Prints what programs weigh: minified by esbuild, gzip -9, `three` external, in kB of 1,024 bytes.
//
//   node tests/build/sizes.mjs [--modules=NAME]
//
// With --modules it lists what of that program comes from which module, before gzip.
import { readFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { parseAst } from 'vite';
import { shortenAll } from '../setup/shortShaders.mjs';

const lib = fileURLToPath(new URL('../../lib', import.meta.url));

/** Programs by name: their source, and the most that each may weigh. */
export const PROGRAMS = {
  'hello crowd': {
    source: "export { bakeCharacter, SkinnedInstancedMesh } from './index.js'",
    ceiling: 69.3,
  },
  'hello crowd, WebGPU': {
    source: "export { bakeCharacter, SkinnedInstancedMesh } from './webgpu.js'",
    ceiling: 75.2,
  },
  'plays a baked file': {
    source:
      "export { SkinnedInstancedMesh } from './index.js'; export { SkinnedInstancedMeshExtension } from './files.js'",
    ceiling: 67.2,
  },
  'hello + InstanceUniforms': {
    source: "export { bakeCharacter, InstanceUniforms, SkinnedInstancedMesh } from './index.js'",
    ceiling: 74,
  },
  'hello + InstanceParts': {
    source: "export { bakeCharacter, InstanceParts, SkinnedInstancedMesh } from './index.js'",
    ceiling: 70.7,
  },
  'hello + InstanceMorphs': {
    source: "export { bakeCharacter, InstanceMorphs, SkinnedInstancedMesh } from './index.js'",
    ceiling: 70.3,
  },
  'hello + InstanceMotions': {
    source: "export { bakeCharacter, defineMotion, InstanceMotions, SkinnedInstancedMesh } from './index.js'",
    ceiling: 73.8,
  },
  'hello + AnimationLayers': {
    source: "export { AnimationLayers, bakeCharacter, SkinnedInstancedMesh } from './index.js'",
    ceiling: 71.1,
  },
  'hello + SkinnedInstance': {
    source: "export { bakeCharacter, SkinnedInstance, SkinnedInstancedMesh } from './index.js'",
    ceiling: 85.2,
  },
  'hello + JointEdits': {
    source: "export { bakeCharacter, JointEdits, SkinnedInstancedMesh } from './index.js'",
    ceiling: 78.1,
  },
  'hello + mergeMaterials': {
    source: "export { bakeCharacter, mergeMaterials, SkinnedInstancedMesh } from './index.js'",
    ceiling: 76.4,
  },
  'hello + CrowdLevels': {
    source: "export { bakeCharacter, CrowdLevels, SkinnedInstancedMesh } from './index.js'",
    ceiling: 76.7,
  },
  'hello + CrowdLevels + Impostor': {
    source: "export { bakeCharacter, CrowdLevels, Impostor, SkinnedInstancedMesh } from './index.js'",
    ceiling: 84,
  },
  'hello + CrowdKinds': {
    source: "export { bakeCharacter, CrowdKinds, SkinnedInstancedMesh } from './index.js'",
    ceiling: 73.3,
  },
  'hello + ClipBlend': {
    source: "export { bakeCharacter, ClipBlend, SkinnedInstancedMesh } from './index.js'",
    ceiling: 70.3,
  },
  'hello + DrawOrder': {
    source: "export { bakeCharacter, DrawOrder, SkinnedInstancedMesh } from './index.js'",
    ceiling: 71.7,
  },
  'hello + frames': {
    source: "export { bakeCharacter, frames, SkinnedInstancedMesh } from './index.js'",
    ceiling: 72.2,
  },
  'hello + extractRootMotion': {
    source:
      "export { applyRootMotion, bakeCharacter, extractRootMotion, SkinnedInstancedMesh } from './index.js'",
    ceiling: 72,
  },
  everything: { source: "export * from './index.js'", ceiling: 147.2 },
  'hello + GPUInstances, WebGPU': {
    source: "export { bakeCharacter, GPUInstances, SkinnedInstancedMesh } from './webgpu.js'",
    ceiling: 85.1,
  },
  'hello + CrowdLevels, WebGPU': {
    source: "export { bakeCharacter, CrowdLevels, SkinnedInstancedMesh } from './webgpu.js'",
    ceiling: 83,
  },
  'hello + CrowdLevels + Impostor, WebGPU': {
    source: "export { bakeCharacter, CrowdLevels, Impostor, SkinnedInstancedMesh } from './webgpu.js'",
    ceiling: 90.4,
  },
  'hello + a swarm, WebGPU': {
    source:
      "export { accelerate, arrive, bakeCharacter, gaitOf, GPUInstances, limit, NeighbourGrid, seek, separate, SkinnedInstancedMesh } from './webgpu.js'",
    ceiling: 86.1,
  },
  'everything, WebGPU': { source: "export * from './webgpu.js'", ceiling: 162.2 },
};

/** Shaders as the package has them. */
const shortShaders = {
  name: 'short-shaders',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const code = await readFile(path, 'utf8');
      if (!code.includes('/* glsl */ `')) return null;
      return { contents: shortenAll(code, parseAst(code, { lang: 'ts' })), loader: 'ts' };
    });
  },
};

/** @returns {Promise<{ kB: number, modules: [string, number][] }>} */
export async function sizeOf(source) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: source, resolveDir: lib, loader: 'ts' },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    external: ['three', 'three/*', '@gltf-transform/core'],
    loader: { '.wasm': 'binary' },
    metafile: true,
    plugins: [shortShaders],
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
  for (const [name, { source, ceiling }] of Object.entries(PROGRAMS)) {
    if (wanted && wanted !== name) continue;
    const { kB, modules } = await sizeOf(source);
    console.log(`${kB.toFixed(1).padStart(6)} kB, at most ${ceiling}: ${name} (${modules.length} modules)`);
    if (wanted) for (const [path, bytes] of modules) console.log(`${String(bytes).padStart(8)}  ${path}`);
  }
}
