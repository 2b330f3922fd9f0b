import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { chooseClips } from '../../../lib/cli/bakeCommand.js';
import { allowClosing } from '../../../lib/cli/run.js';
import { command } from '../../support/commandLine.js';

test('says its version, and what it can do', async () => {
  expect(await command('--version')).toEqual({ code: 0, stdout: '1.2.3\n', stderr: '' });
  for (const args of [['--help'], ['bake', '--help'], ['inspect', '-h', 'file.glb']]) {
    const { code, stdout, stderr } = await command(...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('skinned-instanced-mesh');
  }
});

const FILES = ['in.glb', '-o', 'out.glb'];

test.each<[string[], string]>([
  [[], 'skinned-instanced-mesh bake FILE'],
  [['bakke'], 'there is no command bakke; use bake or inspect'],
  [['bake'], 'bake: there is no file; write e.g. skinned-instanced-mesh bake character.glb'],
  [['bake', 'in.glb'], 'bake: there is no file to write; name it, e.g. -o in.baked.glb'],
  [['bake', 'in.glb', 'b.glb', '-o', 'out.glb'], 'bake: there are 2 files (in.glb, b.glb)'],
  [['bake', 'in.glb', '-o', 'out.gltf'], 'bake: -o is "out.gltf"; what is written is one binary file'],
  [['bake', ...FILES, '--clip', 'Run'], 'bake: there is no option --clip; did you mean --clips?'],
  [['bake', ...FILES, '--colour', 'red'], 'bake: there is no option --colour; there are --output, --clips'],
  [['bake', ...FILES, '-x'], 'bake: there is no option -x'],
  [['bake', ...FILES, '--fps'], 'bake: --fps has no value'],
  [['bake', ...FILES, '--fps', '-3'], 'bake: --fps has no value; write it behind, or --fps=VALUE'],
  [['bake', ...FILES, '--fps=-3'], 'bake: --fps is "-3"; use a number above 0'],
  [['bake', ...FILES, '--fps', 'many'], 'bake: --fps is "many"; use a number above 0'],
  [['bake', ...FILES, '--max-texture-size', '1.5'], 'bake: --max-texture-size is "1.5"; use a whole number'],
  [['bake', ...FILES, '--max-error', '0'], 'bake: --max-error is "0"; use a number above 0'],
  [['bake', ...FILES, '--encoding', 'texels'], 'bake: --encoding is "texels"; use tracks'],
  [['bake', ...FILES, '--precision', 'double'], 'bake: --precision is "double"; use float, half'],
  ...['clips', 'exclude', 'root-motion-clips', 'sockets', 'levels', 'hidden-parts', 'drop-parts'].map(
    (name): [string[], string] => [
      ['bake', ...FILES, `--${name}`, ' , '],
      `bake: --${name} is given and names nothing`,
    ],
  ),
  [['bake', 'in.glb', '-o', '--force'], 'bake: --output has no value; write it behind'],
  [['bake', 'in.glb', '-o'], 'bake: --output has no value; write it behind'],
  [
    ['bake', ...FILES, '--levels', '0.5,0.5'],
    'must have ever fewer triangles, and begin ever farther away: 0.5 follows 0.5',
  ],
  [['bake', ...FILES, '--levels', '0.5@20,0.2@10'], 'and begin ever farther away: 0.2@10 follows 0.5@20'],
  [['bake', ...FILES, '--levels', '0.5@20,0.2@20'], 'and begin ever farther away: 0.2@20 follows 0.5@20'],
  [
    ['bake', ...FILES, '--levels', '0.5@10%,0.3,0.2@30%'],
    'and begin ever farther away: 0.2@30% follows 0.5@10%',
  ],
  [['bake', ...FILES, '--force=yes'], 'bake: --force takes no value'],
  [['inspect'], 'inspect: there is no file'],
  [
    ['inspect', 'in.glb', '--fps', '3'],
    'inspect: there is no option --fps; there are --no-errors, --outside, --json, --help',
  ],
])('%j is no use of it', async (args, message) => {
  const { code, stdout, stderr } = await command(...args);
  expect(code).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).toContain(message);
});

describe('clips', () => {
  const clips = ['Idle', 'Run', 'Run, fast', 'Sword_1', 'Sword_2', 'Odd@60'].map((name) => ({
    name,
    tracks: [] as never[],
  }));
  const choose = (wanted: string[], unwanted: string[] = []) =>
    chooseClips([{ file: 'in.glb', animations: clips as never[] }], wanted, unwanted).map(({ clip, fps }) => [
      (clip as { name: string }).name,
      fps,
    ]);

  test('are chosen by name and pattern, each once, in the order asked for', () => {
    expect(choose([])).toHaveLength(clips.length);
    expect(choose(['Run, fast', 'Sword_*,Run@60', 'Odd@60', 'Run'])).toEqual([
      ['Run, fast', undefined],
      ['Sword_1', undefined],
      ['Sword_2', undefined],
      ['Run', 60],
      ['Odd@60', undefined],
    ]);
    expect(choose(['Sword_*'], ['Sword_2'])).toEqual([['Sword_1', undefined]]);
    expect(choose([], ['Run, fast', '*_*,I*']).map(([name]) => name)).toEqual(['Run', 'Odd@60']);
  });

  test('that are not there are named', () => {
    expect(() => choose(['Runn'])).toThrow(
      'bake: --clips has "Runn", and there is no such clip; there are "Run", "Run, fast"',
    );
    expect(() => choose([], ['T-Pose'])).toThrow('bake: --exclude has "T-Pose"');
  });
});

test('whoever reads the output may stop', () => {
  const stream = new EventEmitter();
  allowClosing(stream);
  const broken = (code: string) => () => stream.emit('error', Object.assign(new Error(code), { code }));
  expect(broken('EPIPE')).not.toThrow();
  expect(broken('ENOSPC')).toThrow('ENOSPC');
});
