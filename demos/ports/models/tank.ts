import { MeshStandardMaterial, SkinnedMesh } from 'three';
import { mergeBufferGeometries } from 'three-stdlib';
import { type BonePlan, createFigure, createPiece, type Model, type Shape } from './boxes.js';
import { recordBones, wave } from './recordBones.js';

const STEEL = 0x5c6468;
const RUBBER = 0x22262a;
const WHITE = 0xffffff;

/** Sides of a wheel that show that it turns. */
const WHEEL: readonly Shape[] = [
  { size: [0.2, 0.42, 0.42], color: RUBBER, round: true },
  { size: [0.22, 0.12, 0.38], color: STEEL },
];

const WHEELS = [-1, 1].flatMap((side) =>
  [-0.62, 0, 0.62].map((z, i): BonePlan => {
    const name = `Wheel_${side < 0 ? 'R' : 'L'}${i}`;
    return { name, parent: 'Hull', at: [side * 0.5, -0.19, z], shapes: WHEEL };
  }),
);

const PLAN: readonly BonePlan[] = [
  { name: 'Hull', at: [0, 0.4, 0], shapes: [{ size: [0.85, 0.3, 1.7], color: STEEL }] },
  {
    name: 'Turret',
    parent: 'Hull',
    at: [0, 0.24, -0.1],
    shapes: [{ size: [0.42, 0.1, 0.5], at: [0, -0.06, 0], color: STEEL }],
  },
  {
    name: 'Barrel',
    parent: 'Turret',
    at: [0, 0.12, 0.3],
    shapes: [{ size: [0.1, 0.1, 1], at: [0, 0, 0.45], color: RUBBER }],
  },
  ...WHEELS,
];

/** What wears the colour of a team, by its bone. */
const PAINTED: readonly (Shape & { bone: string })[] = [
  { bone: 'Turret', size: [0.6, 0.26, 0.72], at: [0, 0.12, 0], color: WHITE },
  { bone: 'Hull', size: [0.7, 0.06, 0.5], at: [0, 0.17, 0.58], color: WHITE },
];

/** A tank of steel whose turret and front, the mesh 'Uniform', are painted. Its clips, Idle and Drive, leave Turret and Barrel alone. */
export function createTank(): Model {
  const steel = new MeshStandardMaterial({ name: 'Steel', vertexColors: true, roughness: 0.6 });
  const scene = createFigure('Tank', PLAN, steel);
  const body = scene.getObjectByName('Body') as SkinnedMesh;
  const { bones } = body.skeleton;
  const painted = mergeBufferGeometries(
    PAINTED.map(({ bone, ...shape }) => {
      const index = PLAN.findIndex(({ name }) => name === bone);
      return createPiece(shape, index).applyMatrix4(bones[index].matrixWorld);
    }),
  );
  if (painted === null) throw new Error('The painted pieces of the tank do not fit together.');
  const uniform = new SkinnedMesh(painted, new MeshStandardMaterial({ name: 'Paint', roughness: 0.5 }));
  uniform.name = 'Uniform';
  uniform.castShadow = true;
  uniform.receiveShadow = true;
  scene.add(uniform);
  uniform.bind(body.skeleton, body.bindMatrix);

  const wheels = (angle: number) =>
    Object.fromEntries(WHEELS.map(({ name }) => [name, [angle, 0, 0] as const]));
  return {
    scene,
    animations: [
      recordBones('Idle', 0.5, PLAN, (phase) => ({
        turn: { Hull: [0.3 * wave(phase), 0, 0.5 * wave(2 * phase)] },
        move: { Hull: [0, 0.006 * wave(3 * phase), 0] },
      })),
      recordBones('Drive', 1, PLAN, (phase) => ({
        turn: { Hull: [1.2 * wave(phase), 0, 0.8 * wave(2 * phase)], ...wheels(360 * phase) },
        move: { Hull: [0, 0.015 * wave(3 * phase), 0] },
      })),
    ],
  };
}
