import {
  AnimationClip,
  type BufferAttribute,
  type KeyframeTrack,
  Matrix4,
  Mesh,
  type MeshBasicMaterial,
  NumberKeyframeTrack,
  type SkinnedMesh,
  VectorKeyframeTrack,
} from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { BoneTexture } from '../support/library.js';
import { createMorphingStick } from '../support/stick.js';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Keys at odd times: the clip is sampled until its error is small, by the size of the character. */
const clip = () =>
  new AnimationClip('Grow', 1, [
    new NumberKeyframeTrack(
      'StickMesh.morphTargetInfluences',
      [0, 0.1234, 0.777, 1],
      [0, 1, 0.2, 1],
    ) as KeyframeTrack,
  ]);

/** The stick with vertices in other units than its scene, as quantised files have them. */
function scaled(by: number) {
  const stick = createMorphingStick();
  const { geometry, skeleton } = stick.mesh;
  for (const one of [geometry.getAttribute('position'), ...(geometry.morphAttributes.position ?? [])]) {
    for (let i = 0; i < one.count; i++)
      (one as BufferAttribute).setXYZ(i, by * one.getX(i), by * one.getY(i), by * one.getZ(i));
  }
  stick.mesh.bind(skeleton, new Matrix4().makeScale(1 / by, 1 / by, 1 / by));
  return stick;
}

/** The same mesh without bones. */
function rigid({ root, mesh }: { root: { add(mesh: Mesh): unknown }; mesh: SkinnedMesh }, by: number): void {
  const still = new Mesh(mesh.geometry, mesh.material as MeshBasicMaterial);
  still.name = mesh.name;
  still.scale.setScalar(1 / by);
  mesh.removeFromParent();
  root.add(still);
}

test.each(['skinned', 'rigid'])(
  '%s: how finely morphs are sampled does not hang on the units of vertices',
  (kind) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const counts = [1, 1000, 0.001].map((by) => {
      const stick = scaled(by);
      if (kind === 'rigid') rigid(stick, by);
      const { clips } = BoneTexture.bake(stick.root, [clip()], { encoding: 'tracks', maxError: 0.02 });
      return clips[0].count;
    });
    expect(counts[0]).toBeGreaterThan(20);
    expect(counts[0]).toBeLessThan(480);
    expect(counts).toEqual([counts[0], counts[0], counts[0]]);
    expect(warn).not.toHaveBeenCalled();
  },
);

test.each(['skinned', 'rigid'])('%s: what is hidden at rest by its scale is sampled as finely', (kind) => {
  const grow = clip();
  const holder = kind === 'rigid' ? 'StickMesh' : 'Base';
  grow.tracks.push(new VectorKeyframeTrack(`${holder}.scale`, [0, 1], [1, 1, 1, 1, 1, 1]) as KeyframeTrack);
  const [shown, hidden] = [1, 0].map((scale) => {
    const stick = createMorphingStick();
    if (kind === 'rigid') rigid(stick, 1);
    stick.root.getObjectByName(holder)?.scale.setScalar(scale);
    const { clips } = BoneTexture.bake(stick.root, [grow], { encoding: 'tracks', maxError: 0.02 });
    return clips[0].count;
  });
  expect(shown).toBeGreaterThan(20);
  expect(hidden).toBe(shown);
});
