import {
  BufferGeometry,
  Color,
  Float32BufferAttribute,
  MathUtils,
  Uint16BufferAttribute,
  Vector3,
} from 'three';
import { type BoneName, JOINTS } from './skeleton.js';

/** How much each joint moves a vertex; need not add up to 1, and only the four largest count. */
export type Weights = Partial<Record<BoneName, number>>;

/** A cross-section: place along the axis, offset and radius along `side`, offset and radius along `up`. */
export interface Ring {
  at: number;
  side: number;
  up: number;
  sideOffset?: number;
  upOffset?: number;
}

export interface Shell {
  rings: Ring[];
  color: number;
  weights: (position: Vector3, along: number) => Weights;
  /** Where `at` = 0 lies; the origin by default. */
  origin?: Vector3;
  /** The direction along which the rings follow each other, and the two that they span; all of length 1. */
  axis?: Vector3;
  side?: Vector3;
  up?: Vector3;
  /** Corners of each cross-section. */
  segments?: number;
  /** 2 is an ellipse, larger numbers come closer to a box. */
  squareness?: number;
  /** Draws the outline anew as a smooth curve through the rings, with so many of them; 0 keeps them as they are. */
  resample?: number;
  /** Length of the rounded ends; [first, last]. */
  caps?: [number, number];
}

const X = new Vector3(1, 0, 0);
const Y = new Vector3(0, 1, 0);
const Z = new Vector3(0, 0, 1);
const ZERO = new Vector3();
const CAP_ANGLES = [0, 0.33, 0.66];
const BONE_INDEX = new Map(JOINTS.map(({ name }, index) => [name, index]));

/** Below this detail there are no rounded ends, and no shells as thin as fingers. */
const COARSE = 0.6;
const THIN = 0.025;

/** Collects closed tubes ("shells") of elliptic cross-sections into one skinned geometry. */
export class ShellBuilder {
  private readonly positions: number[] = [];
  private readonly normals: number[] = [];
  private readonly uvs: number[] = [];
  private readonly colors: number[] = [];
  private readonly skinIndices: number[] = [];
  private readonly skinWeights: number[] = [];
  private readonly indices: number[] = [];

  /**
   * @param detail Share of the corners and cross-sections that are built.
   * @param kept Shells of other colours are left out; null leaves out none.
   */
  constructor(
    private readonly detail = 1,
    private readonly kept: readonly number[] | null = null,
  ) {}

  add(shell: Shell): this {
    const { origin = ZERO, axis = Y, side = X, up = Z, squareness = 2, caps = [0, 0] } = shell;
    const { detail, kept } = this;
    if (kept !== null && !kept.includes(shell.color)) return this;
    const coarse = detail < COARSE;
    if (coarse && shell.rings.every((ring) => Math.max(ring.side, ring.up) < THIN)) return this;
    const segments = Math.max(4, Math.round((shell.segments ?? 12) * detail));
    const color = new Color(shell.color);
    const smooth = shell.resample ? resample(shell.rings, shell.resample) : shell.rings;
    const outline = detail < 1 ? thinOut(smooth, Math.max(3, Math.round(smooth.length * detail))) : smooth;
    const rings = closeEnds(outline, coarse ? [0, 0] : caps);
    const rows = rings.map((ring) => ringPoints(ring, origin, axis, side, up, segments, squareness));
    const handedness = Math.sign(new Vector3().crossVectors(side, up).dot(axis));
    const first = this.positions.length / 3;

    for (let r = 0; r < rows.length; r++) {
      // One corner more than there are segments: the uv seam needs its vertices twice.
      for (let s = 0; s <= segments; s++) {
        const position = rows[r][s % segments];
        this.positions.push(position.x, position.y, position.z);
        this.normals.push(...normalAt(rows, r, s, segments, axis, handedness));
        this.uvs.push(s / segments, r / (rows.length - 1));
        this.colors.push(color.r, color.g, color.b);
        this.pushWeights(shell.weights(position, rings[r].at));
      }
    }
    this.pushTriangles(first, rows.length, segments, handedness);
    return this;
  }

  build(): BufferGeometry {
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new Float32BufferAttribute(this.positions, 3));
    geometry.setAttribute('normal', new Float32BufferAttribute(this.normals, 3));
    geometry.setAttribute('uv', new Float32BufferAttribute(this.uvs, 2));
    geometry.setAttribute('color', new Float32BufferAttribute(this.colors, 3));
    geometry.setAttribute('skinIndex', new Uint16BufferAttribute(this.skinIndices, 4));
    geometry.setAttribute('skinWeight', new Float32BufferAttribute(this.skinWeights, 4));
    geometry.setIndex(this.indices);
    return geometry;
  }

  private pushWeights(weights: Weights): void {
    const largest = (Object.entries(weights) as [BoneName, number][])
      .filter(([, weight]) => weight > 0.005)
      .sort((a, b) => b[1] - a[1])
      .slice(0, 4);
    const sum = largest.reduce((total, [, weight]) => total + weight, 0);
    for (let i = 0; i < 4; i++) {
      const [name, weight] = largest[i] ?? ['Hips', 0];
      this.skinIndices.push(BONE_INDEX.get(name) ?? 0);
      this.skinWeights.push(weight / sum);
    }
  }

  private pushTriangles(first: number, rows: number, segments: number, handedness: number): void {
    const stride = segments + 1;
    for (let r = 0; r < rows - 1; r++) {
      for (let s = 0; s < segments; s++) {
        const a = first + r * stride + s;
        const [b, c, d] = [a + 1, a + stride, a + stride + 1];
        // The first and the last row are single points, where one of the two triangles has no area.
        if (r > 0) this.indices.push(...(handedness > 0 ? [a, b, d] : [a, d, b]));
        if (r < rows - 2) this.indices.push(...(handedness > 0 ? [a, d, c] : [a, c, d]));
      }
    }
  }
}

/** The rings of an ellipsoid whose poles lie on the axis at `centre` ± `radius`. */
export function ellipsoid(centre: number, radius: number, side: number, up: number, count = 7): Ring[] {
  return Array.from({ length: count }, (_, i) => {
    const angle = ((i + 1) / (count + 1) - 0.5) * Math.PI;
    return {
      at: centre + Math.sin(angle) * radius,
      side: Math.cos(angle) * side,
      up: Math.cos(angle) * up,
    };
  });
}

/**
 * Weights along a chain of joints: each joint takes over from the one before at `start`, over `start ± blend`.
 * Example: `chain(['Hips', 0, 0], ['Spine', 1, 0.1])(1)` → `{ Hips: 0.5, Spine: 0.5 }`
 */
export function chain(
  ...joints: [name: BoneName, start: number, blend: number][]
): (along: number) => Weights {
  return (along) => {
    const weights: Weights = {};
    let remaining = 1;
    for (const [name, start, blend] of [...joints].reverse()) {
      const reached = name === joints[0][0] ? 1 : MathUtils.smoothstep(along, start - blend, start + blend);
      weights[name] = remaining * reached;
      remaining *= 1 - reached;
    }
    return weights;
  };
}

function ringPoints(
  ring: Ring,
  origin: Vector3,
  axis: Vector3,
  side: Vector3,
  up: Vector3,
  segments: number,
  squareness: number,
): Vector3[] {
  return Array.from({ length: segments }, (_, s) => {
    const angle = (s / segments) * 2 * Math.PI;
    const [c, n] = [Math.cos(angle), Math.sin(angle)];
    const stretch = (Math.abs(c) ** squareness + Math.abs(n) ** squareness) ** (-1 / squareness);
    return origin
      .clone()
      .addScaledVector(axis, ring.at)
      .addScaledVector(side, (ring.sideOffset ?? 0) + c * stretch * ring.side)
      .addScaledVector(up, (ring.upOffset ?? 0) + n * stretch * ring.up);
  });
}

function normalAt(
  rows: Vector3[][],
  r: number,
  s: number,
  segments: number,
  axis: Vector3,
  handedness: number,
): Vector3 {
  if (r === 0) return axis.clone().negate();
  if (r === rows.length - 1) return axis.clone();
  const around = rows[r][(s + 1) % segments].clone().sub(rows[r][(s + segments - 1) % segments]);
  const along = rows[r + 1][s % segments].clone().sub(rows[r - 1][s % segments]);
  return around.cross(along).multiplyScalar(handedness).normalize();
}

/** Adds rounded ends of the given lengths, down to a single point each. */
function closeEnds(rings: Ring[], [startLength, endLength]: [number, number]): Ring[] {
  const first = rings[0];
  const last = rings[rings.length - 1];
  const point = (ring: Ring, at: number): Ring => ({ ...ring, at, side: 0, up: 0 });
  const cap = (ring: Ring, length: number): Ring[] =>
    CAP_ANGLES.slice(1).map((angle) => {
      const [sine, cosine] = [Math.sin((angle * Math.PI) / 2), Math.cos((angle * Math.PI) / 2)];
      return { ...ring, at: ring.at + length * sine, side: ring.side * cosine, up: ring.up * cosine };
    });
  return [
    point(first, first.at - startLength),
    ...(startLength > 0 ? cap(first, -startLength).reverse() : []),
    ...rings,
    ...(endLength > 0 ? cap(last, endLength) : []),
    point(last, last.at + endLength),
  ];
}

/** `count` of the rings, the first and the last among them. */
function thinOut(rings: Ring[], count: number): Ring[] {
  if (count >= rings.length) return rings;
  return Array.from({ length: count }, (_, k) => rings[Math.round((k / (count - 1)) * (rings.length - 1))]);
}

/** `count` rings on the Catmull-Rom curve through the given ones. */
function resample(rings: Ring[], count: number): Ring[] {
  const spline = (key: keyof Ring, i: number, t: number): number => {
    const value = (k: number) => rings[MathUtils.clamp(k, 0, rings.length - 1)][key] ?? 0;
    const [a, b, c, d] = [value(i - 1), value(i), value(i + 1), value(i + 2)];
    return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
  };
  return Array.from({ length: count }, (_, k) => {
    const along = (k / (count - 1)) * (rings.length - 1);
    const i = Math.min(Math.floor(along), rings.length - 2);
    const t = along - i;
    return {
      at: spline('at', i, t),
      side: spline('side', i, t),
      up: spline('up', i, t),
      sideOffset: spline('sideOffset', i, t),
      upOffset: spline('upOffset', i, t),
    };
  });
}
