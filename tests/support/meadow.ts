import {
  BufferAttribute,
  BufferGeometry,
  Euler,
  Group,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  Quaternion,
  Vector3,
} from 'three';
import { random } from './random.js';

/** A standing strip of quads, 1 high, with vertex colours: red is how high a vertex is, green how far aside, blue zero. */
export function createBlade(rows = 4, colors = true): Mesh<BufferGeometry, MeshStandardMaterial> {
  const positions: number[] = [];
  const normals: number[] = [];
  const shades: number[] = [];
  const index: number[] = [];
  for (let row = 0; row <= rows; row++) {
    for (const side of [-1, 1]) {
      const y = row / rows;
      positions.push(side * 0.1 * (1.2 - y), y, 0.02 * side);
      normals.push(0.1 * side, 0.2, 0.97);
      shades.push(y, (side + 1) / 2, 0);
    }
    if (row > 0) {
      const at = row * 2;
      index.push(at - 2, at - 1, at, at, at - 1, at + 1);
    }
  }
  const geometry = new BufferGeometry().setIndex(index);
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(positions), 3));
  geometry.setAttribute('normal', new BufferAttribute(new Float32Array(normals), 3));
  if (colors) geometry.setAttribute('color', new BufferAttribute(new Float32Array(shades), 3));
  const mesh = new Mesh(geometry, new MeshStandardMaterial({ color: 0x66aa33, side: 2 }));
  mesh.name = 'Blade';
  return mesh;
}

export const bladeRoot = (colors = true): Group => new Group().add(createBlade(4, colors));

/** Somewhere within `size` of the middle, turned and scaled alike in all directions. */
export function somewhere(next: () => number, size: number): Matrix4 {
  return new Matrix4().compose(
    new Vector3(next() - 0.5, (next() - 0.5) * 0.2, next() - 0.5).multiplyScalar(2 * size),
    new Quaternion().setFromEuler(new Euler(next() - 0.5, next() * 6, next() - 0.5)),
    new Vector3().setScalar(0.5 + next()),
  );
}

export { random };
