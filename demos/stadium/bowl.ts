import {
  BufferGeometry,
  CanvasTexture,
  Color,
  Float32BufferAttribute,
  Group,
  Mesh,
  MeshStandardMaterial,
  PlaneGeometry,
  SRGBColorSpace,
  type Texture,
} from 'three';
import { scenery } from '../lib/createRenderer.js';

/** Metres from row to row, how much higher each is, and from seat to seat. */
const DEPTH = 0.85;
const RISE = 0.48;
const SEAT = 0.58;
/** Height of the first row. */
const FOOT = 1.6;
/** Corners of the steps around the stadium. */
const SEGMENTS = 160;
/** Half axes of the first row, half the length and width of the pitch, and rows, for 50,000. */
const [LONG, WIDE, LENGTH, WIDTH, ROWS] = [72, 55, 52.5, 34, 54];

export interface Seat {
  x: number;
  y: number;
  z: number;
  /** Around the middle of the pitch, and where its guest looks: radians. */
  angle: number;
  turn: number;
  row: number;
}

/** An oval of steps around a pitch: the fewer seats there are, the smaller it is. */
export class Bowl {
  readonly object = new Group();
  readonly seats: Seat[] = [];
  /** Half axes of the first row. */
  readonly long: number;
  readonly wide: number;
  readonly height: number;
  private readonly rows: number;

  constructor(count: number) {
    const size = Math.sqrt(count / 50_000);
    this.long = LONG * size;
    this.wide = WIDE * size;
    this.rows = Math.ceil(ROWS * size);
    this.height = FOOT + this.rows * RISE;
    for (let row = 0; this.seats.length < count; row++) this.fill(row, count);
    const pitch = new Mesh(
      new PlaneGeometry(2.2 * LENGTH * size, 2.25 * WIDTH * size).rotateX(-Math.PI / 2),
      new MeshStandardMaterial({ map: drawPitch(), roughness: 1 }),
    );
    const stands = new Mesh(this.buildSteps(), new MeshStandardMaterial({ color: 0x9aa3ad, roughness: 1 }));
    pitch.position.y = 0.02;
    for (const mesh of [pitch, stands]) {
      mesh.receiveShadow = true;
      scenery.add(mesh);
      this.object.add(mesh);
    }
    stands.castShadow = true;
  }

  /** A row, but for the stairs. */
  private fill(row: number, count: number): void {
    const [a, b] = [this.long + row * DEPTH, this.wide + row * DEPTH];
    const around = Math.PI * (3 * (a + b) - Math.sqrt((3 * a + b) * (a + 3 * b)));
    const places = Math.floor(around / SEAT);
    for (let i = 0; i < places && this.seats.length < count; i++) {
      // as many to each metre where the oval bends as elsewhere
      const angle = evenAngle((i + 0.5 * (row % 2)) / places, a, b);
      if (((angle / Math.PI) * 14 + 0.035) % 1 < 0.07) continue;
      const [x, z] = [Math.cos(angle) * a, Math.sin(angle) * b];
      const turn = Math.atan2(-Math.cos(angle) * b, -Math.sin(angle) * a);
      this.seats.push({ x, y: FOOT + row * RISE, z, angle, turn, row });
    }
  }

  /** Steps from the first row to the last, a wall before and one behind them. */
  private buildSteps(): BufferGeometry {
    const profile: [away: number, y: number][] = [[-0.5, 0]];
    for (let row = 0; row < this.rows; row++) {
      const y = FOOT + row * RISE;
      profile.push([(row - 0.5) * DEPTH, y], [(row + 0.5) * DEPTH, y]);
    }
    const [end] = profile[profile.length - 1];
    profile.push([end, this.height + 1.2], [end + 0.6, this.height + 1.2], [end + 2, 0]);
    const positions: number[] = [];
    const point = (i: number, [away, y]: [number, number]) => {
      const angle = (i / SEGMENTS) * 2 * Math.PI;
      return [Math.cos(angle) * (this.long + away), y, Math.sin(angle) * (this.wide + away)];
    };
    for (let i = 0; i < SEGMENTS; i++) {
      for (let k = 1; k < profile.length; k++) {
        const [p, q] = [profile[k - 1], profile[k]];
        const [here, there] = [i, i + 1];
        for (const corner of [
          point(here, p),
          point(there, q),
          point(here, q),
          point(here, p),
          point(there, p),
          point(there, q),
        ])
          positions.push(...corner);
      }
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new Float32BufferAttribute(positions, 3));
    geometry.computeVertexNormals();
    return geometry;
  }
}

/** The angle that divides an ellipse's circumference by a share of it. */
function evenAngle(share: number, a: number, b: number): number {
  // The first term of its series: what is left are some centimetres.
  const angle = share * 2 * Math.PI;
  return angle + (((a - b) / (a + b)) * Math.sin(2 * angle)) / 2;
}

/** Grass in stripes, and white lines. */
function drawPitch(): Texture {
  const canvas = new OffscreenCanvas(1100, 765);
  const context = canvas.getContext('2d')!;
  const green = new Color(0x4f8f3a);
  for (let i = 0; i < 22; i++) {
    context.fillStyle = `#${green
      .clone()
      .multiplyScalar(i % 2 ? 1 : 0.86)
      .getHexString()}`;
    context.fillRect(i * 50, 0, 50, 765);
  }
  context.strokeStyle = '#eef4ec';
  context.lineWidth = 3;
  const box = (x: number, width: number, height: number) =>
    context.strokeRect(x, (765 - height) / 2, width, height);
  box(50, 1000, 680);
  for (const [width, height] of [
    [165, 403],
    [55, 183],
  ]) {
    box(50, width, height);
    box(1050 - width, width, height);
  }
  context.beginPath();
  context.moveTo(550, 42);
  context.lineTo(550, 722);
  context.moveTo(641, 382);
  context.arc(550, 382, 91, 0, 2 * Math.PI);
  context.stroke();
  return Object.assign(new CanvasTexture(canvas), { colorSpace: SRGBColorSpace, anisotropy: 8 });
}
