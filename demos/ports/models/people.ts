import { MeshStandardMaterial, SkinnedMesh, Vector3 } from 'three';
import { type Motion, recordClip } from '../../character/clips.js';
import type { Palette } from '../../character/geometry.js';
import { ellipsoid, ShellBuilder } from '../../character/ShellBuilder.js';
import type { BoneName } from '../../character/skeleton.js';
import { createCharacter } from '../../character.js';
import type { Model } from './boxes.js';

/** Few corners: there are many people, and some of them far away. */
const DETAIL = 0.4;

const bow = (phase: number): number => Math.sin(Math.PI * phase);
const ease = (phase: number): number => phase * phase * (3 - 2 * phase);

const attack: Motion = (pose, phase) => {
  const raised = bow(Math.min(1, phase / 0.55));
  const down = bow(Math.max(0, (phase - 0.4) / 0.6));
  pose.turn('Spine', 8 * down, -14 * raised + 18 * down);
  pose.turn('Chest', -6 * raised + 12 * down, -16 * raised + 22 * down);
  pose.arm('Right', { spread: 30, swing: 20 + 130 * raised + 40 * down, elbow: 40 + 60 * raised });
  pose.arm('Left', { spread: 20, swing: 40, elbow: 95, palm: 40 });
};

const hit: Motion = (pose, phase) => {
  const back = bow(phase);
  pose.hips.add({ x: 0, y: -0.03 * back, z: -0.06 * back });
  pose.turn('Spine', -16 * back, 10 * back);
  pose.turn('Chest', -14 * back);
  pose.turn('Head', 18 * back);
  for (const side of ['Left', 'Right'] as const) {
    pose.arm(side, { spread: 10 + 30 * back, swing: 20 * back, elbow: 16 + 50 * back });
    pose.foot(side, { x: 0.11, yaw: 10 });
  }
};

/** Falls on its back, and stays there. */
const die: Motion = (pose, phase) => {
  const fallen = ease(Math.min(1, phase * 1.15));
  const limp = ease(phase);
  pose.hips.add({ x: 0, y: -0.8 * fallen, z: -0.25 * fallen });
  pose.turn('Hips', -86 * fallen);
  pose.turn('Spine', 22 * bow(phase) - 4 * limp);
  pose.turn('Head', 30 * bow(phase), 25 * limp);
  for (const side of ['Left', 'Right'] as const) {
    const sign = side === 'Left' ? 1 : -1;
    pose.arm(side, { spread: 10 + 60 * limp, swing: 40 * bow(phase), elbow: 12 + 20 * bow(phase) });
    pose.turn(`${side}UpperLeg`, -35 * bow(phase) + 4 * limp, sign * 12 * limp, -sign * 8 * limp);
    pose.turn(`${side}LowerLeg`, 50 * bow(phase) + 6 * limp);
  }
};

function createPerson(name: string, colors: Partial<Palette>): Model {
  const { root, clips } = createCharacter({ colors, detail: DETAIL });
  root.name = name;
  const moves = [
    recordClip('Attack', 0.9, attack),
    recordClip('Hit', 0.4, hit),
    recordClip('Die', 1.3, die, 0, false),
  ];
  return { scene: root, animations: [...clips, ...moves] };
}

/** Who comes to the arena: Attack, Hit and Die beside the clips of the built-in figure. */
export function createGoblin(): Model {
  return createPerson('Goblin', { skin: 0x86b84c, hair: 0x2a2a1c, shirt: 0x9c3f2c, trousers: 0x4a3a5c });
}

export function createVisitor(): Model {
  return createPerson('Visitor', { shirt: 0xf2efe6, trousers: 0x4a5a78, hair: 0x4b2f1c });
}

/** A soldier with helmet and vest, the mesh 'Uniform', in white, for teams to paint. */
export function createSoldier(): Model {
  const model = createPerson('Soldier', { shirt: 0x59614f, trousers: 0x4a4f44, hair: 0x2a2a1c });
  const body = model.scene.getObjectByName('Body') as SkinnedMesh;
  const on = (bone: BoneName) => () => ({ [bone]: 1 });
  const builder = new ShellBuilder(DETAIL)
    .add({
      color: 0xffffff,
      segments: 16,
      origin: new Vector3(0, 1.67, -0.005),
      rings: ellipsoid(0.01, 0.16, 0.15, 0.16, 8).slice(3),
      caps: [0.02, 0],
      weights: on('Head'),
    })
    .add({
      color: 0xffffff,
      segments: 16,
      squareness: 2.6,
      rings: [
        { at: 1.12, side: 0.17, up: 0.13 },
        { at: 1.22, side: 0.18, up: 0.14 },
        { at: 1.34, side: 0.17, up: 0.14 },
        { at: 1.4, side: 0.13, up: 0.11 },
      ],
      caps: [0.01, 0.01],
      weights: on('Chest'),
    });
  const paint = new MeshStandardMaterial({ name: 'Paint', roughness: 0.6 });
  const uniform = new SkinnedMesh(builder.build(), paint);
  uniform.name = 'Uniform';
  uniform.castShadow = true;
  uniform.receiveShadow = true;
  model.scene.add(uniform);
  uniform.bind(body.skeleton, body.bindMatrix);
  return model;
}
