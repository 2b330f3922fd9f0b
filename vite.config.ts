import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig, type UserConfig } from 'vite';
import { bundled } from './tests/setup/bundled.mjs';
import { serveDocs } from './tests/setup/docs.mjs';
import { galleryAtRoot } from './tests/setup/galleryAtRoot.mjs';
import { serveModels } from './tests/setup/models.mjs';
import { shaderNodes } from './tests/setup/shaderNodes.mjs';
import { shortShaders } from './tests/setup/shortShaders.mjs';
import { shortTexts } from './tests/setup/shortTexts.mjs';

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** Entries of the package; `exports` in package.json names the same. */
const entries = {
  index: path('lib/index.ts'),
  webgpu: path('lib/webgpu.ts'),
  files: path('lib/files.ts'),
  worker: path('lib/worker.ts'),
  vertexTextures: path('lib/vertexTextures.ts'),
  vertexTexturesWebGPU: path('lib/vertexTexturesWebGPU.ts'),
  occlusion: path('lib/occlusion.ts'),
  gltfTransform: path('lib/gltfTransform.ts'),
  react: path('lib/react.ts'),
  reactWebGPU: path('lib/reactWebGPU.ts'),
};

/** Demos and tests import the library by its name, as users do. */
export const alias = {
  'skinned-instanced-mesh/webgpu': path('lib/webgpu.ts'),
  'skinned-instanced-mesh/files': path('lib/files.ts'),
  'skinned-instanced-mesh/worker': path('lib/worker.ts'),
  'skinned-instanced-mesh/vertex-textures/webgpu': path('lib/vertexTexturesWebGPU.ts'),
  'skinned-instanced-mesh/vertex-textures': path('lib/vertexTextures.ts'),
  'skinned-instanced-mesh/occlusion': path('lib/occlusion.ts'),
  'skinned-instanced-mesh/gltf-transform': path('lib/gltfTransform.ts'),
  'skinned-instanced-mesh/react/webgpu': path('lib/reactWebGPU.ts'),
  'skinned-instanced-mesh/react': path('lib/react.ts'),
  'skinned-instanced-mesh': path('lib/index.ts'),
};

function demoPages(): string[] {
  const folders = readdirSync(path('demos'), { withFileTypes: true, recursive: true });
  return folders
    .filter(({ name, parentPath }) => name === 'index.html' && !parentPath.startsWith(path('demos/starters')))
    .map((entry) => `${entry.parentPath}/${entry.name}`);
}

export default defineConfig(({ mode, command }): UserConfig => {
  const shared: UserConfig = {
    resolve: { alias },
    plugins: [serveModels(), serveDocs(), shaderNodes(), bundled()],
  };
  if (command === 'serve') return { ...shared, plugins: [shared.plugins, galleryAtRoot()] };

  // `base: './'` lets the site lie under any path.
  if (mode === 'site') {
    const rollupOptions = { input: demoPages() };
    // The pages carry three.js, InstancedMesh2, Babylon Lite and others along.
    const license = { fileName: 'licenses.md' };
    return {
      ...shared,
      root: path('demos'),
      base: './',
      build: {
        outDir: path('dist-site'),
        emptyOutDir: true,
        chunkSizeWarningLimit: 700,
        license,
        rollupOptions,
      },
    };
  }

  // The command is for Node, with all that it needs but three.js: who uses the library installs none of it.
  if (mode === 'cli') {
    return {
      ssr: { noExternal: true, external: ['three'] },
      build: {
        ssr: path('lib/cli/main.ts'),
        outDir: path('dist'),
        emptyOutDir: false,
        target: 'node20',
        minify: true,
        license: { fileName: 'cli/licenses.md' },
        rollupOptions: {
          external: [/^three($|\/)/],
          output: {
            entryFileNames: 'cli.js',
            chunkFileNames: 'cli/[name].js',
            banner: ({ isEntry }) => (isEntry ? '#!/usr/bin/env node' : ''),
          },
        },
      },
    };
  }

  // What bundlers take for production.
  const isShort = mode === 'short';
  const texts = isShort ? [shortTexts()] : [];
  return {
    plugins: [bundled(texts), shaderNodes(), shortShaders(isShort), texts],
    build: {
      lib: { entry: entries, formats: ['es'] },
      outDir: path(isShort ? 'dist/production' : 'dist'),
      target: 'es2022',
      minify: false,
      rollupOptions: {
        external: [/^three($|\/)/, '@gltf-transform/core', 'react', '@react-three/fiber'],
        // declarations have the comments
        output: { chunkFileNames: 'shared/[name].js', comments: { jsdoc: false } },
      },
    },
  };
});
