import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { describe, expect, test, vi } from 'vitest';
import { packed } from './packed.js';

describe('tree shaking', () => {
  const bundle = async (code: string) => {
    const entry = join(packed.folder, 'entry.js');
    packed.write('entry.js', code);
    vi.stubEnv('NODE_ENV', 'production');
    const result = await build({
      root: packed.folder,
      logLevel: 'error',
      configFile: false,
      build: {
        write: false,
        minify: true,
        lib: { entry, formats: ['es'], fileName: 'out' },
        rollupOptions: { external: [/^three($|\/)/, 'react', '@react-three/fiber'] },
      },
    });
    vi.unstubAllEnvs();
    const [{ output }] = result as unknown as { output: { code: string }[] }[];
    return output.map((chunk) => chunk.code).join('\n');
  };

  test('the main entry does not load node materials', async () => {
    const code = await bundle(`export * from 'skinned-instanced-mesh';`);
    expect(code).not.toMatch(/three\/(webgpu|tsl)/);
    expect(code, 'nor has it texts in a page for production').not.toContain('use finite numbers');
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
    'skinned-instanced-mesh',
    'skinned-instanced-mesh/webgpu',
    'skinned-instanced-mesh/worker',
    'skinned-instanced-mesh/occlusion',
    'skinned-instanced-mesh/vertex-textures',
    'skinned-instanced-mesh/vertex-textures/webgpu',
    'skinned-instanced-mesh/react',
    'skinned-instanced-mesh/react/webgpu',
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
    expect(code.replace(/import\s*["'](three(\/\w+)?|react|@react-three\/fiber)["'];?/g, '').trim()).toBe('');
  });
});

test('messages are texts in Node and in development, in production numbers of a list in the package', () => {
  const messageWith = (...flags: string[]) => {
    const code = `import { SkinnedInstancedMesh } from 'skinned-instanced-mesh';
      try { new SkinnedInstancedMesh({}); } catch ({ message }) { console.log(message); }`;
    const args = [...flags, '--input-type=module', '--eval', code];
    return execFileSync(process.execPath, args, { cwd: packed.folder, encoding: 'utf8' }).trim();
  };
  const full = messageWith();
  expect(full).toContain('bakeCharacter');
  expect(messageWith('--conditions=development')).toBe(full);
  const [, number, file] =
    messageWith('--conditions=production').match(/Message (\d+) of \S+?\/(dist\/.*)$/) ?? [];
  const list = readFileSync(join(packed.installed, file), 'utf8').split('\n');
  expect(
    list.filter((line) => line.startsWith(`${number}. `) && line.includes(full.slice(-60))),
  ).toHaveLength(1);
});
