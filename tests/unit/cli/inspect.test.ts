import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { InspectReport } from '../../../lib/cli/inspectCommand.js';
import { armFolder, command } from '../../support/commandLine.js';

const path = armFolder();

async function inspect(...args: string[]): Promise<InspectReport> {
  const { code, stdout, stderr } = await command('inspect', ...args, '--json');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

async function bake(output: string, ...args: string[]): Promise<string> {
  const { code, stderr } = await command('bake', path('arm.glb'), '-o', path(output), ...args);
  expect(code, stderr).toBe(0);
  return path(output);
}

describe('inspect says', () => {
  test('what baking would make of a file', async () => {
    const report = await inspect(path('arm.glb'));
    expect(report).toMatchObject({ file: path('arm.glb'), version: null });
    expect(report.bytes).toBe(readFileSync(path('arm.glb')).length);
    const [arm] = report.characters;
    expect(report.characters).toHaveLength(1);
    expect(arm).toMatchObject({
      name: 'Arm',
      baked: false,
      encoding: 'tracks',
      precision: 'float',
      levels: [],
    });
    expect(arm.joints).toEqual(['Shoulder', 'Joint', 'Joint_1', 'Watch']);
    expect(arm.morphTargets).toEqual(['Bulge']);
    expect(arm.clips.map(({ name, tracks }) => [name, tracks])).toEqual([
      ['Wave', { stored: 2, dropped: [] }],
      ['Walk', { stored: 1, dropped: ['Elsewhere.position'] }],
      ['Flex', { stored: 1, dropped: [] }],
      ['T-Pose', { stored: 1, dropped: [] }],
    ]);
    for (const { error } of arm.clips) expect(error?.worst).toBeLessThan(1e-6);
    expect(report.warnings).toEqual([expect.stringContaining('Elsewhere.position')]);
  });

  test('what was baked', async () => {
    const options = '--encoding frames --fps 10 --root-motion-clips Walk --clips Walk,Wave'.split(' ');
    const report = await inspect(await bake('baked.glb', ...options));
    expect(report.version).toBe(3);
    const [arm] = report.characters;
    expect(arm).toMatchObject({ name: 'Arm', baked: true, encoding: 'frames', precision: 'float' });
    const [walk, wave] = arm.clips;
    expect(walk).toMatchObject({
      name: 'Walk',
      duration: 1,
      frames: 11,
      fps: 10,
      rootMotion: true,
      error: null,
    });
    expect(wave).toMatchObject({
      name: 'Wave',
      duration: 1,
      frames: 11,
      fps: 10,
      rootMotion: false,
      tracks: null,
    });
  });

  test('so in words too', async () => {
    const file = await bake('baked.glb', '--precision', 'half', '--levels', '0.5@20');
    const { code, stdout, stderr } = await command('inspect', file);
    expect(code).toBe(0);
    expect(stderr).toBe(`reading ${file}\n`);
    expect(stdout).toMatch(/^.*baked\.glb: \d+\.\d kB, baked, version 3\n/);
    expect(stdout).toMatch(/\nbaked +\d+\.\d kB\n/);
    expect(stdout).toMatch(/\nArm: 4 clips, 1 morph targets, 4 joints, tracks, half, .* on the GPU\n/);
    expect(stdout).toMatch(/\nWalk +1\.00 +3 +2 +\d+ bytes +– +– +– +–\n/);
    const source = await command('inspect', path('arm.glb'));
    expect(source.stdout).toMatch(/\nWalk +1\.00 +3 +2 +\d+ bytes +1 +1 +\d\.\de[-+]\d +\d\.\d\d s\n/);
    expect(source.stderr).toContain('comparing 4 clips with the source\n');
  });

  test('what is wrong with a file', async () => {
    const bytes = readFileSync(await bake('baked.glb', '--no-compress'));
    // The last bytes of the file are those of what was baked.
    bytes[bytes.length - 64] ^= 1;
    writeFileSync(path('damaged.glb'), bytes);
    const { code, stderr } = await command('inspect', path('damaged.glb'));
    expect(code).toBe(1);
    expect(stderr).toContain(
      'what was baked is not as it was, which a tool may have changed; bake the file anew',
    );
    writeFileSync(path('nothing.gltf'), JSON.stringify({ asset: { version: '2.0' } }));
    const nothing = await command('inspect', path('nothing.gltf'));
    expect(nothing.code).toBe(1);
    expect(nothing.stderr).toContain('has neither a scene nor a baked character');
  });
});
