import type { AnimationClip } from 'three';
import { describe, expect, test } from 'vitest';
import { TWINS, useCapture } from '../support/captures.js';
import { BUILT_IN, COARSE, describeCharacters, loadCharacter } from '../support/characters.js';
import { createJoints } from '../support/joints.js';
import { type BoneTexture, bakeBoneTexture, encodingOf } from '../support/library.js';
import { createOddClip, createSparseClip } from '../support/oddClip.js';
import { measureTextures, worstOf } from '../support/parity.js';
import { THOROUGH } from '../support/thorough.js';

/** Share of the height by which a vertex may be off on a baked frame. Measured: 1.2e-6 at most. */
const ON_FRAMES = 2e-6;
/** Share of the height by which a vertex on the GPU may be off from its CPU twin. Measured: 4.3e-7 at most. */
const TWIN = 1e-6;
/** Share of the height by which tracks may be off at any time: what float32 makes of chains of ten joints. */
const EXACT = 1e-5;
/** The same with keys of 16 bits. Measured: 1.1e-4 at most. */
const SHORT = 3e-4;

/**
 * What was measured of frames at 30 a second, as shares of the height: the farthest vertex between frames, and on frames of
 * half floats. Where one gets better, it is written down here.
 */
const RECORDED: Record<string, { between: number; half: number }> = {
  'built-in': { between: 1.41e-2, half: 6.35e-4 },
  'CesiumMan.glb': { between: 1.58e-3, half: 3.25e-4 },
  'Horse.glb': { between: 2.5e-2, half: 5.42e-4 },
  'Knight.glb': { between: 7.79e-2, half: 3.27e-4 },
  'RobotExpressive.glb': { between: 5.84e-2, half: 6e-4 },
};

/** Half floats are another format of the same texels, for which two characters are enough with node materials. */
const HALVES = [BUILT_IN, 'CesiumMan.glb'];

/** To a shader other clips are other numbers: of the knight's 76 some are enough. */
function someOf(clips: AnimationClip[]): AnimationClip[] {
  const step = clips.length <= 20 ? 1 : THOROUGH ? 4 : 8;
  return clips.filter((_, i) => i % step === 0);
}

describe.each(TWINS)('%s', (twin) => {
  const how = useCapture(twin);

  describeCharacters((name) => {
    const precisions =
      twin === 'GLSL' || HALVES.includes(name) ? (['float', 'half'] as const) : ['float' as const];
    /** The worst of each precision. */
    async function measure(encoding: 'frames' | 'tracks') {
      const { root, clips } = await loadCharacter(name);
      const textures = precisions.map((precision) =>
        bakeBoneTexture(root, clips, { encoding: encodingOf(encoding), precision }),
      );
      const measured = await measureTextures(how, root, someOf(clips), textures);
      return measured.map((errors, i) => ({
        ...worstOf(errors),
        label: said(textures[i]),
        precision: precisions[i],
      }));
    }
    const said = ({ encoding, precision }: BoneTexture) => `${name} ${encoding} ${precision}`;

    test('frames have vertices where three.js puts them, in each precision', async () => {
      for (const { label, precision, onFrames, between, twin: cpu, clip } of await measure('frames')) {
        console.log(
          `${label}: on frames ${onFrames.toExponential(2)}, between ${between.toExponential(2)} (${clip})`,
        );
        expect(cpu, `${label}, CPU twin`).toBeLessThanOrEqual(TWIN);
        const recorded = RECORDED[name] ?? { between: Infinity, half: Infinity };
        expect(onFrames, `${label}, on frames`).toBeLessThanOrEqual(
          precision === 'float' ? ON_FRAMES : recorded.half,
        );
        expect(between, `${label}, between frames`).toBeLessThanOrEqual(recorded.between);
      }
    });

    test('tracks have them there at any time', async () => {
      for (const { label, precision, onFrames, between, twin: cpu } of await measure('tracks')) {
        const worst = Math.max(onFrames, between);
        console.log(`${label}: off by ${worst.toExponential(1)} of the height`);
        expect(worst, label).toBeLessThanOrEqual(precision === 'float' ? EXACT : SHORT);
        expect(cpu, `${label}, CPU twin`).toBeLessThanOrEqual(EXACT);
      }
    });
  }, twin);

  test.each([20, 40, 120])('tracks have them there on a chain of %d joints with a branch', async (count) => {
    const { root, clips } = createJoints(count, (joint) => (joint === count - 5 ? 10 : joint - 1));
    const textures = [bakeBoneTexture(root, clips)];
    const { onFrames, between, twin: cpu } = worstOf((await measureTextures(how, root, clips, textures))[0]);
    expect(Math.max(onFrames, between)).toBeLessThanOrEqual(EXACT);
    expect(cpu).toBeLessThanOrEqual(EXACT);
  });

  test.each([createOddClip, createSparseClip])('tracks have them there at odd times (%#)', async (create) => {
    const { root } = await loadCharacter(COARSE);
    const { clip } = create(root, 2);
    const textures = (['float', 'half'] as const).map((precision) =>
      bakeBoneTexture(root, [clip], { precision }),
    );
    for (const errors of await measureTextures(how, root, [clip], textures)) {
      const { onFrames, between, twin: cpu } = worstOf(errors);
      expect(Math.max(onFrames, between)).toBeLessThanOrEqual(SHORT);
      expect(cpu).toBeLessThanOrEqual(EXACT);
    }
  });

  test.each([0.7, 1.05, 2])('tracks have them there by quaternions of length %d', async (length) => {
    const { root, clips } = createJoints(6, (joint) => joint - 1);
    for (const { tracks } of clips)
      for (const { name, values } of tracks)
        if (name.endsWith('.quaternion')) for (let i = 0; i < values.length; i++) values[i] *= length;
    const {
      onFrames,
      between,
      twin: cpu,
    } = worstOf((await measureTextures(how, root, clips, [bakeBoneTexture(root, clips)]))[0]);
    console.log(
      `length ${length}: ${onFrames.toExponential(1)}, ${between.toExponential(1)}, ${cpu.toExponential(1)}`,
    );
    expect(Math.max(onFrames, between)).toBeLessThanOrEqual(EXACT);
    expect(cpu).toBeLessThanOrEqual(EXACT);
  });
});
