import type { BufferAttribute, BufferGeometry, Mesh, Object3D, SkinnedMesh } from 'three';

/**
 * Fields of nodes and geometries that code sets anew, or writes into; bounds may be null. `rotation` stands before `quaternion`, which
 * it sets: then both get back their very numbers, whichever of them a program turns its nodes by.
 */
const FIELDS =
  /*@__PURE__*/ 'visible matrixAutoUpdate geometry morphTargetInfluences index position rotation quaternion scale matrix matrixWorld boundingBox boundingSphere'.split(
    ' ',
  );

/** Attributes into which code writes that poses a geometry: `computeVertexNormals` and `computeTangents` do too. */
const WRITTEN = ['position', 'normal', 'tangent'];

/** A vector, angles, a matrix, a box or a sphere. */
interface Copied {
  clone(): Copied;
  equals?(other: Copied): boolean;
  copy(source: Copied): unknown;
}

/**
 * Remembers all of an object that code may change which poses it: its nodes, influences of morph targets, children, and what geometries
 * hold.
 *
 * @returns Puts it back.
 */
export function keepObject(object: Object3D): () => void {
  const kept: (() => void)[] = [];
  const nodes = new Set<Object3D>();
  const geometries = new Set<BufferGeometry>();
  object.traverse((node) => {
    nodes.add(node);
    for (const bone of (node as SkinnedMesh).skeleton?.bones ?? []) nodes.add(bone);
    const { geometry } = node as Mesh;
    // Meshes may share one.
    if (geometry) geometries.add(geometry);
    keepChildren(node, kept);
  });
  for (const geometry of geometries) {
    keepFields(geometry, kept);
    keepAttributes(geometry, kept);
  }
  for (const node of nodes) {
    keepFields(node, kept);
    const { morphTargetInfluences } = node as Mesh;
    if (morphTargetInfluences) keepNumbers(morphTargetInfluences, kept);
  }
  return () => {
    for (const restore of kept) restore();
    updateWorld(object);
  };
}

/** Brings all world matrices that posing needs up to date. */
export function updateWorld(root: Object3D): void {
  root.updateWorldMatrix(true, false);
  root.updateMatrixWorld(true);
}

function keepFields(holder: object, kept: (() => void)[]): void {
  const fields = holder as Record<string, unknown>;
  for (const name of FIELDS) {
    const value = fields[name] as Copied | null | undefined;
    const content = value?.equals && value.clone();
    kept.push(() => {
      // Some cannot be set, and setting others does more than remember the value.
      if (fields[name] !== value) fields[name] = value;
      if (content && value?.equals?.(content) === false) value.copy(content);
    });
  }
}

/** Takes out what was added, and puts back what was taken out. */
function keepChildren(node: Object3D, kept: (() => void)[]): void {
  const before = new Set(node.children);
  kept.push(() => {
    for (const child of [...node.children]) if (!before.has(child)) child.removeFromParent();
    for (const child of before) if (child.parent !== node) node.add(child);
    // In the order that they had.
    node.children.splice(0, node.children.length, ...before);
  });
}

function keepAttributes({ attributes }: BufferGeometry, kept: (() => void)[]): void {
  const before = { ...attributes };
  kept.push(() => {
    for (const name in attributes) delete attributes[name];
    Object.assign(attributes, before);
  });
  for (const name of WRITTEN) {
    const attribute = before[name] as BufferAttribute | undefined;
    // Some are on the GPU alone.
    if (!attribute?.array) continue;
    keepNumbers(attribute.array, kept);
    kept.push(() => {
      attribute.needsUpdate = true;
    });
  }
}

function keepNumbers(
  numbers: { [index: number]: number; slice(): ArrayLike<number> },
  kept: (() => void)[],
): void {
  const values = numbers.slice();
  kept.push(() => {
    for (let i = 0; i < values.length; i++) numbers[i] = values[i];
  });
}
