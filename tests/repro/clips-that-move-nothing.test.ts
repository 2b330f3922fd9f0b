import { AnimationClip, type KeyframeTrack, NumberKeyframeTrack, Object3D, VectorKeyframeTrack } from 'three';
import { beforeEach, expect, type MockInstance, test, vi } from 'vitest';
import { BoneTexture } from '../support/library.js';
import { createMorphingStick } from '../support/stick.js';

let warn: MockInstance<typeof console.warn>;
beforeEach(() => {
  warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  return () => warn.mockRestore();
});

const moving = (name: string, node: string) =>
  new AnimationClip(name, 1, [
    new VectorKeyframeTrack(`${node}.position`, [0, 1], [0, 0, 0, 1, 0, 0]) as KeyframeTrack,
  ]);

/** With a second skeleton beside the one that vertices follow, as VRM's loader makes it. */
function createDoubled() {
  const stick = createMorphingStick();
  const [base, tip] = ['Normalized_Base', 'Normalized_Tip'].map((name) =>
    Object.assign(new Object3D(), { name }),
  );
  stick.root.add(base.add(tip));
  return stick;
}

test.each(['tracks', 'matrix'] as const)(
  '%s: clips for a skeleton that no vertex follows are named',
  (encoding) => {
    const { root, clips } = createDoubled();
    const all = [...clips, moving('Walk', 'Normalized_Tip'), moving('Run', 'Normalized_Base')];
    BoneTexture.bake(root, all, { encoding });
    // The same again is not said again.
    BoneTexture.bake(root, all, { encoding });
    expect(warn.mock.calls).toEqual([
      [
        'BoneTexture.bake: nothing that is drawn under "Stick" hangs on the nodes that these clips move: "Walk", "Run"; ' +
          'retarget them to the bones that vertices follow, or leave them out with options.clips.',
      ],
    ]);
  },
);

test('clips that move something, if only a face or the whole, are not', () => {
  const { root, clips } = createDoubled();
  const [both] = [moving('Both', 'Normalized_Tip')];
  both.tracks.push(...moving('', 'Base').tracks);
  const face = new NumberKeyframeTrack(
    'StickMesh.morphTargetInfluences[Long]',
    [0, 1],
    [0, 1],
  ) as KeyframeTrack;
  const others = [
    new AnimationClip('Face', 1, [face]),
    moving('Whole', 'Stick'),
    new AnimationClip('Empty', 1, []),
  ];
  BoneTexture.bake(root, [...clips, both, ...others]);
  expect(warn).not.toHaveBeenCalled();
});
