import {
  type AnimationClip,
  AnimationMixer,
  Box3,
  Matrix4,
  type MeshStandardMaterial,
  type Object3D,
  type SkinnedMesh,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';
import { writeCharacter } from '../../../lib/files/writeCharacter.js';
import { MISSING } from '../../setup/missingNote.mjs';
import { loadFile } from '../../support/bakedFiles.js';
import { BUILT_IN, hasCharacter, loadCharacter } from '../../support/characters.js';
import {
  bakeCharacter,
  CrowdKinds,
  getSocketMatrix,
  getVertexPosition,
  retargetBody,
  retargetClips,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { characterHeight, Reference } from '../../support/reference.js';

/** How far limbs may point elsewhere, and soles sink, as a share of the height. Measured: 1.95, and 0.35 %. */
const DEGREES = 2.5;
const SUNK = 0.005;

/** How far limbs may point elsewhere where knees bend, and how high soles are that stand, and may be off then. */
const BENT = 20;
const STANDING = 0.01;
const FLOATING = 0.005;

const CESIUM = 'CesiumMan.glb';
const LIMBS = ['upperArm', 'lowerArm', 'hand', 'upperLeg', 'lowerLeg', 'foot'];
const upper = (limb: string) => limb[0].toUpperCase() + limb.slice(1);
const joints = { L: ['_L__4_', '_L__3_', '_L__2_', 1, 2, 3], R: ['_R', '_R__2_', '_R__3_', 1, 2, 3] };
/** What the models call a limb of a side, which clips are tried, and which meshes touch the ground. */
const BODIES: [string, (limb: string, side: 'L' | 'R') => string, clips: RegExp, feet: RegExp][] = [
  [BUILT_IN, (limb, side) => (side === 'L' ? 'Left' : 'Right') + upper(limb), /Walk|Run|Wave/, /Body/],
  [
    'Knight.glb',
    (limb, side) => (limb === 'hand' ? 'wrist' : limb).toLowerCase() + side.toLowerCase(),
    /^(Walk|Runn)ing_A$|^1H_Melee_Attack_Chop/,
    /Leg/,
  ],
  [
    'RobotExpressive.glb',
    (limb, side) => (limb === 'hand' ? 'Palm2' : upper(limb)) + side,
    /Walking|Running|Punch/,
    /Leg|Foot/,
  ],
  [
    CESIUM,
    (limb, side) =>
      `${/Leg|foot/.test(limb) ? `leg_joint_${side}_` : 'Skeleton_arm_joint'}${joints[side][LIMBS.indexOf(limb)]}`,
    /./,
    /Man/,
  ],
];
type Body = (typeof BODIES)[number];
/** Those whose feet stand as the other's do where knees bend. */
const HUMAN = [BUILT_IN, CESIUM];

function namesOf([file, nameOf]: Body) {
  const entries = LIMBS.flatMap((limb) =>
    (['L', 'R'] as const).map((side) => [limb + side, nameOf(limb, side)] as const),
  );
  const head = file === CESIUM ? [['head', 'Skeleton_neck_joint_2'] as const] : [];
  return Object.fromEntries([...entries, ...head]);
}

const told = (body: Body) => (body[0] === CESIUM ? namesOf(body) : {});
const PAIRS = BODIES.flatMap((from) => {
  const others = BODIES.filter((to) => to !== from);
  return others.map((to) => {
    const missing = [from[0], to[0]].find((file) => !hasCharacter(file));
    const note = missing ? `: ${missing} ${MISSING}` : '';
    return { from, to, note, names: { from: told(from), to: told(to) } };
  });
});

/** The ways of all limbs at moments of a clip, and how low and how high the feet come, or all of it at rest. */
function look(root: Object3D, clip: AnimationClip | null, body: Body) {
  const names = namesOf(body);
  const at = (slot: string) => root.getObjectByName(names[slot])!.getWorldPosition(new Vector3());
  const found = { ways: [] as Vector3[], soles: [] as number[], low: Infinity, high: -Infinity };
  const mixer = new AnimationMixer(root);
  if (clip !== null) mixer.clipAction(clip).play();
  for (let i = 0; i < (clip === null ? 1 : 20); i++) {
    if (clip !== null) mixer.setTime((i / 20) * clip.duration);
    root.updateMatrixWorld(true);
    for (const side of ['L', 'R'])
      for (const k of [0, 1, 3, 4])
        found.ways.push(
          at(LIMBS[k + 1] + side)
            .sub(at(LIMBS[k] + side))
            .normalize(),
        );
    const soles = [Infinity, Infinity];
    root.traverse((object) => {
      const { isMesh, geometry, name, matrixWorld } = object as SkinnedMesh;
      for (
        let v = 0;
        isMesh && (clip === null || body[3].test(name)) && v < geometry.attributes.position.count;
        v += 3
      ) {
        const { x, y } = (object as SkinnedMesh)
          .getVertexPosition(v, new Vector3())
          .applyMatrix4(matrixWorld);
        soles[+(x > 0)] = Math.min(soles[+(x > 0)], y);
        found.high = Math.max(found.high, y);
      }
    });
    found.soles.push(...soles);
    found.low = Math.min(found.low, ...soles);
  }
  mixer.stopAllAction();
  return found;
}

for (const { from, to, names, note } of PAIRS) {
  test.skipIf(note)(`clips of ${from[0]} fit ${to[0]}${note}`, async () => {
    const [source, target] = [await loadCharacter(from[0]), await loadCharacter(to[0])];
    const clips = source.clips.filter(({ name }) => from[2].test(name));
    const rest = look(target.root, null, to);
    const height = rest.high - rest.low;
    const made = retargetClips(clips, source.root, target.root, { names });
    expect(look(target.root, null, to)).toEqual(rest);
    expect(made.clips.length).toBeGreaterThan(0);
    const expectAlike = (clip: AnimationClip, i: number, degrees: number) => {
      const [found, wanted] = [look(target.root, clip, to), look(source.root, clips[i], from)];
      const angle = Math.max(...found.ways.map((way, k) => way.angleTo(wanted.ways[k]))) * (180 / Math.PI);
      expect(angle, clip.name).toBeLessThan(degrees);
      expect(-found.low / height, clip.name).toBeLessThan(SUNK);
      return found.soles.map((sole, k) => [sole / height, (made.scale * wanted.soles[k]) / height]);
    };
    made.clips.forEach((clip, i) => {
      expectAlike(clip, i, DEGREES);
    });
    if (HUMAN.includes(from[0]) && HUMAN.includes(to[0]))
      retargetClips(clips, source.root, target.root, { names, ik: true }).clips.forEach((clip, i) => {
        for (const [sole, other] of expectAlike(clip, i, BENT))
          if (other < STANDING) expect(Math.abs(sole - Math.max(0, other)), clip.name).toBeLessThan(FLOATING);
      });
    expect(() => bakeCharacter(target.root, made.clips)).not.toThrow();
    // Without a skin, a body is known by how its bones rest.
    source.root.traverse(({ children }) => {
      for (const child of [...children]) if ((child as SkinnedMesh).isMesh) child.removeFromParent();
    });
    const bare = retargetClips(clips, source.root, target.root, { names });
    for (const clip of bare.clips) {
      const { low } = look(target.root, clip, to);
      expect(Math.abs(low) / height, `${clip.name} without a skin`).toBeLessThan(SUNK);
    }
  });
}

test('who is no humanoid, or has no such node, is told', async () => {
  const { root, clips } = await loadCharacter(BUILT_IN);
  const [names, slots] = [{ to: { handL: 'Paw' } }, { from: { leftHand: 'LeftHand' } }];
  expect(() => retargetClips(clips, root, root, { names })).toThrow('names has "Paw" as handL; there are');
  expect(() => retargetClips(clips, root, root, { names: slots })).toThrow(
    'names has "LeftHand" as leftHand; there are head',
  );
  root.getObjectByName('LeftLowerArm')!.name = 'Branch';
  expect(() => retargetClips(clips, root, root)).toThrow('has no lowerArmL by the names of its nodes');
});

for (const [file] of BODIES.slice(0, 2)) {
  const title = `what viewers see of a baked file is the body of ${file}`;
  test.skipIf(!hasCharacter(file))(hasCharacter(file) ? title : `${title}: ${MISSING}`, async () => {
    const [{ root }, { root: like, clips }] = [await loadCharacter(file), await loadCharacter(BUILT_IN)];
    root.traverse((object) => {
      const { material } = object as { material?: MeshStandardMaterial };
      if (material) material.map = null;
    });
    const { scene } = await loadFile(writeCharacter(bakeCharacter(root, [])));
    const crowd = new SkinnedInstancedMesh(bakeCharacter(like, clips), 1);
    const kinds = new CrowdKinds(crowd);
    crowd.play(0, 'Walk', { time: 0.4 });
    const [own, seen] = [root, scene].map((body) => {
      const mesh = kinds.add(bakeCharacter(retargetBody(body, like).body, []));
      const { count } = mesh.geometry.attributes.position;
      const at = (i: number) => getVertexPosition(mesh, 0, i, new Vector3());
      return new Box3().setFromPoints(Array.from({ length: count }, (_, i) => at(i)));
    });
    expect(seen.min.distanceTo(own.min)).toBeLessThan(1e-5);
    expect(seen.max.distanceTo(own.max)).toBeLessThan(1e-5);
  });
}

/** Whose feet are below no leg, so that no other body can be carried by it. */
const APART = 'RobotExpressive.glb';
/** How far legs may be from where clips that are made for the body have them, as a share of the height. */
const OFF = 1e-4;
for (const { from, to, names, note } of PAIRS) {
  test.skipIf(note)(`${to[0]} is a kind of ${from[0]}${note}`, async () => {
    const [source, target] = [await loadCharacter(from[0]), await loadCharacter(to[0])];
    const clips = source.clips.filter(({ name }) => from[2].test(name));
    // Legs that clips move from the hips, clips of others do not.
    const isTurned = (name: string) => !/\.position$/.test(name) || /hips|root/i.test(name);
    for (const clip of clips) clip.tracks = clip.tracks.filter(({ name }) => isTurned(name));
    if (from[0] === APART) {
      expect(() => retargetBody(target.root, source.root, { names })).toThrow('of another branch; bake');
      return;
    }
    const rest = look(source.root, null, from);
    const own = retargetBody(target.root, source.root, { names });
    const made = retargetClips(clips, source.root, target.root, { names, ground: false });
    const crowd = new SkinnedInstancedMesh(bakeCharacter(source.root, clips), 1);
    const kinds = new CrowdKinds(crowd);
    const kind = kinds.add(bakeCharacter(own.body, []), { scale: own.scale });
    const standing = kinds.add(bakeCharacter(own.body, []), own);
    expect(look(source.root, null, from)).toEqual(rest);
    const { skinIndex } = standing.geometry.attributes;
    const { jointNames } = kind.boneTexture;
    const soles = Array.from({ length: skinIndex.count }, (_, i) => i).filter((i) =>
      /foot|toe|leg_joint_[LR]_[345]/i.test(jointNames[skinIndex.getX(i)]),
    );
    const heightOf = (i: number) => getVertexPosition(standing, 0, i, new Vector3()).y / height;
    const height = characterHeight(target.root);
    const [carrying, other] = [from, to].map(namesOf);
    const socket = (slot: string) =>
      new Vector3().setFromMatrixPosition(getSocketMatrix(kind, 0, carrying[slot], new Matrix4()));
    made.clips.forEach((clip, at) => {
      // At keys: feet that are below no leg go straight from one to the next in clips that are made for the body.
      const { times } = clip.tracks[0];
      for (let i = 0; i < 5; i++) {
        const time = times[Math.floor((i * times.length) / 5)];
        crowd.play(0, clips[at].name, { time }).update(0);
        const low = Math.min(...soles.map(heightOf));
        expect(low, clip.name).toBeGreaterThan(-SUNK);
        const { root } = new Reference(target.root, new Matrix4()).pose(clip, time);
        const node = (slot: string) => root.getObjectByName(other[slot])!.getWorldPosition(new Vector3());
        for (const side of ['L', 'R'])
          for (const k of [0, 1, 3, 4]) {
            const [a, b] = [LIMBS[k] + side, LIMBS[k + 1] + side];
            if (![a, b].every((slot) => jointNames.includes(carrying[slot]))) continue;
            if (k > 2) expect(socket(b).distanceTo(node(b)) / height, `${clip.name} ${b}`).toBeLessThan(OFF);
            const [way, wanted] = [socket(b).sub(socket(a)), node(b).sub(node(a))];
            expect(way.angleTo(wanted) * (180 / Math.PI), `${clip.name} ${a}`).toBeLessThan(DEGREES);
          }
      }
    });
  });
}
