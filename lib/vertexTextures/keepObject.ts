import type { BufferAttribute, BufferGeometry, Mesh, Object3D, SkinnedMesh } from 'three';
import { updateWorld } from './MeshSampler.js';

/** Attributes into which code writes that poses a geometry: `computeVertexNormals` and `computeTangents` do too. */
const WRITTEN = ['position', 'normal', 'tangent'];

/** Remembers how an object is posed; what is returned poses it so again. */
export function keepObject(object: Object3D): () => void {
  const kept: (() => void)[] = [];
  const geometries = new Set<BufferGeometry>();
  object.traverse((node) => {
    kept.push(keepNode(node));
    const { geometry } = node as Mesh;
    if (geometry?.isBufferGeometry) geometries.add(geometry);
  });
  // Meshes may share one.
  for (const geometry of geometries) kept.push(keepGeometry(geometry));
  return () => {
    for (const restore of kept) restore();
    updateWorld(object);
  };
}

function keepNode(node: Object3D): () => void {
  const { position, quaternion, scale, matrix, matrixAutoUpdate, visible } = node;
  const [p, q, s, m] = [position.clone(), quaternion.clone(), scale.clone(), matrix.clone()];
  const mesh = keepMesh(node as Mesh);
  return () => {
    position.copy(p);
    quaternion.copy(q);
    scale.copy(s);
    if (node.matrix !== matrix) node.matrix = matrix;
    matrix.copy(m);
    node.matrixAutoUpdate = matrixAutoUpdate;
    // Classes may do more than remember the value.
    if (node.visible !== visible) node.visible = visible;
    mesh?.();
  };
}

/** Keeps what nodes with a geometry have; null for the others. */
function keepMesh(mesh: Mesh): (() => void) | null {
  const { geometry, morphTargetInfluences } = mesh;
  if (geometry === undefined) return null;
  const influences = morphTargetInfluences?.slice() ?? [];
  // A skinned mesh has bounds of its own, as it is posed.
  const bounds = (mesh as SkinnedMesh).isSkinnedMesh ? keepBounds(mesh as SkinnedMesh) : null;
  return () => {
    mesh.geometry = geometry;
    mesh.morphTargetInfluences = morphTargetInfluences;
    influences.forEach((influence, i) => {
      (morphTargetInfluences as number[])[i] = influence;
    });
    bounds?.();
  };
}

function keepGeometry(geometry: BufferGeometry): () => void {
  const attributes = { ...geometry.attributes };
  const { index } = geometry;
  const bounds = keepBounds(geometry);
  const contents = WRITTEN.map((name) => keepValues(attributes[name] as BufferAttribute | undefined));
  return () => {
    for (const name of Object.keys(geometry.attributes)) {
      if (!(name in attributes)) geometry.deleteAttribute(name);
    }
    for (const [name, attribute] of Object.entries(attributes)) geometry.setAttribute(name, attribute);
    geometry.setIndex(index);
    for (const restore of contents) restore?.();
    bounds();
  };
}

/** Keeps the numbers of an attribute; null if there is none, or only on the GPU. */
function keepValues(attribute: BufferAttribute | undefined): (() => void) | null {
  if (attribute?.array === undefined) return null;
  const values = attribute.array.slice();
  return () => {
    attribute.array.set(values);
    attribute.needsUpdate = true;
  };
}

function keepBounds(holder: Pick<BufferGeometry, 'boundingBox' | 'boundingSphere'>): () => void {
  const { boundingBox, boundingSphere } = holder;
  const box = boundingBox?.clone();
  const sphere = boundingSphere?.clone();
  return () => {
    // Computing them writes into those that are there.
    holder.boundingBox = box === undefined ? boundingBox : (boundingBox?.copy(box) ?? null);
    holder.boundingSphere = sphere === undefined ? boundingSphere : (boundingSphere?.copy(sphere) ?? null);
  };
}
