import { CatmullRomCurve3, type PerspectiveCamera, Vector3 } from 'three';

/** Metres that the camera flies in a second. */
const SPEED = 9;

/** Half the width of a field from which on heights are these. */
const FIELD = 100;

/** Points of the way, in shares of the field's half width and depth, and metres above the ground. */
const POINTS: readonly [x: number, height: number, z: number][] = [
  [-0.95, 9, 0.25],
  [-0.5, 3.5, 0.06],
  [0, 2.4, 0],
  [0.5, 5, -0.04],
  [1.0, 22, -0.3],
  [0.5, 40, -0.9],
  [-0.1, 16, -0.7],
  [-0.4, 5, -0.2],
  [-0.1, 2.5, 0.35],
  [0.4, 12, 0.8],
  [0.1, 46, 1.3],
  [-0.9, 26, 0.7],
];

/** Share of the way at which it begins: before it dives towards both armies. */
const BEGIN = 0.92;
/** The same of a small field, at which it is looked down from there: where the horizon is seen. */
const BEGIN_SMALL = 0.985;

const _ahead = new Vector3();

/** Flies a camera over the field, round and round. */
export class Flight {
  private readonly way: CatmullRomCurve3;
  private readonly length: number;
  private flown = 0;

  constructor(halfWidth: number, halfDepth: number) {
    // lower over a small field, but above the helmets
    const low = Math.min(1, 0.2 + halfWidth / FIELD);
    const points = POINTS.map(
      ([x, height, z]) => new Vector3(x * halfWidth, 1.7 + (height - 1.7) * low, z * halfDepth),
    );
    this.way = new CatmullRomCurve3(points, true, 'centripetal');
    this.length = this.way.getLength();
    this.flown = (halfWidth < FIELD ? BEGIN_SMALL : BEGIN) * this.length;
  }

  /** @param target Becomes a point in front of the camera, about which it can be turned by hand afterwards. */
  move(camera: PerspectiveCamera, target: Vector3, seconds: number): void {
    this.flown = (this.flown + seconds * SPEED) % this.length;
    const at = this.flown / this.length;
    this.way.getPointAt(at, camera.position);
    this.way.getPointAt((at + 16 / this.length) % 1, _ahead);
    // ahead, and a little towards the middle
    target.copy(_ahead).multiplyScalar(0.7);
    target.y = Math.max(0.8, target.y * 0.8);
    camera.lookAt(target);
    camera.updateMatrixWorld();
  }
}
