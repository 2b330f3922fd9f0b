import type { VertexMotion } from 'skinned-instanced-mesh/vertex-textures';
import {
  BufferGeometry,
  Color,
  DoubleSide,
  Float32BufferAttribute,
  MathUtils,
  Mesh,
  MeshStandardMaterial,
} from 'three';

/** From nose to tail: how high and how wide the body is, as shares of its length. */
const OUTLINE: [at: number, height: number, width: number][] = [
  [0, 0.02, 0.02],
  [0.08, 0.09, 0.05],
  [0.25, 0.15, 0.08],
  [0.45, 0.14, 0.075],
  [0.7, 0.07, 0.04],
  [0.85, 0.03, 0.015],
  [0.9, 0.035, 0.008],
];

/** Flat triangles: along the body and up, in shares of its length. */
const FINS: [along: number, up: number][][] = [
  [
    [0.86, 0.02],
    [1.02, 0.17],
    [0.95, 0],
  ],
  [
    [0.86, -0.02],
    [1.02, -0.17],
    [0.95, 0],
  ],
  [
    [0.28, 0.13],
    [0.52, 0.22],
    [0.6, 0.09],
  ],
  [
    [0.5, -0.11],
    [0.62, -0.17],
    [0.66, -0.06],
  ],
];

const BACK = new Color(0x8f8fa0);
const SIDE = new Color(0xffffff);
const FIN = new Color(0xd0c8d0);

/** Frames of a stroke. */
const FRAMES = 16;
/** How a fish moves: seconds that a stroke takes, and how far its tail swings. */
const STROKES: [name: string, duration: number, swing: number][] = [
  ['Swim', 0.8, 0.1],
  ['Glide', 1.6, 0.04],
  ['Dart', 0.3, 0.16],
];

/** How wide and high the outline is there. */
function outlineAt(at: number): [height: number, width: number] {
  const next = Math.max(
    1,
    OUTLINE.findIndex(([end]) => end >= at),
  );
  const [a, b] = [OUTLINE[next - 1], OUTLINE[next]];
  const share = MathUtils.smoothstep(at, a[0], b[0]);
  return [MathUtils.lerp(a[1], b[1], share), MathUtils.lerp(a[2], b[2], share)];
}

/** A fish of length 1 without a single bone, which swims towards +z. */
export function createFish(detail: number): { fish: Mesh; motions: VertexMotion[] } {
  const rows = Math.max(6, Math.round(16 * detail));
  const columns = Math.max(5, Math.round(12 * detail));
  const positions: number[] = [];
  const colors: number[] = [];
  const index: number[] = [];
  const color = new Color();
  for (let row = 0; row <= rows; row++) {
    const at = (0.9 * row) / rows;
    const [height, width] = outlineAt(at);
    for (let column = 0; column < columns; column++) {
      const angle = (2 * Math.PI * column) / columns;
      const up = Math.cos(angle);
      positions.push(width * Math.sin(angle), height * up, 0.5 - at);
      color.lerpColors(SIDE, BACK, MathUtils.smoothstep(up, 0.1, 0.6));
      // Two stripes along the side.
      if (Math.abs(up - 0.25) < 0.1) color.lerp(FIN, 0.7);
      colors.push(color.r, color.g, color.b);
      if (row === rows) continue;
      const [a, b] = [row * columns + column, row * columns + ((column + 1) % columns)];
      index.push(a, b, a + columns, b, b + columns, a + columns);
    }
  }
  for (const fin of FINS) {
    for (const [along, up] of fin) {
      index.push(positions.length / 3);
      positions.push(0, up, 0.5 - along);
      colors.push(FIN.r, FIN.g, FIN.b);
    }
  }

  const geometry = new BufferGeometry();
  const position = new Float32BufferAttribute(positions, 3);
  geometry.setAttribute('position', position);
  geometry.setAttribute('color', new Float32BufferAttribute(colors, 3));
  geometry.setIndex(index);
  geometry.computeVertexNormals();
  const material = new MeshStandardMaterial({ vertexColors: true, roughness: 0.35, side: DoubleSide });
  const fish = new Mesh(geometry, material);
  fish.name = 'Fish';
  fish.castShadow = true;

  const motions = STROKES.map(([name, duration, swing]) => ({
    name,
    duration,
    fps: FRAMES / duration,
    /** A wave runs from the head to the tail, where it is highest. */
    pose(time: number) {
      for (let i = 0; i < position.count; i++) {
        const along = 0.5 - positions[i * 3 + 2];
        const reach = swing * (0.15 + along * along);
        const phase = 5 * along - (2 * Math.PI * time) / duration;
        position.setX(i, positions[i * 3] + reach * Math.sin(phase));
      }
    },
  }));
  return { fish, motions };
}
