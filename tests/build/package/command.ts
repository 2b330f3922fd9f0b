import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NodeIO } from '@gltf-transform/core';
import { describe, expect, test } from 'vitest';
import { armDocument } from '../../support/armDocument.js';
import { pyramid } from '../../support/compressedFiles.js';
import { ROOT } from '../../support/PackedApp.js';
import { packed } from './packed.js';

/** Kilobytes of the command that it may not grow beyond unnoticed, not compressed: users of the library never load it. */
const COMMAND_CEILING = 760;

describe('the command', () => {
  /** What npm has put into node_modules/.bin; Windows cannot start that without a shell. */
  const command = (...args: string[]) => {
    const bin = join(packed.folder, 'node_modules/.bin/skinned-instanced-mesh');
    expect(existsSync(bin)).toBe(true);
    const { status, stdout, stderr } = spawnSync(
      process.platform === 'win32' ? process.execPath : bin,
      process.platform === 'win32' ? [join(packed.installed, 'dist/cli.js'), ...args] : args,
      { cwd: packed.folder, encoding: 'utf8' },
    );
    return { status, stdout, stderr };
  };

  test('bakes a file and looks into it, in a folder that has nothing but the package and three.js', async () => {
    await new NodeIO().write(join(packed.folder, 'arm.glb'), armDocument());
    writeFileSync(join(packed.folder, 'draco.glb'), await pyramid('draco'));
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(command('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
    expect(command('bake', 'arm.glb')).toMatchObject({ status: 2, stdout: '' });
    expect(command('bake', 'none.glb', '-o', 'out.glb')).toMatchObject({ status: 1, stdout: '' });
    for (const file of ['arm.glb', 'draco.glb']) {
      const args = ['bake', file, '-o', 'out.glb', '--levels', '0.5', '--precision', 'half', '--json'];
      const { status, stdout, stderr } = command(...args);
      expect(status, stderr).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        input: { file },
        output: { file: 'out.glb' },
        precision: 'half',
      });
      const inspected = command('inspect', 'out.glb', '--json');
      expect(inspected.status, inspected.stderr).toBe(0);
      expect(JSON.parse(inspected.stdout)).toMatchObject({ version: 3, characters: [{ baked: true }] });
    }
  });

  test('has the licences of what is built into it, and is small', () => {
    const dist = join(packed.installed, 'dist');
    const licences = readFileSync(join(dist, 'cli/licenses.md'), 'utf8');
    for (const name of [
      '@gltf-transform/core',
      '@gltf-transform/extensions',
      'property-graph',
      'meshoptimizer',
    ]) {
      expect(licences).toContain(name);
    }
    const kB = (file: string) => statSync(file).size / 1024;
    const files = readdirSync(join(dist, 'cli')).filter((file) => file.endsWith('.js'));
    const size = kB(join(dist, 'cli.js')) + files.reduce((sum, file) => sum + kB(join(dist, 'cli', file)), 0);
    console.log(
      `the package ${kB(packed.tarball).toFixed(0)} kB compressed, the command of that ${size.toFixed(0)} kB not compressed`,
    );
    expect(size).toBeLessThan(COMMAND_CEILING);
  });
});
