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
import { shortenAll } from '../setup/shortShaders.mjs';
import { shortenTexts } from '../setup/shortTexts.mjs';

const lib = fileURLToPath(new URL('../../lib', import.meta.url));

/** Programs by name: their source, and the most that each may weigh. */
export const PROGRAMS = {
  'hello crowd': {
    source: "export { bakeCharacter, SkinnedInstancedMesh } from './index.js'",
    ceiling: 66,
  },
  'hello crowd, WebGPU': {
    source: "export { bakeCharacter, SkinnedInstancedMesh } from './webgpu.js'",
    ceiling: 71.9,
  },
  'plays a baked file': {
    source:
      "export { SkinnedInstancedMesh } from './index.js'; export { SkinnedInstancedMeshExtension } from './files.js'",
    ceiling: 64.4,
  },
  'hello + InstanceUniforms': {
    source: "export { bakeCharacter, InstanceUniforms, SkinnedInstancedMesh } from './index.js'",
    ceiling: 70.4,
  },
  'hello + InstanceParts': {
    source: "export { bakeCharacter, InstanceParts, SkinnedInstancedMesh } from './index.js'",
    ceiling: 67.4,
  },
  'hello + InstanceMorphs': {
    source: "export { bakeCharacter, InstanceMorphs, SkinnedInstancedMesh } from './index.js'",
    ceiling: 66.9,
  },
  'hello + InstanceMotions': {
    source: "export { bakeCharacter, defineMotion, InstanceMotions, SkinnedInstancedMesh } from './index.js'",
    ceiling: 70,
  },
  'hello + AnimationLayers': {
    source: "export { AnimationLayers, bakeCharacter, SkinnedInstancedMesh } from './index.js'",
    ceiling: 67.6,
  },
  'hello + SkinnedInstance': {
    source: "export { bakeCharacter, SkinnedInstance, SkinnedInstancedMesh } from './index.js'",
    ceiling: 81.1,
  },
  'hello + JointEdits': {
    source: "export { bakeCharacter, JointEdits, SkinnedInstancedMesh } from './index.js'",
    ceiling: 74.5,
  },
  'hello + mergeMaterials': {
    source: "export { bakeCharacter, mergeMaterials, SkinnedInstancedMesh } from './index.js'",
    ceiling: 72.8,
  },
  'hello + CrowdLevels': {
    source: "export { bakeCharacter, CrowdLevels, SkinnedInstancedMesh } from './index.js'",
    ceiling: 72.9,
  },
  'hello + CrowdLevels + Impostor': {
    source: "export { bakeCharacter, CrowdLevels, Impostor, SkinnedInstancedMesh } from './index.js'",
    ceiling: 80,
  },
  'hello + CrowdKinds': {
    source: "export { bakeCharacter, CrowdKinds, SkinnedInstancedMesh } from './index.js'",
    ceiling: 69.7,
  },
  'hello + ClipBlend': {
    source: "export { bakeCharacter, ClipBlend, SkinnedInstancedMesh } from './index.js'",
    ceiling: 66.9,
  },
  'hello + DrawOrder': {
    source: "export { bakeCharacter, DrawOrder, SkinnedInstancedMesh } from './index.js'",
    ceiling: 68.4,
  },
  'hello + frames': {
    source: "export { bakeCharacter, frames, SkinnedInstancedMesh } from './index.js'",
    ceiling: 68.8,
  },
  'hello + extractRootMotion': {
    source:
      "export { applyRootMotion, bakeCharacter, extractRootMotion, SkinnedInstancedMesh } from './index.js'",
    ceiling: 68.6,
  },
  everything: { source: "export * from './index.js'", ceiling: 138.8 },
  'hello + GPUInstances, WebGPU': {
    source: "export { bakeCharacter, GPUInstances, SkinnedInstancedMesh } from './webgpu.js'",
    ceiling: 81.6,
  },
  'hello + CrowdLevels, WebGPU': {
    source: "export { bakeCharacter, CrowdLevels, SkinnedInstancedMesh } from './webgpu.js'",
    ceiling: 79.1,
  },
  'hello + CrowdLevels + Impostor, WebGPU': {
    source: "export { bakeCharacter, CrowdLevels, Impostor, SkinnedInstancedMesh } from './webgpu.js'",
    ceiling: 86.3,
  },
  'hello + a swarm, WebGPU': {
    source:
      "export { accelerate, arrive, bakeCharacter, gaitOf, GPUInstances, limit, NeighbourGrid, seek, separate, SkinnedInstancedMesh } from './webgpu.js'",
    ceiling: 82.6,
  },
  'everything, WebGPU': { source: "export * from './webgpu.js'", ceiling: 153.4 },
};

/** Shaders, and texts for users, as the package has them. */
const shortened = (condition) => ({
  name: 'shortened',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const code = await readFile(path, 'utf8');
      const plain = shortenAll(code, parseAst(code, { lang: 'ts' }));
      const isShort = condition === 'production';
      return {
        contents: isShort ? shortenTexts(plain, parseAst(plain, { lang: 'ts' }), path) : plain,
        loader: 'ts',
      };
    });
  },
});

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
    plugins: [shortened(condition)],
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
    const full = (await sizeOf(source, 'development')).kB.toFixed(1);
    console.log(
      `${kB.toFixed(1).padStart(6)} kB, at most ${ceiling}; ${full} in development: ${name} (${modules.length} modules)`,
    );
    if (wanted) for (const [path, bytes] of modules) console.log(`${String(bytes).padStart(8)}  ${path}`);
  }
}
