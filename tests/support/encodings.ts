import type { AnimationClip, Object3D } from 'three';
import { expect } from 'vitest';
import { bakeTexels } from './bakeTexels.js';
import { BoneTexture } from './library.js';
import { type Capture, measureTextures, worstOf } from './parity.js';
import { RECORDED } from './recorded.js';

/** Share of the height by which a vertex may be off on a baked frame. Measured: 1.2e-6 at most. */
const ON_FRAMES = 2e-6;
/** Share of the height by which a vertex on the GPU may be off from its CPU twin. Measured: 4.3e-7 at most. */
const TWIN = 1e-6;

/**
 * Compares every vertex of a character with three.js's, in every encoding that holds it.
 *
 * @param every Of the clips, look at the first and every so many after it.
 */
export async function expectVertices(
  how: Capture,
  name: string,
  { root, clips }: { root: Object3D; clips: AnimationClip[] },
  precisions: readonly ('float' | 'half')[],
  every = 1,
): Promise<void> {
  const { encoding: best } = bakeTexels(root, clips);
  // What quaternions cannot hold has one encoding only.
  const encodings = best === 'matrix' ? (['matrix'] as const) : (['matrix', 'quaternion'] as const);
  const textures = encodings.flatMap((encoding) =>
    precisions.map((precision) => BoneTexture.bake(root, clips, { encoding, precision })),
  );
  const recorded = RECORDED[name];
  if (recorded) expect([...encodings].sort(), 'encodings that hold it').toEqual(Object.keys(recorded).sort());

  const measured = await measureTextures(
    how,
    root,
    clips.filter((_, i) => i % every === 0),
    textures,
  );
  measured.forEach((errors, i) => {
    const { encoding, precision, layout } = textures[i];
    const worst = worstOf(errors);
    const label = `${name} ${encoding} ${precision}`;
    console.log(
      `${label} ${layout.width}x${layout.height}: on frames ${worst.onFrames.toExponential(2)}, ` +
        `between ${worst.between.toExponential(2)} (${worst.clip}), twin ${worst.twin.toExponential(1)} of the height`,
    );
    expect(worst.twin, `${label}, CPU twin`).toBeLessThanOrEqual(TWIN);
    if (precision === 'float') expect(worst.onFrames, `${label}, on frames`).toBeLessThanOrEqual(ON_FRAMES);
    if (!recorded) return;
    const { between, half } = recorded[encoding as 'matrix' | 'quaternion']!;
    if (precision === 'half') expect(worst.onFrames, `${label}, on frames`).toBeLessThanOrEqual(half);
    expect(worst.between, `${label}, between frames`).toBeLessThanOrEqual(between);
  });
}
