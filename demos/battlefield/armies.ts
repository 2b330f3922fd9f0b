import { Color, Matrix4, Quaternion, Vector3 } from 'three';

/** Soldiers of a block, ten by ten; on the march, three abreast. */
const BLOCK = 100;
const SIDE = 10;
const ABREAST = 3;
/** Between two soldiers, and between two blocks. */
const SPACING = 1.75;
const GAP = 5;
const PITCH = SIDE * SPACING + GAP;
/** Half of the ground between the armies. */
const NO_MANS_LAND = 0.7;
/** Ranks that fight hand to hand. */
const MELEE = 3;
/** Blocks that march around the field: one of so many. */
const MARCHING = 20;
const MARCH_SPEED = 2;

const UP = new Vector3(0, 1, 0);
const TONES = [
  [new Color(1, 1, 1), new Color(1, 0.94, 0.9), new Color(0.62, 0.58, 0.58), new Color(1.05, 1.3, 1.1)],
  [new Color(1, 1, 1), new Color(0.8, 0.88, 1.05), new Color(1.05, 1, 0.92)],
];
const ATTACKS = ['1H_Melee_Attack_Chop', '1H_Melee_Attack_Slice_Diagonal', '1H_Melee_Attack_Stab', 'Hit_A'];
const SHOTS = ['2H_Ranged_Shoot', '2H_Ranged_Aiming', '2H_Ranged_Reload'];
const SHIELDS = ['Round_Shield', 'Rectangle_Shield', 'Spike_Shield'];

const bodyOf = (who: string) =>
  ['ArmLeft', 'ArmRight', 'Body', 'LegLeft', 'LegRight', 'Cape'].map((part) => `${who}_${part}`);

const _matrix = new Matrix4();
const _place = new Vector3();
const _turn = new Quaternion();
const _size = new Vector3();

/** The same number from 0 to 1 for the same soldier at each call. */
export function chance(i: number, salt: number): number {
  const x = Math.sin(i * 78.233 + salt * 37.719) * 43758.5453;
  return x - Math.floor(x);
}

/** Two armies that face each other, in blocks; some blocks march around the field. */
export class Armies {
  /** Half of the field's width and depth. */
  readonly halfWidth: number;
  readonly halfDepth: number;
  private readonly columns: number;
  private readonly blocks: number;

  constructor(readonly count: number) {
    this.blocks = Math.ceil(count / BLOCK);
    // Each army is about twice as wide as it is deep.
    this.columns = Math.max(1, Math.ceil(Math.sqrt(this.blocks)));
    const rows = Math.ceil(this.blocks / 2 / this.columns);
    this.halfWidth = (this.columns * PITCH) / 2;
    this.halfDepth = NO_MANS_LAND + rows * PITCH;
  }

  isRed(soldier: number): boolean {
    return Math.floor(soldier / BLOCK) % 2 === 0;
  }

  colorOf(soldier: number, target: Color): Color {
    const tones = TONES[this.isRed(soldier) ? 0 : 1];
    const tone = tones[Math.floor(tones.length * chance(soldier, 1))];
    return target.copy(tone).multiplyScalar(0.8 + 0.35 * chance(soldier, 8));
  }

  /** Parts that a soldier shows. */
  partsOf(soldier: number): string[] {
    if (this.isRed(soldier)) {
      const weapons = this.shoots(soldier) ? ['2H_Crossbow'] : ['Knife', 'Knife_Offhand'];
      return [...bodyOf('Rogue'), 'Rogue_Head_Hooded', ...weapons];
    }
    const shield = SHIELDS[Math.floor(SHIELDS.length * chance(Math.floor(soldier / 5), 9))];
    return [...bodyOf('Knight'), 'Knight_Head', 'Knight_Helmet', '1H_Sword', shield];
  }

  /** Whether somebody is an archer: the blocks of the second row of the reds. */
  shoots(soldier: number): boolean {
    const block = Math.floor(soldier / BLOCK);
    return this.isRed(soldier) && this.rowOf(block) === 1 && !this.marches(block);
  }

  marches(block: number): boolean {
    return block % MARCHING === 7;
  }

  /** What a soldier plays: the front fights, archers shoot, those behind wait, and columns march. */
  clipOf(soldier: number): string {
    const block = Math.floor(soldier / BLOCK);
    if (this.marches(block)) return 'Walking_A';
    const roll = chance(soldier, 2);
    if (this.shoots(soldier)) return SHOTS[Math.floor(SHOTS.length * roll)];
    const rank = this.rankOf(soldier);
    if (this.rowOf(block) === 0 && rank < MELEE) {
      if (roll < 0.12) return roll < 0.06 ? 'Death_A' : 'Death_B';
      return ATTACKS[Math.floor(ATTACKS.length * chance(soldier, 3))];
    }
    return roll < 0.12 ? 'Cheer' : 'Idle';
  }

  /** Where a soldier stands in his block when the armies stand still. */
  placeOf(soldier: number, target: Matrix4): Matrix4 {
    const block = Math.floor(soldier / BLOCK);
    const pair = Math.floor(block / 2);
    const facing = this.isRed(soldier) ? 1 : -1;
    const x = ((pair % this.columns) + 0.5) * PITCH - this.halfWidth;
    const z = -facing * (NO_MANS_LAND + this.rowOf(block) * PITCH + (SIDE * SPACING) / 2);
    return this.inBlock(soldier, x, z, facing > 0 ? 0 : Math.PI, target);
  }

  private rowOf(block: number): number {
    return Math.floor(Math.floor(block / 2) / this.columns);
  }

  /** How many stand before a soldier in his block. */
  private rankOf(soldier: number): number {
    const along = Math.floor((soldier % BLOCK) / SIDE);
    return this.isRed(soldier) ? SIDE - 1 - along : along;
  }

  /**
   * Moves the blocks that march: along a lane between the columns of blocks, from one end of the field to the other.
   *
   * @param moved Called with the first soldier of each block that was moved, and how many they are.
   */
  march(
    seconds: number,
    set: (soldier: number, matrix: Matrix4) => void,
    moved: (first: number, count: number) => void,
  ): void {
    const length = 2 * this.halfDepth;
    for (let block = 0; block < this.blocks; block++) {
      if (!this.marches(block)) continue;
      const first = block * BLOCK;
      const facing = this.isRed(first) ? 1 : -1;
      const pair = Math.floor(block / 2);
      const x = (pair % this.columns) * PITCH - this.halfWidth;
      const way = (chance(block, 3) * length + seconds * MARCH_SPEED) % length;
      const z = facing * (way - this.halfDepth);
      const count = Math.min(BLOCK, this.count - first);
      for (let i = first; i < first + count; i++) {
        set(i, this.inBlock(i, x, z, facing > 0 ? 0 : Math.PI, _matrix, ABREAST));
      }
      moved(first, count);
    }
  }

  private inBlock(
    soldier: number,
    x: number,
    z: number,
    turn: number,
    target: Matrix4,
    abreast = SIDE,
  ): Matrix4 {
    const place = soldier % BLOCK;
    const across = (place % abreast) - (abreast - 1) / 2;
    const along = Math.floor(place / abreast) - (BLOCK / abreast - 1) / 2;
    _place.set(
      x + across * SPACING + 0.7 * (chance(soldier, 4) - 0.5),
      0,
      z + along * SPACING + 0.7 * (chance(soldier, 5) - 0.5),
    );
    _turn.setFromAxisAngle(UP, turn + 0.4 * (chance(soldier, 6) - 0.5));
    return target.compose(_place, _turn, _size.setScalar(0.92 + 0.16 * chance(soldier, 7)));
  }
}
