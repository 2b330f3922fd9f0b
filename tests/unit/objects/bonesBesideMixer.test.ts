import { SkinnedInstance } from 'skinned-instanced-mesh';
import {
  AnimationMixer,
  type Euler,
  Group,
  type KeyframeTrack,
  LoopRepeat,
  Matrix4,
  type Object3D,
  Quaternion,
  Scene,
  Vector3,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { expect, test } from 'vitest';
import { localError, placeError, uniqueNames } from '../../support/boneErrors.js';
import { describeCharacters, loadCharacter } from '../../support/characters.js';
import { editsOf } from '../../support/features.js';
import { bakeCharacter, getSocketMatrix, SkinnedInstancedMesh } from '../../support/library.js';
import { random } from '../../support/random.js';
import { characterHeight } from '../../support/reference.js';
import { THOROUGH } from '../../support/thorough.js';

/** Of the height, in radians, and as a share of a scale: edits are stored in float32. */
const EXACT = 1e-5;

/** What programs write to bones, given a number by chance. */
const WRITES: ((bone: Object3D, next: () => number) => void)[] = [
  (bone, next) => (bone.rotation.y += next() - 0.5),
  (bone, next) => bone.rotation.set(next(), 2 * next(), -next()),
  (bone, next) => {
    const turn = new Quaternion(next(), next(), next(), next()).normalize();
    bone.quaternion.copy(turn);
  },
  (bone, next) => bone.rotateX(next()),
  (bone, next) => (bone.position.x += 0.1 * next() * bone.position.length()),
  (bone, next) => bone.position.multiplyScalar(0.8 + 0.4 * next()),
  (bone, next) => bone.scale.setScalar(0.7 + 0.6 * next()),
  (bone, next) => (bone.scale.y *= 0.9 + 0.2 * next()),
];

interface Transform {
  position: number[];
  quaternion: number[];
  scale: number[];
}

function transformOf(root: Object3D, name: string): Transform {
  const { position, quaternion, scale } = root.getObjectByName(name)!;
  return { position: position.toArray(), quaternion: quaternion.toArray(), scale: scale.toArray() };
}

/**
 * Which properties a mixer has found to be others, and overwrites therefore. Where equal keys are mixed, or such as differ by
 * rounding, that is a matter of chance.
 */
function changes(before: Transform, now: Transform): Record<keyof Transform, 'by chance' | 'surely' | 'not'> {
  const change = (key: keyof Transform) => {
    const by = Math.max(
      ...now[key].map((value, i) => Math.abs(value - before[key][i]) / (1 + Math.abs(value))),
    );
    return by === 0 ? 'not' : by < 1e-6 ? 'by chance' : 'surely';
  };
  return { position: change('position'), quaternion: change('quaternion'), scale: change('scale') };
}

/**
 * Keeps one key of a track that holds a joint still, but for rounding errors. A mixer overwrites what was written to the bone as soon
 * as there is such an error, a crowd at once.
 */
function holdStill(track: KeyframeTrack, height: number): void {
  const { values, times } = track;
  const size = values.length / times.length;
  const slack = 1e-6 * (size === 3 ? height : 1);
  if (values.some((value, i) => Math.abs(value - values[i % size]) > slack)) return;
  track.times = times.slice(0, 1);
  track.values = values.slice(0, size);
}

describeCharacters((name) => {
  test.each(THOROUGH ? [2, 9, 12] : [2])(
    'seed %i: bones and sockets are as those of a SkinnedMesh',
    async (seed) => {
      const { root, clips: read } = await loadCharacter(name);
      const clips = read.map((clip) => clip.clone());
      const height = characterHeight(root);
      const moving = clips.filter(({ duration }) => duration > 0);
      for (const { tracks } of clips) for (const track of tracks) holdStill(track, height);
      const next = random(seed);
      const pick = <T>(from: readonly T[]) => from[Math.floor(next() * from.length)];
      const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), 0);
      const scene = new Scene().add(crowd);
      const clone = SkeletonUtils.clone(root) as Object3D;
      editsOf(crowd);
      const knight = new SkinnedInstance(crowd);
      const [ours, theirs] = [new Group().add(knight), new Group().add(clone)];
      scene.add(ours);
      for (const one of [ours, theirs]) {
        one.position.set(3, 1, -2);
        one.rotation.y = 1;
        one.scale.setScalar(1.7);
      }
      for (const one of [knight, clone]) {
        one.position.set(height, 0, 0.5 * height);
        one.rotation.set(0.1, 2, 0);
        one.scale.setScalar(0.8);
      }
      // One whose bones nobody writes to.
      const plain = SkeletonUtils.clone(root) as Object3D;
      const mixers = [clone, plain].map((one) => new AnimationMixer(one));
      for (const weight of [0.6, 0.4]) {
        const clip = pick(moving);
        const time = next() * clip.duration;
        for (const mixer of mixers) {
          const action = mixer.clipAction(clip).reset().setLoop(LoopRepeat, Infinity);
          action.setEffectiveWeight(weight).play().time = time;
        }
        crowd.play(knight.instanceId, clip.name, { weight, time });
      }
      crowd.update(0);
      for (const mixer of mixers) mixer.update(0);

      const names = uniqueNames(clone);
      const bones = knight.bones.filter((bone) => names.has(bone.name));
      expect(bones.length).toBeGreaterThan(3);
      const joints = crowd.boneTexture.jointNames.filter((joint) => names.has(joint));
      expect(joints.length).toBeGreaterThan(3);
      const twins = new Map(bones.map((bone) => [bone, clone.getObjectByName(bone.name)!]));
      // A program may hold on to these, and not ask for them again.
      const held = new Map(bones.map((bone) => [bone, bone.rotation]));
      for (let round = 0; round < 40; round++) {
        if (next() < 0.6) {
          const delta = next() < 0.2 ? 0 : 0.1 * next();
          const before = new Map([...twins].map(([bone]) => [bone, transformOf(plain, bone.name)]));
          crowd.update(delta);
          for (const mixer of mixers) mixer.update(delta);
          for (const [bone, twin] of twins) {
            const moved = changes(before.get(bone) as Transform, transformOf(plain, bone.name));
            if (moved.position === 'by chance') bone.position.copy(twin.position);
            if (moved.quaternion === 'by chance') bone.quaternion.copy(twin.quaternion);
            if (moved.scale === 'by chance') bone.scale.copy(twin.scale);
          }
        }
        for (let i = Math.floor(3 * next()); i > 0; i--) {
          const bone = pick(bones);
          const write = pick(WRITES);
          const seeds = next() * 1e6;
          const twin = twins.get(bone) as Object3D;
          // There, rounding errors make any angles of the other two.
          if (Math.abs(Math.abs(twin.rotation.y) - Math.PI / 2) < 0.05) continue;
          for (const one of [bone, twin]) write(one, random(seeds));
          if (next() < 0.3) for (const one of [held.get(bone), twin.rotation]) (one as Euler).x += 0.2;
        }
        ours.position.x = theirs.position.x = round;
        if (round % 3 > 0) continue;
        theirs.updateMatrixWorld(true);
        scene.updateMatrixWorld();
        for (const [bone, twin] of twins) {
          const what = `round ${round}, ${bone.name}`;
          expect(localError(bone, twin, height), what).toBeLessThan(EXACT);
          expect(placeError(bone.matrixWorld, twin.matrixWorld, height), what).toBeLessThan(5 * EXACT);
          if (joints.includes(bone.name)) {
            const socket = getSocketMatrix(crowd, knight.instanceId, bone.name, new Matrix4());
            expect(placeError(socket, twin.matrixWorld, height), `${what} as a socket`).toBeLessThan(
              5 * EXACT,
            );
          }
          expect(
            bone.getWorldPosition(new Vector3()).distanceTo(twin.getWorldPosition(new Vector3())) / height,
            what,
          ).toBeLessThan(EXACT);
        }
      }
    },
  );
});
