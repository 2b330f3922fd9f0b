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
/** Where the models' own names of joints are: what a limb of the left is called. */
const names = (list: string, left: (name: string) => string, right: (name: string) => string): BodyNames =>
  Object.fromEntries(
    list.split(' ').flatMap((one) => {
      const [slot, name] = one.split(':');
      return [
        [`${slot}L`, left(name)],
        [`${slot}R`, right(name)],
      ];
    }),
  );
const BODIES: Record<string, { names: BodyNames; clips: string[]; feet: RegExp; isTold?: boolean }> = {
  [BUILT_IN]: {
    names: names(
      'upperArm:UpperArm lowerArm:LowerArm hand:Hand upperLeg:UpperLeg lowerLeg:LowerLeg foot:Foot',
      (name) => `Left${name}`,
      (name) => `Right${name}`,
    ),
    clips: ['Walk', 'Run', 'Wave'],
    feet: /Body/,
  },
  'Knight.glb': {
    names: names(
      'upperArm:upperarm lowerArm:lowerarm hand:wrist upperLeg:upperleg lowerLeg:lowerleg foot:foot',
      (name) => `${name}l`,
      (name) => `${name}r`,
    ),
    clips: ['Walking_A', 'Running_A', '1H_Melee_Attack_Chop'],
    feet: /Leg/,
  },
  'RobotExpressive.glb': {
    names: names(
      'upperArm:UpperArm lowerArm:LowerArm hand:Palm2 upperLeg:UpperLeg lowerLeg:LowerLeg foot:Foot',
      (name) => `${name}L`,
      (name) => `${name}R`,
    ),
    clips: ['Walking', 'Running', 'Punch'],
    feet: /Leg|Foot/,
  },
  'CesiumMan.glb': {
    names: {
      head: 'Skeleton_neck_joint_2',
      ...names(
        'upperArm:4 lowerArm:3 hand:2',
        (name) => `Skeleton_arm_joint_L__${name}_`,
        (name) => `Skeleton_arm_joint_R${{ 4: '', 3: '__2_', 2: '__3_' }[name]}`,
      ),
      ...names(
        'upperLeg:1 lowerLeg:2 foot:3 toes:5',
        (name) => `leg_joint_L_${name}`,
        (name) => `leg_joint_R_${name}`,
      ),
    },
    clips: ['Anim_0'],
    feet: /Man/,
    isTold: true,
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
function limbsOf(root: Object3D, clip: AnimationClip, body: BodyNames): Vector3[] {
  const at = (slot: string) => (root.getObjectByName(body[slot]) as Object3D).getWorldPosition(new Vector3());
  const ways: Vector3[] = [];
  play(root, clip, () => {
    for (const side of ['L', 'R'])
      for (const [i, limb] of LIMBS.entries())
        ways.push(
          at(ENDS[i] + side)
            .sub(at(limb + side))
            .normalize(),
        );
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

describe.each(Object.keys(BODIES))('clips of %s', (from) => {
  for (const to of Object.keys(BODIES)) {
    if (from === to) continue;
    const missing = [from, to].find((name) => !hasCharacter(name));
    test.skipIf(missing !== undefined)(`fit ${to}${missing ? ` ${missing} ${MISSING}` : ''}`, async () => {
      const [source, target] = [await loadCharacter(from), await loadCharacter(to)];
      const bodies = [BODIES[from], BODIES[to]];
      const told = bodies.map(({ names, isTold }) => (isTold ? names : {}));
      const clips = source.clips.filter(({ name }) => BODIES[from].clips.includes(name));
      expect(clips.length).toBe(BODIES[from].clips.length);
      const { low, high } = heights(target.root, null);
      const made = retargetClips(clips, source.root, target.root, { names: { from: told[0], to: told[1] } });
      expect(heights(target.root, null)).toEqual({ low, high });
      made.clips.forEach((clip, i) => {
        const ways = limbsOf(source.root, clips[i], bodies[0].names);
        const others = limbsOf(target.root, clip, bodies[1].names);
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
  expect(
    retargetClips([], root, root, { names: { from: { lowerArmL: 'Branch' }, to: { lowerArmL: 'Branch' } } }),
  ).toEqual({
    clips: [],
    scale: 1,
    unmatched: { from: [], to: [] },
  });
});
