import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../../support/PackedApp.js';
import { entries } from './apps.js';
import { sizesIn } from './markdown.js';
import { packed } from './packed.js';

/** Kilobytes of each entry, minified and compressed, that it may not grow beyond unnoticed. */
const CEILINGS: Record<string, number> = {
  'skinned-instanced-mesh': 123,
  'skinned-instanced-mesh/webgpu': 149,
};

/** The same of what instances as objects add to the main entry. */
const OBJECTS_CEILING = 13;

/** The same of what reading and writing files adds. */
const FILES_CEILING = 10.5;

/** The same of vertex textures, and of these with their nodes to the entry for WebGPURenderer. */
const VERTEX_CEILINGS: Record<string, number> = { '': 12, '/webgpu': 13 };

/** The same of what baking in a worker adds: its script, with parts of three.js. */
const WORKER_CEILING = 37;

/** What procedural motion adds, with all that is ready-made. */
const MOTION_CEILING = 7;

/** What occlusion adds to the entry for WebGPURenderer. */
const OCCLUSION_CEILING = 4;

describe('tree shaking', () => {
  /** Tests compare what they add with the same main entry. */
  const bundles = new Map<string, Promise<string>>();

  /** @param small Without white space too, which Vite leaves in libraries. */
  const bundle = (code: string, small = false) => {
    const key = `${small} ${code}`;
    const known = bundles.get(key) ?? makeBundle(code, small);
    bundles.set(key, known);
    return known;
  };

  const makeBundle = async (code: string, small: boolean) => {
    const entry = join(packed.folder, 'entry.js');
    packed.write('entry.js', code);
    const result = await build({
      root: packed.folder,
      logLevel: 'error',
      configFile: false,
      build: {
        write: false,
        minify: true,
        lib: { entry, formats: ['es'], fileName: 'out' },
        rollupOptions: { external: [/^three($|\/)/], ...(small && { output: { minify: true } }) },
      },
    });
    const [{ output }] = result as unknown as { output: { code: string }[] }[];
    return output.map((chunk) => chunk.code).join('\n');
  };

  test('the main entry does not load node materials', async () => {
    const code = await bundle(`export * from 'skinned-instanced-mesh';`);
    expect(code).not.toMatch(/three\/(webgpu|tsl)/);
  });

  test('both entries share one class, and using it from ./webgpu makes the node materials known', async () => {
    const code = await bundle(`
      import { SkinnedInstancedMesh as A } from 'skinned-instanced-mesh';
      import { SkinnedInstancedMesh as B } from 'skinned-instanced-mesh/webgpu';
      globalThis.same = A === B;`);
    // Each class of crowds says of itself that it is one.
    expect(code.match(/isSkinnedInstancedMesh\s*=/g)).toHaveLength(1);
    const used = await bundle(`
      import { SkinnedInstancedMesh } from 'skinned-instanced-mesh/webgpu';
      globalThis.Crowd = SkinnedInstancedMesh;`);
    expect(used).toContain('three/tsl');
  });

  test.each([
    ...entries,
    'skinned-instanced-mesh/worker',
    'skinned-instanced-mesh/motion',
    'skinned-instanced-mesh/occlusion',
    'skinned-instanced-mesh/vertex-textures',
    'skinned-instanced-mesh/vertex-textures/webgpu',
  ])('sideEffects: false is true of %s', async (entry) => {
    // A copy without that field: where it stands, bundlers drop what is unused without a look at the code.
    const { installed } = packed;
    const unmarked = join(packed.folder, 'node_modules/unmarked');
    cpSync(join(installed, 'dist'), join(unmarked, 'dist'), { recursive: true });
    const { exports } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    writeFileSync(
      join(unmarked, 'package.json'),
      JSON.stringify({ name: 'unmarked', type: 'module', exports }),
    );
    const code = await bundle(`import '${entry.replace('skinned-instanced-mesh', 'unmarked')}';`);
    expect(code.replace(/import\s*["']three(\/\w+)?["'];?/g, '').trim()).toBe('');
  });

  test('procedural motion is there for those who import it, and no one else', async () => {
    const main = await bundle(`export * from 'skinned-instanced-mesh';`, true);
    expect(main).not.toMatch(/turbulence|worldMatrix/);
    const both = await bundle(
      `export * from 'skinned-instanced-mesh'; export * from 'skinned-instanced-mesh/motion';`,
      true,
    );
    expect(both).not.toMatch(/three\/(webgpu|tsl)/);
    const size = (gzipSync(both).length - gzipSync(main).length) / 1024;
    console.log(`procedural motion adds ${size.toFixed(1)} kB compressed`);
    expect(size).toBeLessThan(MOTION_CEILING);
  });

  test('occlusion is there for those who import it, and no one else', async () => {
    const main = await bundle(`export * from 'skinned-instanced-mesh/webgpu';`, true);
    expect(main).not.toContain('logarithmicDepthBuffer');
    const both = await bundle(
      `export * from 'skinned-instanced-mesh/webgpu'; export * from 'skinned-instanced-mesh/occlusion';`,
      true,
    );
    expect(both).toContain('logarithmicDepthBuffer');
    const size = (gzipSync(both).length - gzipSync(main).length) / 1024;
    console.log(`occlusion adds ${size.toFixed(1)} kB compressed`);
    expect(size).toBeLessThan(OCCLUSION_CEILING);
  });

  test('a bone texture can be baked without the mesh', async () => {
    const code = await bundle(
      `import { BoneTexture } from 'skinned-instanced-mesh'; globalThis.bake = BoneTexture.bake;`,
    );
    expect(code).toContain('BoneTexture.bake');
    expect(code).not.toContain('extends InstancedMesh');
    expect(code).not.toContain('skinningMatrix');
  });

  test('instances as objects are there for those who import them, and no one else', async () => {
    const main = await bundle(`export * from 'skinned-instanced-mesh';`, true);
    expect(main).not.toMatch(/isSkinnedInstance\b/);
    const used = await bundle(`
      import { SkinnedInstancedMesh } from 'skinned-instanced-mesh';
      import 'skinned-instanced-mesh/objects';
      globalThis.Crowd = SkinnedInstancedMesh;`);
    expect(used).toMatch(/isSkinnedInstance\b/);
    const both = await bundle(
      `export * from 'skinned-instanced-mesh'; export * from 'skinned-instanced-mesh/objects';`,
      true,
    );
    const size = (gzipSync(both).length - gzipSync(main).length) / 1024;
    console.log(`instances as objects add ${size.toFixed(1)} kB compressed`);
    expect(size).toBeLessThan(OBJECTS_CEILING);
  });

  test('baking in a worker is there for those who import it, and no one else', async () => {
    const main = await bundle(`export * from 'skinned-instanced-mesh';`, true);
    expect(main).not.toContain('bakeInWorker');
    const both = await bundle(
      `export * from 'skinned-instanced-mesh'; export { bakeInWorker } from 'skinned-instanced-mesh/worker';`,
      true,
    );
    const size = (gzipSync(both).length - gzipSync(main).length) / 1024;
    console.log(`baking in a worker adds ${size.toFixed(1)} kB compressed`);
    expect(size).toBeLessThan(WORKER_CEILING);
  });

  test('baked files are read and written by who imports that, and no one else', async () => {
    const main = await bundle(`export * from 'skinned-instanced-mesh';`, true);
    expect(main).not.toContain('bufferViews');
    const both = await bundle(
      `export * from 'skinned-instanced-mesh'; export * from 'skinned-instanced-mesh/files';`,
      true,
    );
    const added = (gzipSync(both).length - gzipSync(main).length) / 1024;
    const reading = await bundle(
      `export * from 'skinned-instanced-mesh'; export { SkinnedInstancedMeshExtension } from 'skinned-instanced-mesh/files';`,
      true,
    );
    const plugin = (gzipSync(reading).length - gzipSync(main).length) / 1024;
    console.log(
      `baked files add ${added.toFixed(1)} kB compressed, the plugin alone ${plugin.toFixed(1)} kB`,
    );
    expect(plugin).toBeLessThan(added);
    expect(added).toBeLessThan(FILES_CEILING);
  });

  test.each(Object.entries(VERTEX_CEILINGS))('vertex textures%s add little', async (entry, ceiling) => {
    const main = await bundle(`export * from 'skinned-instanced-mesh${entry}';`, true);
    expect(main).not.toMatch(/isVertexTexture\b/);
    const both = await bundle(
      `export * from 'skinned-instanced-mesh${entry}'; export { VertexTexture } from 'skinned-instanced-mesh/vertex-textures${entry}';`,
      true,
    );
    expect(both).toMatch(/isVertexTexture\b/);
    const size = (gzipSync(both).length - gzipSync(main).length) / 1024;
    console.log(`vertex textures${entry} add ${size.toFixed(1)} kB compressed`);
    expect(size).toBeLessThan(ceiling);
  });

  test.each(Object.entries(CEILINGS))('%s stays below its ceiling of %i kB', async (entry, ceiling) => {
    const code = await bundle(`export * from '${entry}';`, true);
    const size = gzipSync(code).length / 1024;
    console.log(`${entry}: ${(code.length / 1024).toFixed(1)} kB minified, ${size.toFixed(1)} kB compressed`);
    expect(size).toBeLessThan(ceiling);
    const said = sizesIn(readFileSync(join(ROOT, 'README.md'), 'utf8'))[Object.keys(CEILINGS).indexOf(entry)];
    expect(Math.abs(size - said), 'kB that the README is wrong by').toBeLessThan(1.5);
  });
});
