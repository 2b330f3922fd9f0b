import { type AnimationClip, AnimationMixer, type Object3D, type SkinnedMesh, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { MISSING } from '../../setup/missingNote.mjs';
import { BUILT_IN, hasCharacter, loadCharacter } from '../../support/characters.js';
import { type BodyNames, bakeCharacter, retargetClips } from '../../support/library.js';

/** How far limbs may point elsewhere, and soles sink, as a share of the height. Measured: 1.95, and 0.35 %. */
const DEGREES = 2.5;
const SUNK = 0.005;

const LIMBS = ['upperArm', 'lowerArm', 'upperLeg', 'lowerLeg'];
const ENDS = ['lowerArm', 'hand', 'lowerLeg', 'foot'];
/** Where the models' own names of joints are, by slot and side. */
interface Body {
  nameOf(slot: string, side: 'L' | 'R'): string;
  clips: string[];
  feet: RegExp;
  /** Names that the retargeting is told. */
  told?: BodyNames;
}

const capital = (slot: string) => slot[0].toUpperCase() + slot.slice(1);
const CESIUM: BodyNames = {
  head: 'Skeleton_neck_joint_2',
  upperArmL: 'Skeleton_arm_joint_L__4_',
  lowerArmL: 'Skeleton_arm_joint_L__3_',
  handL: 'Skeleton_arm_joint_L__2_',
  upperArmR: 'Skeleton_arm_joint_R',
  lowerArmR: 'Skeleton_arm_joint_R__2_',
  handR: 'Skeleton_arm_joint_R__3_',
  ...Object.fromEntries(
    Object.entries({ upperLeg: 1, lowerLeg: 2, foot: 3, toes: 5 }).flatMap(([slot, number]) =>
      ['L', 'R'].map((side) => [slot + side, `leg_joint_${side}_${number}`]),
    ),
  ),
};

const BODIES: Record<string, Body> = {
  [BUILT_IN]: {
    nameOf: (slot, side) => (side === 'L' ? 'Left' : 'Right') + capital(slot),
    clips: ['Walk', 'Run', 'Wave'],
    feet: /Body/,
  },
  'Knight.glb': {
    nameOf: (slot, side) => (slot.replace('hand', 'wrist') + side).toLowerCase(),
    clips: ['Walking_A', 'Running_A', '1H_Melee_Attack_Chop'],
    feet: /Leg/,
  },
  'RobotExpressive.glb': {
    nameOf: (slot, side) => capital(slot.replace('hand', 'palm2')) + side,
    clips: ['Walking', 'Running', 'Punch'],
    feet: /Leg|Foot/,
  },
  'CesiumMan.glb': {
    nameOf: (slot, side) => CESIUM[slot + side] as string,
    clips: ['Anim_0'],
    feet: /Man/,
    told: CESIUM,
  },
};

/** Calls back at some moments of a clip. */
function play(root: Object3D, clip: AnimationClip, each: () => void): void {
  const mixer = new AnimationMixer(root);
  mixer.clipAction(clip).play();
  for (let i = 0; i < 20; i++) {
    mixer.setTime((i / 20) * clip.duration);
    root.updateMatrixWorld(true);
    each();
  }
  mixer.stopAllAction();
}

/** The ways of all limbs at those moments. */
function limbsOf(root: Object3D, clip: AnimationClip, { nameOf }: Body): Vector3[] {
  const ways: Vector3[] = [];
  play(root, clip, () => {
    for (const side of ['L', 'R'] as const)
      LIMBS.forEach((limb, i) => {
        const [from, to] = [limb, ENDS[i]].map((slot) =>
          root.getObjectByName(nameOf(slot, side))!.getWorldPosition(new Vector3()),
        );
        ways.push(to.sub(from).normalize());
      });
  });
  return ways;
}

/** How low and how high vertices of some meshes come, at rest or at those moments. */
function heights(root: Object3D, clip: AnimationClip | null, meshes = /./): { low: number; high: number } {
  const found = { low: Infinity, high: -Infinity };
  const at = new Vector3();
  const look = () =>
    root.traverse((object) => {
      const mesh = object as SkinnedMesh;
      const isLooked = mesh.isMesh && meshes.test(mesh.name);
      for (let i = 0; isLooked && i < mesh.geometry.attributes.position.count; i += 3) {
        const { y } = mesh.getVertexPosition(i, at).applyMatrix4(mesh.matrixWorld);
        found.low = Math.min(found.low, y);
        found.high = Math.max(found.high, y);
      }
    });
  root.updateMatrixWorld(true);
  if (clip === null) look();
  else play(root, clip, look);
  return found;
}

describe.each(Object.keys(BODIES))('clips of %s', (one) => {
  for (const other of Object.keys(BODIES)) {
    if (one === other) continue;
    const missing = [one, other].find((name) => !hasCharacter(name));
    test.skipIf(missing !== undefined)(`fit ${other}${missing ? ` ${missing} ${MISSING}` : ''}`, async () => {
      const [source, target] = [await loadCharacter(one), await loadCharacter(other)];
      const bodies = [BODIES[one], BODIES[other]];
      const [from, to] = bodies.map(({ told = {} }) => told);
      const clips = source.clips.filter(({ name }) => bodies[0].clips.includes(name));
      expect(clips.length).toBe(bodies[0].clips.length);
      const { low, high } = heights(target.root, null);
      const made = retargetClips(clips, source.root, target.root, { names: { from, to } });
      expect(heights(target.root, null)).toEqual({ low, high });
      made.clips.forEach((clip, i) => {
        const ways = limbsOf(source.root, clips[i], bodies[0]);
        const others = limbsOf(target.root, clip, bodies[1]);
        const angle = Math.max(...ways.map((way, k) => way.angleTo(others[k]))) * (180 / Math.PI);
        expect(angle, clip.name).toBeLessThan(DEGREES);
        const sunk = -heights(target.root, clip, bodies[1].feet).low / (high - low);
        expect(sunk, clip.name).toBeLessThan(SUNK);
      });
      expect(() => bakeCharacter(target.root, made.clips)).not.toThrow();
    });
  }
});

test('who is no humanoid, or has no such node, is told', async () => {
  const { root, clips } = await loadCharacter(BUILT_IN);
  const names = { to: { handL: 'Paw' } };
  expect(() => retargetClips(clips, root, root, { names })).toThrow('names has "Paw" as handL; there are');
  root.getObjectByName('LeftLowerArm')!.name = 'Branch';
  expect(() => retargetClips(clips, root, root)).toThrow('has no lowerArmL by the names of its nodes');
  const branch = { lowerArmL: 'Branch' };
  const made = retargetClips([], root, root, { names: { from: branch, to: branch } });
  expect(made).toEqual({ clips: [], scale: 1, unmatched: { from: [], to: [] } });
});
