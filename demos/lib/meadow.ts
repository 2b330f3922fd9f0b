import {
  BufferGeometry,
  Color,
  ConeGeometry,
  CylinderGeometry,
  Float32BufferAttribute,
  Group,
  IcosahedronGeometry,
  InstancedMesh,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  Quaternion,
  Vector3,
} from 'three';
import { mergeBufferGeometries } from 'three-stdlib';
import { scenery } from './createRenderer.js';

const GRASS = new Color(0x86a44c);
const DRY = new Color(0xc0aa63);
const EARTH = new Color(0xb89468);
const TURN = 2 * Math.PI;
/** Corners around the middle, and rings of them. */
const AROUND = 72;
const RINGS = 30;
/** Squares along a side of the middle. */
const ACROSS = 36;
const UP = new Vector3(0, 1, 0);

const smooth = (from: number, to: number, x: number) => {
  const t = Math.min(1, Math.max(0, (x - from) / (to - from)));
  return t * t * (3 - 2 * t);
};

/**
 * Flat ground in the middle, trees around it, hills behind them.
 *
 * @param unit Height of who stands there.
 * @param clear Radius that stays flat and free.
 * @param reach Radius at which the land ends, in the haze.
 * @param hills Height of the ground in the middle, where it is not flat.
 * @param lawn Radius within which tufts of grass grow.
 */
export function createMeadow(
  unit: number,
  clear: number,
  reach: number,
  hills: (x: number, z: number) => number = () => 0,
  lawn = 0,
): Group {
  let seed = 11;
  const random = (from: number, to: number) => {
    seed = (seed * 16807) % 2147483647;
    return from + (seed / 2147483647) * (to - from);
  };
  const heightAt = (x: number, z: number) => {
    const away = Math.hypot(x, z);
    const wave =
      1.3 + Math.sin(x / (9 * unit) + 1) * Math.sin(z / (7 * unit)) + 0.6 * Math.sin((x + z) / (4 * unit));
    return (
      wave *
      (smooth(1.25 * clear, 1.25 * clear + 30 * unit, away) * 2.2 + smooth(0.5, 1, away / reach) * 7) *
      unit
    );
  };

  const positions: number[] = [];
  const colors: number[] = [];
  const index: number[] = [];
  const color = new Color();
  const corner = (x: number, y: number, z: number) => {
    positions.push(x, y, z);
    const spots =
      Math.sin((x / unit) * 0.23 + 2) * Math.sin((z / unit) * 0.19) + 0.5 * Math.sin(((x - z) / unit) * 0.41);
    color.copy(GRASS).lerp(DRY, smooth(-0.2, 1, spots));
    color.lerp(EARTH, 0.4 * (1 - smooth(0.4, 1.1, Math.hypot(x, z) / clear + 0.12 * spots)));
    color.multiplyScalar(random(0.93, 1.06));
    colors.push(color.r, color.g, color.b);
  };
  // Squares in the middle; around them rings, whose corners lie farther and farther apart.
  const half = 0.85 * clear;
  for (let i = 0; i <= ACROSS; i++) {
    for (let k = 0; k <= ACROSS; k++) {
      const jitter = () => random(-0.3, 0.3) / ACROSS;
      const [x, z] = [(2 * (i / ACROSS + jitter()) - 1) * half, (2 * (k / ACROSS + jitter()) - 1) * half];
      corner(x, hills(x, z), z);
      if (i === ACROSS || k === ACROSS) continue;
      const a = i * (ACROSS + 1) + k;
      index.push(a, a + 1, a + ACROSS + 2, a, a + ACROSS + 2, a + ACROSS + 1);
    }
  }
  const first = positions.length / 3;
  const inner = 0.8 * half;
  for (let ring = 0; ring <= RINGS; ring++) {
    const share = ring / RINGS;
    const radius = inner + (reach - inner) * share ** 1.7;
    for (let i = 0; i < AROUND; i++) {
      const angle = ((i + (ring % 2) / 2 + random(-0.25, 0.25)) / AROUND) * TURN;
      const [x, z] = [Math.cos(angle) * radius, Math.sin(angle) * radius];
      // under the squares, so that they are what is seen of both
      const below = radius < 1.42 * half ? -0.02 * unit : 0;
      corner(x, heightAt(x, z) + below, z);
      if (ring === RINGS) continue;
      const [a, b] = [first + ring * AROUND + i, first + ring * AROUND + ((i + 1) % AROUND)];
      const [c, d] = [a + AROUND, b + AROUND];
      index.push(...(ring % 2 ? [a, b, d, a, d, c] : [a, b, c, b, d, c]));
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new Float32BufferAttribute(positions, 3));
  geometry.setAttribute('color', new Float32BufferAttribute(colors, 3));
  geometry.setIndex(index);
  geometry.computeVertexNormals();
  const material = new MeshStandardMaterial({ vertexColors: true, roughness: 1 });
  const ground = new Mesh(geometry, material);
  const land = new Group().add(ground);

  const matrix = new Matrix4();
  const turn = new Quaternion();
  const scatter = (
    shape: BufferGeometry,
    count: number,
    from: number,
    to: number,
    size: number,
    flat: number,
  ) => {
    const all = new InstancedMesh(
      shape,
      new MeshStandardMaterial({ vertexColors: true, flatShading: true }),
      count,
    );
    for (let i = 0; i < count; i++) {
      const [angle, r] = [random(0, TURN), from + (to - from) * random(0, 1) ** 1.5];
      const [x, z, s] = [Math.cos(angle) * r, Math.sin(angle) * r, size * unit * random(0.7, 1.35)];
      turn.setFromAxisAngle(UP, random(0, TURN));
      const y = r < clear ? hills(x, z) : heightAt(x, z);
      matrix.compose(new Vector3(x, y, z), turn, new Vector3(s, s * flat, s));
      all.setMatrixAt(i, matrix);
      all.setColorAt(i, color.setHSL(random(0.08, 0.14), 0.3, random(0.75, 1)));
    }
    all.castShadow = true;
    land.add(all);
  };
  scatter(createTree(), 130, 1.2 * clear + 2 * unit, 1.2 * clear + 55 * unit, 3.2, 1);
  scatter(
    painted(new IcosahedronGeometry(0.35), 0x9a9384),
    26,
    1.05 * clear + unit,
    1.2 * clear + 25 * unit,
    1,
    0.7,
  );
  if (lawn > 0) scatter(createTuft(), 500, unit, lawn, 0.09, 1);
  for (const one of land.children) {
    one.receiveShadow = true;
    scenery.add(one);
  }
  return land;
}

/** Of height 1. */
function createTree(): BufferGeometry {
  const pieces = [
    painted(new CylinderGeometry(0.035, 0.05, 0.3, 6).translate(0, 0.12, 0), 0x6b4a2f),
    painted(new ConeGeometry(0.27, 0.5, 7).translate(0, 0.44, 0), 0x55762f),
    painted(new ConeGeometry(0.19, 0.42, 7).translate(0, 0.77, 0), 0x6d8c38),
  ];
  return mergeBufferGeometries(pieces) as BufferGeometry;
}

/** Of blades that lean outwards. */
function createTuft(): BufferGeometry {
  const blades = Array.from({ length: 7 }, (_, i) =>
    painted(new ConeGeometry(0.09, 1, 3, 1, true).translate(0, 0.45, 0), i % 2 ? 0x6f8d36 : 0x8aa548)
      .rotateX(0.2 + 0.12 * (i % 3))
      .rotateY(i * 2.4),
  );
  return mergeBufferGeometries(blades) as BufferGeometry;
}

function painted(geometry: BufferGeometry, hex: number): BufferGeometry {
  const plain = geometry.index === null ? geometry : geometry.toNonIndexed();
  const { r, g, b } = new Color(hex);
  const { count } = plain.getAttribute('position');
  plain.setAttribute(
    'color',
    new Float32BufferAttribute(Array.from({ length: count }, () => [r, g, b]).flat(), 3),
  );
  return plain;
}
