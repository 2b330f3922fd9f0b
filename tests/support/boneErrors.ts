import { type Matrix4, type Object3D, Quaternion, Vector3 } from 'three';

const _a = { position: new Vector3(), quaternion: new Quaternion(), scale: new Vector3() };
const _b = { position: new Vector3(), quaternion: new Quaternion(), scale: new Vector3() };

/** The names that only one object below a root has. */
export function uniqueNames(root: Object3D): Set<string> {
  const found = new Map<string, number>();
  root.traverse(({ name }) => found.set(name, (found.get(name) ?? 0) + 1));
  return new Set([...found].filter(([name, count]) => count === 1 && name !== '').map(([name]) => name));
}

/** How far a place is from another, as a share of a height; turns in radians and scales as shares count as much. */
export function placeError(a: Matrix4, b: Matrix4, height: number): number {
  a.decompose(_a.position, _a.quaternion, _a.scale);
  b.decompose(_b.position, _b.quaternion, _b.scale);
  const turned = Math.hypot(
    ...[0, 1, 2].map((column) => {
      const [x, y] = [a, b].map((m) => new Vector3().setFromMatrixColumn(m, column).normalize());
      return x.distanceTo(y);
    }),
  );
  return Math.max(
    _a.position.distanceTo(_b.position) / height,
    turned,
    _a.scale.distanceTo(_b.scale) / _b.scale.length(),
  );
}

/** The same of position, quaternion and scale of two objects, relative to their parents. */
export function localError(a: Object3D, b: Object3D, height: number): number {
  const [p, q] = [a.quaternion.toArray(), b.quaternion.toArray()];
  const apart = (sign: number) => Math.hypot(...p.map((value, i) => value - sign * q[i]));
  return Math.max(
    a.position.distanceTo(b.position) / Math.max(b.position.length(), 0.05 * height),
    Math.min(apart(1), apart(-1)),
    a.scale.distanceTo(b.scale) / b.scale.length(),
  );
}
