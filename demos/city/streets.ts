import {
  BoxGeometry,
  CanvasTexture,
  Color,
  Group,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  PlaneGeometry,
  Quaternion,
  SRGBColorSpace,
  type Texture,
  Vector3,
} from 'three';
import { scenery } from '../lib/createRenderer.js';

/** Metres from one street to the next, and across a street. */
const PITCH = 40;
const STREET = 11;
/** Houses of a side of a block, and what is left between two of them. */
const SIDE = 2;
const GAP = 0.8;
const WALK_SPEED = 1.3;

const UP = new Vector3(0, 1, 0);
const _turn = new Quaternion();
const _place = new Vector3();
const _size = new Vector3();
const _color = new Color();

/** The same number from 0 to 1 for the same thing at each call. */
export function chance(i: number, salt: number): number {
  const x = Math.sin(i * 78.233 + salt * 37.719) * 43758.5453;
  return x - Math.floor(x);
}

/** A wall with rows of windows, a few of them lit. */
function createWindows(): Texture {
  const canvas = new OffscreenCanvas(256, 256);
  const context = canvas.getContext('2d')!;
  context.fillStyle = '#fff';
  context.fillRect(0, 0, 256, 256);
  for (let i = 0; i < 30; i++) {
    const [x, y] = [14 + (i % 6) * 41, 16 + Math.floor(i / 6) * 49];
    context.fillStyle = '#d9cfc2';
    context.fillRect(x - 3, y - 3, 28, 36);
    context.fillStyle = chance(i, 12) < 0.2 ? '#ffdf9a' : '#4c5a68';
    context.fillRect(x, y, 22, 28);
  }
  const texture = new CanvasTexture(canvas);
  return Object.assign(texture, { colorSpace: SRGBColorSpace, anisotropy: 8 });
}

/** Blocks of houses in rows, with people who walk in the streets between them. */
export class City {
  /** Houses and ground: what people are hidden behind. */
  readonly object = new Group();
  /** Metres of a side. */
  readonly size: number;

  /** @param blocks Of a side of the city. */
  constructor(readonly blocks: number) {
    this.size = blocks * PITCH;
    const houses = this.createHouses();
    const ground = new Mesh(
      new PlaneGeometry(this.size * 1.5, this.size * 1.5).rotateX(-Math.PI / 2),
      new MeshStandardMaterial({ color: 0xa39683, roughness: 1 }),
    );
    ground.position.y = 0.03;
    houses.castShadow = houses.receiveShadow = ground.receiveShadow = true;
    scenery.add(houses).add(ground);
    this.object.add(houses, ground);
  }

  /** The middle of a street, from one edge of the city to the other. */
  street(number: number): number {
    return (number + 0.5) * PITCH - this.size / 2 - PITCH / 2;
  }

  /** Where someone walks after so many seconds. */
  placeOf(person: number, seconds: number, target: Matrix4): Matrix4 {
    const backwards = chance(person, 1) < 0.5;
    const walked = seconds * WALK_SPEED * (0.8 + 0.4 * chance(person, 2));
    const way = chance(person, 3) * this.size + (backwards ? -walked : walked);
    const along = way - Math.floor(way / this.size) * this.size - this.size / 2;
    const street = this.street(Math.floor(chance(person, 4) * (this.blocks + 1)));
    const across = street + (chance(person, 5) - 0.5) * STREET * 0.8;
    const isNorth = chance(person, 6) < 0.5;
    _place.set(isNorth ? across : along, 0, isNorth ? along : across);
    _turn.setFromAxisAngle(UP, (isNorth ? 0 : Math.PI / 2) + (backwards ? Math.PI : 0));
    return target.compose(_place, _turn, _size.setScalar(0.9 + 0.2 * chance(person, 7)));
  }

  private createHouses(): InstancedMesh {
    const { blocks } = this;
    const side = blocks * SIDE;
    const wall = new MeshStandardMaterial({ map: createWindows() });
    const roof = new MeshStandardMaterial({ color: 0xc9a184, roughness: 1 });
    const faces = [wall, wall, roof, roof, wall, wall];
    const houses = new InstancedMesh(new BoxGeometry(), faces, side * side);
    const lot = (PITCH - STREET) / SIDE;
    const middle = (i: number) => this.street(Math.floor(i / SIDE)) + STREET / 2 + lot * ((i % SIDE) + 0.5);
    const matrix = new Matrix4();
    for (let i = 0; i < side * side; i++) {
      const height = 7 + 15 * chance(i, 8) ** 2;
      // They stand in the ground, as what is behind them does not.
      _place.set(middle(i % side), height / 2 - 1, middle(Math.floor(i / side)));
      houses.setMatrixAt(
        i,
        matrix.compose(_place, _turn.identity(), _size.set(lot - GAP, height + 2, lot - GAP)),
      );
      houses.setColorAt(i, _color.setHSL(0.05 + 0.07 * chance(i, 9), 0.45, 0.55 + 0.25 * chance(i, 10)));
    }
    return houses;
  }
}
