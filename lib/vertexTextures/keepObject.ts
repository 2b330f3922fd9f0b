import {
  type BufferAttribute,
  type BufferGeometry,
  Matrix4,
  type Mesh,
  type Object3D,
  type SkinnedMesh,
} from 'three';
import { updateWorld } from './MeshSampler.js';

/** Fields of nodes and geometries that code sets anew. */
const REFERRED = ['visible', 'matrixAutoUpdate', 'geometry', 'morphTargetInfluences', 'index'];

/**
 * Fields of nodes and geometries that code sets anew, or writes into; bounds may be null. `rotation` stands before `quaternion`, which
 * it sets: then both get back their very numbers, whichever of them a program turns its nodes by.
 */
const COPIED = [
  'position',
  'rotation',
  'quaternion',
  'scale',
  'matrix',
  'matrixWorld',
  'boundingBox',
  'boundingSphere',
];

/** Attributes into which code writes that poses a geometry: `computeVertexNormals` and `computeTangents` do too. */
const WRITTEN = ['position', 'normal', 'tangent'];

/** A vector, angles, a matrix, a box or a sphere. */
interface Copied {
  clone?(): Copied;
  equals(other: Copied): boolean;
  copy(source: Copied): unknown;
}

/** Remembers how an object is posed, by its nodes and influences of morph targets; what is returned poses it so again. */
function keepPose(object: Object3D): () => void {
  const kept: (() => void)[] = [];
  const nodes = new Set<Object3D>();
  object.traverse((node) => {
    nodes.add(node);
    // A clip can move bones that are not under the object too, if it is their mesh.
    for (const bone of (node as SkinnedMesh).skeleton?.bones ?? []) nodes.add(bone);
  });
  for (const node of nodes) {
    const { morphTargetInfluences } = node as Mesh;
    keepFields(node, kept);
    if (morphTargetInfluences) keepNumbers(morphTargetInfluences, kept);
  }
  return () => {
    for (const restore of kept) restore();
    updateWorld(object);
  };
}

/** {@link keepPose}, and what else code may change: children, and what geometries hold. */
export function keepObject(object: Object3D): () => void {
  const kept: (() => void)[] = [];
  const geometries = new Set<BufferGeometry>();
  object.traverse((node) => {
    const { geometry } = node as Mesh;
    keepChildren(node, kept);
    if (geometry) geometries.add(geometry);
  });
  // Meshes may share one.
  for (const geometry of geometries) {
    keepFields(geometry, kept);
    keepAttributes(geometry, kept);
  }
  // Last: it brings the world matrices of the nodes up to date that are under the object again.
  kept.push(keepPose(object));
  return () => {
    for (const restore of kept) restore();
  };
}

function keepFields(holder: object, kept: (() => void)[]): void {
  const fields = holder as Record<string, unknown>;
  for (const name of [...REFERRED, ...COPIED]) {
    const value = fields[name];
    // Geometries have a method `scale`, which is left as it is.
    const content = COPIED.includes(name) && (value as Copied | null | undefined)?.clone?.();
    kept.push(() => {
      // Some cannot be set, and setting others does more than remember the value.
      if (fields[name] !== value) fields[name] = value;
      if (content && !(value as Copied).equals(content)) (value as Copied).copy(content);
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

/**
 * The pose that an object has when this is made. Others may move and pose the object in the breaks of a bake by clips: each frame begins
 * with this pose, and leaves theirs. Code of the user's may go on from its last frame, so that its frames begin with that.
 */
export class RestPose {
  /** Inverse of the root's world matrix in this pose, below whatever it stands now. */
  readonly toRoot = new Matrix4();
  private readonly take: (() => void) | null;
  private giveBack: (() => void) | null = null;

  constructor(
    private readonly object: Object3D,
    byCode: boolean,
  ) {
    this.take = byCode ? null : keepPose(object);
  }

  /** Poses the object so. */
  pose(): void {
    const { object, take } = this;
    if (take === null) updateWorld(object);
    else {
      this.giveBack = keepPose(object);
      take();
    }
    this.toRoot.copy(object.matrixWorld).invert();
  }

  /** Poses the object as it was before. */
  release(): void {
    this.giveBack?.();
    this.giveBack = null;
  }
}
