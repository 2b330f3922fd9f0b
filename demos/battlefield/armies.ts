import { Color, Matrix4, Quaternion, Vector3 } from 'three';

/** Soldiers of a block, ten by ten; on the march, three abreast. */
export const BLOCK = 100;
const SIDE = 10;
const ABREAST = 3;
/** Between two soldiers, and between two blocks. */
const SPACING = 1.3;
const GAP = 4;
const PITCH = SIDE * SPACING + GAP;
/** Half of the ground between the armies. */
const NO_MANS_LAND = 4;
/** Blocks that march around the field: one of so many. */
const MARCHING = 20;
const MARCH_SPEED = 1.4;

const UP = new Vector3(0, 1, 0);
/** Parts of the figure that soldiers show. */
export const UNIFORM = ['Skin', 'Face', 'Hair', 'Shirt', 'Sleeves', 'Jacket', 'Trousers', 'Shoes', 'Helmet'];
const STEEL = new Color(0xaeb6bd);
const LEATHER = new Color(0x4a3526);
const SKIN = new Color(0xd8a47c);
const HAIR = new Color(0x3a2618);
const TEAMS = {
  red: { Jacket: new Color(0xb8372c), Shirt: new Color(0x5b2320), Trousers: new Color(0x4a3a30) },
  blue: { Jacket: new Color(0x2f5db0), Shirt: new Color(0x1e3358), Trousers: new Color(0x383d48) },
};

/** Colours of the parts of a soldier. */
export function uniformOf(isRed: boolean): [part: string, color: Color][] {
  const team = isRed ? TEAMS.red : TEAMS.blue;
  const all = { ...team, Sleeves: team.Shirt, Helmet: STEEL, Shoes: LEATHER, Skin: SKIN, Hair: HAIR };
  return Object.entries(all);
}

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
    return target.setScalar(0.8 + 0.35 * chance(soldier, 1));
  }

  marches(block: number): boolean {
    return block % MARCHING === 7;
  }

  /** What a soldier plays: the front fights, those behind it wait, and columns march. */
  clipOf(soldier: number): string {
    const block = Math.floor(soldier / BLOCK);
    if (this.marches(block)) return 'Walk';
    const row = Math.floor(Math.floor(block / 2) / this.columns);
    if (row === 0) return chance(soldier, 2) < 0.5 ? 'Wave' : 'Jump';
    return chance(soldier, 2) < 0.12 ? 'Dance' : 'Idle';
  }

  /** Where a soldier stands in his block when the armies stand still. */
  placeOf(soldier: number, target: Matrix4): Matrix4 {
    const block = Math.floor(soldier / BLOCK);
    const pair = Math.floor(block / 2);
    const facing = this.isRed(soldier) ? 1 : -1;
    const x = ((pair % this.columns) + 0.5) * PITCH - this.halfWidth;
    const z = -facing * (NO_MANS_LAND + (Math.floor(pair / this.columns) + 0.5) * PITCH);
    return this.inBlock(soldier, x, z, facing > 0 ? 0 : Math.PI, target);
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
      x + across * SPACING + 0.3 * (chance(soldier, 4) - 0.5),
      0,
      z + along * SPACING + 0.3 * (chance(soldier, 5) - 0.5),
    );
    _turn.setFromAxisAngle(UP, turn + 0.4 * (chance(soldier, 6) - 0.5));
    return target.compose(_place, _turn, _size.setScalar(0.92 + 0.16 * chance(soldier, 7)));
  }
}
