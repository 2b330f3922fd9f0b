import { MeshStandardMaterial } from 'three';
import { type BonePlan, createFigure, type Model, type Shape, type Triple } from './boxes.js';
import { recordBones, wave } from './recordBones.js';

/** The measures of an animal on four legs, metres. */
interface Quadruped {
  name: string;
  /** Length of a leg, and of the body; how high and wide the body is. */
  leg: number;
  length: number;
  depth: number;
  neck: number;
  /** Degrees by which the neck leans forwards. */
  lean: number;
  coat: number;
  mane: number;
  hooves: number;
  /** Stripes or spots: bands around the body. */
  bands: number;
}

const LEGS = [
  ['FrontL', 1, 1, 0],
  ['FrontR', -1, 1, 0.5],
  ['HindL', 1, -1, 0.75],
  ['HindR', -1, -1, 0.25],
] as const;

function planOf({ leg, length, depth, neck, lean, coat, mane, hooves, bands }: Quadruped): BonePlan[] {
  const band = (i: number): Shape => ({
    size: [depth * 0.9, depth * 1.04, 0.05],
    at: [0, 0, (i / bands - 0.45) * length * 0.62],
    color: mane,
    round: true,
  });
  const radians = (lean * Math.PI) / 180;
  const top: Triple = [0, Math.cos(radians) * neck, Math.sin(radians) * neck];
  return [
    {
      name: 'Trunk',
      at: [0, leg + depth * 0.25, 0],
      shapes: [
        { size: [depth * 0.85, depth, length], color: coat, round: true },
        ...Array.from({ length: bands }, (_, i) => band(i)),
      ],
    },
    {
      name: 'Neck',
      parent: 'Trunk',
      at: [0, depth * 0.15, length * 0.38],
      shapes: [
        { size: [0.14, neck * 1.15, 0.2], at: [0, top[1] / 2, top[2] / 2], color: coat, round: true },
        { size: [0.05, neck, 0.08], at: [0, top[1] / 2, top[2] / 2 - 0.1], color: mane },
      ],
    },
    {
      name: 'Head',
      parent: 'Neck',
      at: top,
      shapes: [
        { size: [0.2, 0.22, 0.42], at: [0, 0.03, 0.12], color: coat, round: true },
        { size: [0.16, 0.13, 0.14], at: [0, -0.02, 0.28], color: hooves, round: true },
        { size: [0.04, 0.14, 0.03], at: [0.07, 0.15, -0.02], color: coat },
        { size: [0.04, 0.14, 0.03], at: [-0.07, 0.15, -0.02], color: coat },
      ],
    },
    {
      name: 'Tail',
      parent: 'Trunk',
      at: [0, depth * 0.2, -length * 0.46],
      shapes: [{ size: [0.05, 0.4, 0.05], at: [0, -0.2, 0], color: mane }],
    },
    ...LEGS.flatMap(([name, x, z]): BonePlan[] => [
      {
        name: `${name}Upper`,
        parent: 'Trunk',
        at: [x * depth * 0.26, -depth * 0.25, z * length * 0.32],
        shapes: [{ size: [0.15, leg * 0.6, 0.18], at: [0, -leg * 0.22, 0], color: coat, round: true }],
      },
      {
        name: `${name}Lower`,
        parent: `${name}Upper`,
        at: [0, -leg * 0.5, 0],
        shapes: [
          { size: [0.09, leg * 0.5, 0.1], at: [0, -leg * 0.22, 0], color: coat },
          { size: [0.11, leg * 0.08, 0.13], at: [0, -leg * 0.46, 0.01], color: hooves },
        ],
      },
    ]),
  ];
}

function createQuadruped(measures: Quadruped): Model {
  const plan = planOf(measures);
  const material = new MeshStandardMaterial({ name: 'Coat', vertexColors: true, roughness: 0.85 });
  const gait = (reach: number, bend: number) => (phase: number) =>
    Object.fromEntries(
      LEGS.flatMap(([name, , , shift]): [string, Triple][] => [
        [`${name}Upper`, [reach * wave(phase + shift), 0, 0]],
        [`${name}Lower`, [bend * Math.max(0, wave(phase + shift + 0.25)), 0, 0]],
      ]),
    );
  const walk = gait(24, 40);
  const gallop = gait(42, 75);
  return {
    scene: createFigure(measures.name, plan, material),
    animations: [
      recordBones('Idle', 2.5, plan, (phase) => ({
        turn: {
          Neck: [3 * wave(phase), 8 * wave(phase + 0.3), 0],
          Head: [4 * wave(2 * phase), 10 * wave(phase), 0],
          Tail: [6, 0, 25 * wave(2 * phase)],
        },
        move: { Trunk: [0, 0.01 * wave(phase), 0] },
      })),
      recordBones('Graze', 3, plan, (phase) => ({
        turn: {
          Neck: [85 - measures.lean * 0.3 + 5 * wave(phase), 12 * wave(phase + 0.2), 0],
          Head: [20 + 8 * wave(3 * phase), 0, 0],
          Tail: [6, 0, 15 * wave(2 * phase)],
        },
      })),
      recordBones('Walk', 1.25, plan, (phase) => ({
        turn: {
          Trunk: [1.5 * wave(2 * phase), 0, 1.5 * wave(phase)],
          Neck: [5 * wave(2 * phase + 0.2), 0, 0],
          Head: [-4 * wave(2 * phase + 0.2), 0, 0],
          Tail: [12, 0, 12 * wave(phase)],
          ...walk(phase),
        },
        move: { Trunk: [0, 0.02 * wave(2 * phase), 0] },
      })),
      recordBones('Run', 0.625, plan, (phase) => ({
        turn: {
          Trunk: [6 * wave(phase), 0, 0],
          Neck: [12 + 10 * wave(phase + 0.2), 0, 0],
          Head: [-8 * wave(phase + 0.2), 0, 0],
          Tail: [45, 0, 8 * wave(phase)],
          ...gallop(phase),
        },
        move: { Trunk: [0, 0.08 * wave(phase + 0.2), 0] },
      })),
    ],
  };
}

export function createZebra(): Model {
  return createQuadruped({
    name: 'Zebra',
    leg: 0.75,
    length: 1.3,
    depth: 0.55,
    neck: 0.55,
    lean: 35,
    coat: 0xe9e6df,
    mane: 0x24211f,
    hooves: 0x2b2725,
    bands: 6,
  });
}

export function createGiraffe(): Model {
  return createQuadruped({
    name: 'Giraffe',
    leg: 1.45,
    length: 1.35,
    depth: 0.65,
    neck: 1.7,
    lean: 18,
    coat: 0xd9a95a,
    mane: 0x8a5a2b,
    hooves: 0x4a3524,
    bands: 5,
  });
}

const PENGUIN: readonly BonePlan[] = [
  {
    name: 'Trunk',
    at: [0, 0.38, 0],
    shapes: [
      { size: [0.36, 0.64, 0.34], color: 0x23272e, round: true },
      { size: [0.28, 0.52, 0.3], at: [0, -0.03, 0.05], color: 0xf4f2ea, round: true },
    ],
  },
  {
    name: 'Head',
    parent: 'Trunk',
    at: [0, 0.3, 0.02],
    shapes: [
      { size: [0.24, 0.24, 0.24], at: [0, 0.06, 0], color: 0x23272e, round: true },
      { size: [0.06, 0.05, 0.18], at: [0, 0.04, 0.15], color: 0xe8902c },
    ],
  },
  ...([-1, 1] as const).flatMap((side): BonePlan[] => {
    const name = side > 0 ? 'L' : 'R';
    return [
      {
        name: `Wing${name}`,
        parent: 'Trunk',
        at: [side * 0.17, 0.16, 0],
        shapes: [{ size: [0.04, 0.4, 0.15], at: [side * 0.02, -0.18, 0], color: 0x23272e }],
      },
      {
        name: `Foot${name}`,
        parent: 'Trunk',
        at: [side * 0.09, -0.3, 0.02],
        shapes: [{ size: [0.12, 0.06, 0.2], at: [0, -0.05, 0.05], color: 0xe8902c }],
      },
    ];
  }),
];

const wings = (angle: number): Record<string, Triple> => ({ WingL: [0, 0, angle], WingR: [0, 0, -angle] });

/** Its clip Walk waddles; Run hops. */
export function createPenguin(): Model {
  const material = new MeshStandardMaterial({ name: 'Feathers', vertexColors: true, roughness: 0.6 });
  return {
    scene: createFigure('Penguin', PENGUIN, material),
    animations: [
      recordBones('Idle', 2, PENGUIN, (phase) => ({
        turn: { Head: [5 * wave(2 * phase), 30 * wave(phase), 0], ...wings(8 + 4 * wave(phase)) },
      })),
      recordBones('Graze', 1.5, PENGUIN, (phase) => ({
        turn: { Trunk: [35 + 6 * wave(phase), 0, 0], Head: [20 * wave(2 * phase), 0, 0], ...wings(30) },
      })),
      recordBones('Walk', 0.75, PENGUIN, (phase) => ({
        turn: {
          Trunk: [0, 10 * wave(phase), 12 * wave(phase + 0.25)],
          Head: [0, -8 * wave(phase), -10 * wave(phase + 0.25)],
          FootL: [-30 * Math.max(0, wave(phase)), 0, 0],
          FootR: [-30 * Math.max(0, -wave(phase)), 0, 0],
          ...wings(25 + 10 * wave(2 * phase)),
        },
      })),
      recordBones('Run', 0.5, PENGUIN, (phase) => ({
        turn: { Trunk: [12, 0, 0], Head: [-10, 0, 0], ...wings(55 + 30 * wave(phase)) },
        move: { Trunk: [0, 0.14 * Math.max(0, wave(phase)), 0] },
      })),
    ],
  };
}
