import { Box3, Matrix4, Quaternion, QuaternionKeyframeTrack, Sphere, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { morphsOf } from '../../support/features.js';
import {
  AnimationLayers,
  bakeBoneTexture,
  bakeCharacter,
  ENCODINGS,
  encodingOf,
  frames,
  getVertexPosition,
  JointEdits,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { loadModel, modelNames } from '../../support/models.js';
import { random } from '../../support/random.js';
import { createMorphingStick, createStick, createStickCrowd, type Stick } from '../../support/stick.js';
import { THOROUGH } from '../../support/thorough.js';

/** Grows a box by every so manieth vertex of an instance as it is posed now. */
function expandByVertices(crowd: SkinnedInstancedMesh, index: number, box: Box3): Box3 {
  const { count } = crowd.geometry.getAttribute('position');
  const vertex = new Vector3();
  for (let v = 0; v < count; v += 11) box.expandByPoint(getVertexPosition(crowd, index, v, vertex));
  return box;
}

const models = (await modelNames()).filter((name) => THOROUGH || name.startsWith('CesiumMan'));

test.each(['tracks', 'frames', ...models])('bounds hardly exceed all poses and fades: %s', async (name) => {
  const { root, clips } = models.includes(name) ? await loadModel(name) : createCharacter();
  const encoding = name === 'frames' ? frames : undefined;
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips, { encoding }), 1);
  const tight = expandByVertices(crowd, 0, new Box3());
  clips.forEach(({ duration }, clip) => {
    for (let k = 0; k < 8; k++)
      expandByVertices(crowd.stop(0).play(0, clip, { time: (k / 8) * duration }), 0, tight);
  });
  const next = random(3);
  const any = () => Math.floor(next() * clips.length);
  for (let k = 0; k < 200; k++) {
    crowd.stop(0).play(0, any(), { time: next() }).play(0, any(), { time: next(), fade: 1 });
    expandByVertices(crowd.update(next()), 0, tight);
  }
  crowd.computeBoundingBox();
  crowd.computeBoundingSphere();
  const box = crowd.boundingBox!;
  expect(box.containsBox(tight)).toBe(true);
  expect(box.getSize(new Vector3()).length()).toBeLessThan(1.2 * tight.getSize(new Vector3()).length());
  expect(crowd.boundingSphere?.radius).toBeLessThan(1.2 * tight.getBoundingSphere(new Sphere()).radius);
});

test('bounds are wider with layers, and of edited crowds until edits end', () => {
  const { root, clips } = createCharacter();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 1);
  const radius = () => {
    crowd.updateMatrixWorld();
    crowd.computeBoundingSphere();
    return crowd.boundingSphere?.radius ?? 0;
  };
  const before = radius();
  const edits = new JointEdits(crowd).setRotationAt(0, 'Spine', new Quaternion());
  edits.setPoseAt(0, root).setProportionsAt(0, { Head: 1.5 });
  expect(radius()).toBeGreaterThan(before * 1.2);
  edits.clearAt(0).setPoseAt(0, null).setProportionsAt(0, null);
  expect(radius()).toBe(before);
  new AnimationLayers(crowd, [{ name: 'over' }]);
  expect(radius()).toBeGreaterThan(before * 1.2);

  const stick = createStick();
  const turns = [0, 0, -0.5, Math.sqrt(0.75), 0, 0, 0.5, Math.sqrt(0.75)];
  stick.clips[0].tracks = [new QuaternionKeyframeTrack('Tip.quaternion', [0, 1], turns)];
  const turned = new SkinnedInstancedMesh(bakeCharacter(stick.root, stick.clips), 1).play(0, 0);
  new AnimationLayers(turned, [{ name: 'over' }]);
  turned.computeBoundingBox();
  expect(turned.boundingBox?.containsBox(expandByVertices(turned, 0, new Box3()))).toBe(true);
});

test('bounds follow instances that were moved, and leave alone what the user set', () => {
  const crowd = createStickCrowd(1);
  crowd.computeBoundingSphere();
  crowd.setMatrixAt(0, new Matrix4().makeTranslation(500, 0, 0));
  crowd.instanceMatrix.needsUpdate = true;
  crowd.updateMatrixWorld();
  expect(crowd.boundingSphere).toBe(null);
  crowd.computeBoundingSphere();
  expect((crowd.boundingSphere as unknown as Sphere).center.x).toBeGreaterThan(480);

  const own = new Sphere(new Vector3(), Infinity);
  crowd.boundingSphere = own;
  crowd.instanceMatrix.needsUpdate = true;
  crowd.updateMatrixWorld();
  expect(crowd.boundingSphere).toBe(own);
});

test('bounds of other geometry than was baked are found from the texture', () => {
  const { root, mesh, clips } = createStick();
  const boneTexture = bakeBoneTexture(root, clips);
  const tall = mesh.geometry.clone().scale(1, 40, 1);
  const crowd = new SkinnedInstancedMesh(tall, mesh.material, boneTexture, 1);
  crowd.computeBoundingBox();
  expect(crowd.boundingBox!.max.y / 40).toBeCloseTo(1, 1);
});

test.each(ENCODINGS)('bounds hold influences beyond 0 and 1, of clips, all or one, %s', (encoding) => {
  const far = createMorphingStick();
  far.clips[0].tracks[1].values.set([-3, 5]);
  const near = createMorphingStick();
  const vertex = new Vector3();
  const top = (crowd: SkinnedInstancedMesh, index: number) => getVertexPosition(crowd, index, 2, vertex).y;
  const holds = (crowd: SkinnedInstancedMesh) => {
    crowd.updateMatrixWorld(true);
    crowd.computeBoundingBox();
    crowd.computeBoundingSphere();
    const views = crowd.crowd.boundsOfPoses(new Box3());
    for (let i = 0; i < crowd.count; i++) {
      for (let v = 0; v < 3; v++) {
        getVertexPosition(crowd, i, v, vertex);
        expect(crowd.boundingBox!.distanceToPoint(vertex)).toBeLessThan(1e-5);
        expect(crowd.boundingSphere!.distanceToPoint(vertex)).toBeLessThan(1e-5);
        expect(views.distanceToPoint(vertex)).toBeLessThan(1e-5);
      }
    }
    return views.getSize(new Vector3()).y;
  };

  const crowdOf = ({ root, clips }: Stick) =>
    new SkinnedInstancedMesh(bakeCharacter(root, clips, { encoding: encodingOf(encoding) }), 2);
  const played = crowdOf(far);
  played.play(0, 0, { time: 0 }).play(1, 0, { time: 0.999 });
  expect(top(played, 1)).toBeGreaterThan(9);
  expect(top(played, 0)).toBeLessThan(-4.9);
  holds(played);

  const crowd = crowdOf(near);
  const before = holds(crowd);
  expect(before / 3).toBeCloseTo(1, 1);
  // As all have it.
  (crowd.morphTargetInfluences as number[])[0] = 4;
  crowd.play(0, 0, { time: 0.999 });
  expect(top(crowd, 0)).toBeGreaterThan(9);
  const shared = holds(crowd);
  // As one has it: by a name, and by an object as of three.js.
  morphsOf(crowd).setInfluenceAt(1, 'Long', -6);
  expect(top(crowd, 1)).toBeLessThan(-10);
  expect(holds(crowd)).toBeGreaterThan(shared);
  (near.mesh.morphTargetInfluences as number[])[0] = 20;
  morphsOf(crowd);
  crowd.setMorphAt(1, near.mesh);
  expect(top(crowd, 1)).toBeGreaterThan(38);
  holds(crowd);
  holds(crowd.clone());
  // Also where it was no number when it was first asked for.
  const broken = crowdOf(near);
  (broken.morphTargetInfluences as number[])[0] = Number.NaN;
  broken.computeBoundingBox();
  (broken.morphTargetInfluences as number[])[0] = -6;
  holds(broken);
  broken.morphTargetInfluences = [4];
  holds(broken);
});
