import {
  bakeCharacter,
  CrowdLevels,
  type PlayOptions,
  type SkinnedInstancedMesh,
} from 'skinned-instanced-mesh';
import { addLevelsOf, type LoadedCharacter } from 'skinned-instanced-mesh/files';
import {
  Color,
  Group,
  LoopOnce,
  Matrix4,
  type Mesh,
  type MeshStandardMaterial,
  Quaternion,
  Vector3,
} from 'three';
import { flutter } from '../lib/motions/flutter.js';
import { recolour } from '../lib/recolour.js';
import { createFlag } from '../meadow/plants.js';
import { front, random } from './land.js';

/** Soldiers along the front, and ranks behind it, of an army of 10,000. */
const ROWS = 170;
const RANKS = 59;
const MELEE = 3;
const ATTACKS = ['1H_Melee_Attack_Chop', '1H_Melee_Attack_Slice_Diagonal', '1H_Melee_Attack_Stab'];
const SHIELDS = ['Round_Shield', 'Rectangle_Shield', 'Rectangle_Shield', 'Spike_Shield'];
/** Tones of cloth in the two armies. */
const TONES = [
  [new Color(1, 1, 1), new Color(0.8, 0.88, 1.05), new Color(1.05, 1, 0.92)],
  [new Color(1, 1, 1), new Color(1, 1, 1), new Color(0.55, 0.5, 0.5), new Color(1.05, 1.5, 1.1)],
];
const SHIELD = new Color(0.35, 0.62, 1.5);
/** Parts that have the colour of the army, whatever the cloth. */
export const PAINTED: Record<string, Color> = {
  Knight_Helmet: new Color(0.62, 0.76, 1.08),
  Round_Shield: SHIELD,
  Rectangle_Shield: SHIELD,
  Spike_Shield: SHIELD,
};
const BODY = ['ArmLeft', 'ArmRight', 'Body', 'LegLeft', 'LegRight'];
const UP = new Vector3(0, 1, 0);
const _matrix = new Matrix4();

const pick = <T>(list: readonly T[]): T => list[Math.floor(random(0, list.length))];

/** What there is once for each renderer. */
export type Library = Pick<
  typeof import('skinned-instanced-mesh'),
  'SkinnedInstancedMesh' | 'InstanceParts' | 'InstanceMotions' | 'frames'
>;

/** Somebody in one of the armies; its place in the list of its army is the index of its instance. */
export interface Soldier {
  /** 0 is blue, to the left, and 1 red. */
  team: number;
  rank: number;
  x: number;
  z: number;
  turn: number;
  size: number;
  parts: string[];
  color: Color;
  clip: string;
  /** Seconds that it lies on the ground, then units that it has to run. */
  dead: number;
  run: number;
}

/** Knights become blue, rogues red. */
export function dyeTeams([knight, rogue]: readonly LoadedCharacter[]): void {
  recolour(knight, (h, s, l, x, y) => {
    const isCloth = (s > 0.45 && (h > 0.9 || h < 0.02)) || (x === 1 && y === 1) || (x === 0 && y === 2);
    if (isCloth) return [0.605, 0.8, Math.min(0.62, l * 0.75)];
    return h > 0.5 && h < 0.7 && l > 0.25 ? [0.6, s * 1.5, Math.min(1, l * 1.1)] : [h, s, l];
  });
  recolour(rogue, (h, s, l) => (h > 0.2 && h < 0.55 ? [0, s * 0.92, l * 0.92 + 0.03] : [h, s, l]));
}

/** Two armies, a crowd each; fewer soldiers are those nearest to where they meet. */
export class Armies extends Group {
  readonly crowds: SkinnedInstancedMesh[];
  readonly soldiers: Soldier[][];

  constructor(library: Library, characters: readonly LoadedCharacter[], count: number) {
    super();
    dyeTeams(characters);
    const places = Array.from({ length: ROWS * RANKS }, (_, i) => [i % ROWS, Math.floor(i / ROWS)]);
    const far = ([row, rank]: number[]) => Math.max(row / ROWS, rank / RANKS);
    places.sort((a, b) => far(a) - far(b));
    this.crowds = characters.map((character) => new library.SkinnedInstancedMesh(character, count / 2));
    this.soldiers = this.crowds.map((crowd, team) => {
      const parts = new library.InstanceParts(crowd);
      const soldiers = places.slice(0, crowd.count).map(([row, rank]) => recruit(team, row, rank));
      soldiers.forEach((soldier, i) => {
        this.place(soldier, i);
        parts.setVisiblePartsAt(i, soldier.parts);
        crowd.setColorAt(i, soldier.color);
        for (const part of soldier.parts) if (part in PAINTED) parts.setColorAt(i, part, PAINTED[part]);
        this.command(soldier, i, true);
      });
      crowd.castShadow = crowd.receiveShadow = true;
      addLevelsOf(characters[team], new CrowdLevels(crowd, { shadowLevel: 1 }));
      crowd.addEventListener('finished', ({ instanceId }) => this.command(soldiers[instanceId], instanceId));
      return soldiers;
    });
    this.add(...this.crowds);
  }

  set count(value: number) {
    for (const crowd of this.crowds) crowd.count = value / 2;
  }

  get count(): number {
    return this.crowds[0].count * 2;
  }

  update(delta: number): void {
    this.crowds.forEach((crowd, team) => {
      crowd.update(delta);
      for (let i = 0; i < crowd.count; i++) {
        const soldier = this.soldiers[team][i];
        if (soldier.dead > 0) this.lie(soldier, i, delta);
        else if (soldier.run > 0) this.charge(soldier, i, delta);
      }
    });
  }

  /** Who fell comes again, running, from behind. */
  private lie(soldier: Soldier, index: number, delta: number): void {
    soldier.dead -= delta;
    if (soldier.dead > 0) return;
    soldier.run = random(9, 15);
    this.play(soldier, index, 'Running_A', { time: random(0, 1) });
  }

  private charge(soldier: Soldier, index: number, delta: number): void {
    soldier.run = Math.max(0, soldier.run - delta * 4.6);
    this.place(soldier, index);
    const { instanceMatrix } = this.crowds[soldier.team];
    instanceMatrix.addUpdateRange(index * 16, 16);
    instanceMatrix.needsUpdate = true;
    if (soldier.run === 0) this.command(soldier, index);
  }

  /** What somebody does next. */
  private command(soldier: Soldier, index: number, first = false): void {
    if (soldier.dead > 0 || soldier.run > 0) return;
    const { team, rank } = soldier;
    const timeScale = random(0.85, 1.15);
    const once = { loop: LoopOnce, clampWhenFinished: true, timeScale, fade: first ? 0 : 0.12 } as const;
    const roll = first ? 0 : random(0, 1);
    if (isArcher(team, rank)) {
      const clip = pick(['2H_Ranged_Shoot', '2H_Ranged_Shoot', '2H_Ranged_Aiming', '2H_Ranged_Reload']);
      this.play(soldier, index, clip, { ...once, time: first ? random(0, 1) : 0 });
    } else if (rank >= MELEE) {
      const waiting = ['Idle', 'Idle', 'Idle', team === 0 ? 'Blocking' : 'Idle', 'Cheer'];
      this.play(soldier, index, pick(waiting), { timeScale, time: random(0, 3), fade: first ? 0 : 0.2 });
    } else if (roll < 0.62) {
      this.play(soldier, index, pick(ATTACKS), { ...once, time: first ? random(0, 0.9) : 0 });
    } else if (roll < 0.78) this.play(soldier, index, team === 0 ? 'Block' : 'Dodge_Backward', once);
    else if (roll < 0.9) this.play(soldier, index, 'Hit_A', once);
    else {
      soldier.dead = random(4, 9);
      this.play(soldier, index, pick(['Death_A', 'Death_B']), { ...once, timeScale: 1 });
    }
  }

  private play(soldier: Soldier, index: number, clip: string, options: PlayOptions): void {
    soldier.clip = clip;
    this.crowds[soldier.team].play(index, clip, options);
  }

  private place({ team, x, z, turn, size, run }: Soldier, index: number): void {
    const at = new Vector3(team === 0 ? x - run : x + run, 0, z);
    const rotation = new Quaternion().setFromAxisAngle(UP, turn);
    this.crowds[team].setMatrixAt(index, _matrix.compose(at, rotation, new Vector3().setScalar(size)));
  }
}

/** In every other company of the reds. */
const isArcher = (team: number, rank: number) =>
  team === 1 && rank > 5 && Math.floor((rank - 3) / 5) % 2 === 1;

/** Companies of nine by five with gaps between them; at the front, nobody stands where he should. */
function recruit(team: number, row: number, rank: number): Soldier {
  const side = team === 0 ? -1 : 1;
  const rough = rank < MELEE ? 1 : 0;
  const gap = rank < MELEE ? 0 : 3.4 + Math.floor((rank - MELEE) / 5) * 3.2;
  const z = 20 - row * 1.85 - Math.floor(row / 9) * 1.6 + random(-0.28, 0.28) + rough * random(-0.7, 0.7);
  const away = 0.7 + rank * 1.75 + gap + random(-0.25, 0.25) + rough * random(-0.9, 0.9);
  const turn = (-side * Math.PI) / 2 + random(-0.16, 0.16) + rough * random(-0.5, 0.5);
  const knight = [pick(SHIELDS), random(0, 1) < 0.93 ? 'Knight_Helmet' : 'Knight_Head'];
  if (random(0, 1) < 0.85) knight.push('Knight_Cape');
  const weapons = isArcher(team, rank) ? ['2H_Crossbow'] : ['Knife', 'Knife_Offhand'];
  const parts =
    team === 0
      ? [...BODY.map((part) => `Knight_${part}`), 'Knight_Head', '1H_Sword', ...knight]
      : [...BODY.map((part) => `Rogue_${part}`), 'Rogue_Head_Hooded', 'Rogue_Cape', ...weapons];
  const color = pick(TONES[team]).clone().multiplyScalar(random(0.8, 1.1));
  const stature = { x: front(z) + side * away, z, turn, size: random(0.94, 1.08) };
  return { team, rank, ...stature, parts, color, clip: '', dead: 0, run: 0 };
}

/** Banners of both armies, one more crowd, which the wind moves. */
export function raiseBanners(library: Library, soldiers: number): SkinnedInstancedMesh {
  const reach = Math.sqrt(soldiers / (2 * ROWS * RANKS));
  const count = Math.ceil(130 * reach);
  const model = createFlag();
  const [, cloth] = model.children as Mesh[];
  (cloth.material as MeshStandardMaterial).color.set(0xffffff);
  const banners = new library.SkinnedInstancedMesh(
    bakeCharacter(model, [], { encoding: library.frames }),
    count,
    { influences: 1 },
  );
  const wind = flutter({ axis: new Vector3(0, 0, 1), strength: 0.25, wavelength: 1.2, speed: 3 });
  new library.InstanceMotions(banners, wind);
  banners.castShadow = true;
  const parts = new library.InstanceParts(banners);
  for (let i = 0; i < count; i++) {
    const side = i & 1 ? 1 : -1;
    const z = 8 - Math.floor(i / 2) * 4 + random(-2, 2);
    const x = front(z) + side * random(9, 9 + 90 * reach);
    _matrix.makeRotationY(-0.45 + random(-0.3, 0.3)).scale(new Vector3(1.45, 1.35, 1.45));
    banners.setMatrixAt(i, _matrix.setPosition(x, 0, z));
    parts.setColorAt(i, 'Cloth', new Color(side < 0 ? 0x3f7de0 : 0xd83a30));
  }
  return banners;
}
