import {
  AnimationClip,
  BoxGeometry,
  BufferGeometry,
  Float32BufferAttribute,
  Group,
  type KeyframeTrack,
  Matrix4,
  Mesh,
  MeshBasicMaterial,
  NumberKeyframeTrack,
  Points,
  QuaternionKeyframeTrack,
  Raycaster,
  Vector3,
  VectorKeyframeTrack,
} from 'three';
import { afterEach, expect, test, vi } from 'vitest';
import { BoneTexture, LoopOnceOptions, SkinnedInstancedMesh } from '../support/library.js';
import { Reference } from '../support/reference.js';
import { createStick } from '../support/stick.js';

afterEach(() => vi.restoreAllMocks());

function expectParity(root: Group, clip: AnimationClip, time: number): void {
  const crowd = SkinnedInstancedMesh.from(root, [clip], 2, { fps: 8 });
  const matrix = new Matrix4().makeTranslation(3, 2, 1);
  crowd.setMatrixAt(1, matrix);
  crowd.play(1, 0, { ...LoopOnceOptions, time });
  const shown = new Vector3();
  new Reference(root, matrix).pose(clip, time).forEachVertex((vertex, position) => {
    expect(crowd.getVertexPositionAt(1, vertex, shown).distanceTo(position)).toBeLessThan(1e-5);
  });
}

test('without clips there is a crowd in its rest pose', () => {
  const { root } = createStick();
  const boneTexture = BoneTexture.bake(root, []);
  expect(boneTexture.clips).toEqual([]);
  expect(boneTexture.frameCount).toBe(1);
  const crowd = SkinnedInstancedMesh.from(root, [], 3);
  crowd.update(1);
  const shown = new Vector3();
  new Reference(root, new Matrix4()).forEachVertex(() => {});
  expect(crowd.getVertexPositionAt(2, 1, shown).toArray()).toEqual([1, 0, 0]);
  expect(crowd.getSkinningMatrixAt(0, 'Tip', new Matrix4()).equals(new Matrix4())).toBe(true);
  crowd.computeBoundingBox();
  expect(crowd.boundingBox?.max.toArray()).toEqual([1, 1, 0]);
  const hits = new Raycaster(new Vector3(0.2, 0.2, 5), new Vector3(0, 0, -1)).intersectObject(crowd);
  expect(hits).toHaveLength(3);
  expect(() => crowd.play(0, 'Walk')).toThrow(
    'SkinnedInstancedMesh.play: no clip named "Walk"; the bone texture has none.',
  );
  expect(() => crowd.play(0, 0)).toThrow('SkinnedInstancedMesh.play: no clip 0; the bone texture has none');
  crowd.dispose();
});

test('so there is from a baking in slices, with sockets', async () => {
  const { root } = createStick();
  const boneTexture = await BoneTexture.bakeAsync(root, [], { sockets: ['Stick'], precision: 'half' });
  expect(boneTexture.jointNames).toEqual(['Base', 'Tip', 'Stick']);
  expect(SkinnedInstancedMesh.from(root, [], 1, { boneTexture }).count).toBe(1);
});

test('a character of rigid meshes under nodes that clips move', () => {
  const root = new Group();
  root.name = 'Robot';
  const arm = new Group();
  arm.name = 'Arm';
  arm.position.set(0, 1, 0);
  const body = new Mesh(new BoxGeometry(), new MeshBasicMaterial());
  body.name = 'Body';
  const hand = new Mesh(new BoxGeometry(0.2, 0.2, 0.2), new MeshBasicMaterial());
  hand.name = 'Hand';
  hand.position.set(1, 0, 0);
  arm.add(hand);
  root.add(body, arm);
  const clip = new AnimationClip('Wave', 1, [
    new QuaternionKeyframeTrack('Arm.quaternion', [0, 1], [0, 0, 0, 1, 0, 0, 0.6, 0.8]) as KeyframeTrack,
    new VectorKeyframeTrack('Body.scale', [0, 1], [1, 1, 1, 1, 2, 1]) as KeyframeTrack,
  ]);
  for (const time of [0, 0.5, 1]) expectParity(root, clip, time);
  const crowd = SkinnedInstancedMesh.from(root, [clip], 1);
  expect(crowd.partNames).toEqual(['Body', 'Hand']);
  expect(crowd.boneTexture.jointNames).toEqual(['Body', 'Hand']);
});

test("a mesh that only its morph targets move, as three.js's Parrot, also as the root itself", () => {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new Float32BufferAttribute([0, 0, 0, 1, 0, 0, 0, 1, 0], 3));
  geometry.morphAttributes.position = [1, 2].map(
    (i) => new Float32BufferAttribute([0, i, 0, 0, 0, i, i, 0, 0], 3),
  );
  geometry.morphTargetsRelative = true;
  const parrot = new Mesh(geometry, new MeshBasicMaterial());
  parrot.name = 'Parrot';
  parrot.updateMorphTargets();
  const root = new Group().add(parrot);
  const track = new NumberKeyframeTrack(
    'Parrot.morphTargetInfluences',
    [0, 0.5, 1],
    [0, 0, 1, 0, 0, 1],
  ) as KeyframeTrack;
  const clip = new AnimationClip('Fly', 1, [track]);
  for (const time of [0, 0.25, 0.5, 1]) expectParity(root, clip, time);

  const itself = SkinnedInstancedMesh.from(parrot, [clip], 1);
  itself.play(0, 'Fly', { time: 0.5 });
  expect(itself.getVertexPositionAt(0, 0, new Vector3()).y).toBeCloseTo(1, 5);
});

test('what cannot be drawn is refused before the baking', () => {
  const { root, clips } = createStick();
  const sparks = new Points(new BoxGeometry());
  sparks.name = 'Sparks';
  root.add(sparks);
  const bake = vi.spyOn(BoneTexture, 'bake');
  expect(() => SkinnedInstancedMesh.from(root, clips, 1)).toThrow(
    'SkinnedInstancedMesh.from: "Sparks" (Points)',
  );
  expect(() => SkinnedInstancedMesh.from(root, clips, -1, { skipUnsupported: true })).toThrow('count is -1');
  expect(bake).not.toHaveBeenCalled();
  sparks.visible = false;
  expect(SkinnedInstancedMesh.from(root, clips, 1).count).toBe(1);
  expect(() => SkinnedInstancedMesh.from(undefined as never, clips, 1)).toThrow('root is undefined');
});
