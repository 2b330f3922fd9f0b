import type { Accessor, Document, Primitive } from '@gltf-transform/core';
import { EXTMeshoptCompression, KHRMeshQuantization } from '@gltf-transform/extensions';
import { MeshoptEncoder } from 'meshoptimizer';

type Numbers = Int8Array<ArrayBuffer> | Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer>;

/** What numbers of vertices become, by the names of their attributes. Positions stay: with them go the inverses of all skins. */
const SHORTER: [names: RegExp, from: number, type: new (length: number) => Numbers, one: number][] = [
  [/^(NORMAL|TANGENT)$/, -1, Int8Array, 127],
  [/^TEXCOORD_/, 0, Uint16Array, 65535],
  [/^COLOR_/, 0, Uint8Array, 255],
];

/**
 * Has a document's meshes written as small as meshoptimizer packs them without a loss, once their triangles and vertices are in the
 * order that packs best, and normals, texture coordinates, colours and weights are integers. All skins keep the same joints.
 */
export function compressMeshes(document: Document): void {
  const method = EXTMeshoptCompression.EncoderMethod.QUANTIZE;
  document.createExtension(EXTMeshoptCompression).setRequired(true).setEncoderOptions({ method });
  document.createExtension(KHRMeshQuantization).setRequired(true);
  for (const primitive of document
    .getRoot()
    .listMeshes()
    .flatMap((mesh) => mesh.listPrimitives())) {
    reorder(primitive);
    for (const name of primitive.listSemantics()) {
      const values = primitive.getAttribute(name) as Accessor;
      for (const [names, from, Type, one] of SHORTER) if (names.test(name)) shorten(values, from, Type, one);
    }
    const weights = primitive.getAttribute('WEIGHTS_0');
    if (weights !== null && primitive.getAttribute('WEIGHTS_1') === null) shortenWeights(weights);
  }
}

/** Puts triangles and vertices in an order in which they pack well, where no other primitive has the same vertices. */
function reorder(primitive: Primitive): void {
  const indices = primitive.getIndices();
  const attributes = [primitive, ...primitive.listTargets()].flatMap((one) => one.listAttributes());
  const isOwn = (accessor: Accessor) =>
    accessor.listParents().filter(({ propertyType }) => propertyType !== 'Root').length === 1;
  if (indices === null || primitive.getMode() !== 4 || ![indices, ...attributes].every(isOwn)) return;
  const order = new Uint32Array(indices.getArray() as Uint32Array);
  const [places, count] = MeshoptEncoder.reorderMesh(order, true, true);
  for (const attribute of attributes) {
    const size = attribute.getElementSize();
    const before = attribute.getArray() as Float32Array<ArrayBuffer>;
    const after = new (before.constructor as Float32ArrayConstructor)(count * size);
    places.forEach((place, i) => {
      // Of a vertex that no triangle has.
      if (place < count) after.set(before.subarray(i * size, (i + 1) * size), place * size);
    });
    attribute.setArray(after);
  }
  indices.setArray(count > 65535 ? order : new Uint16Array(order));
}

/** Makes integers of numbers from `from` to 1, unless some are beyond. */
function shorten(accessor: Accessor, from: number, Type: new (length: number) => Numbers, one: number): void {
  const values = accessor.getArray();
  if (!(values instanceof Float32Array) || values.some((value) => !(value >= from && value <= 1))) return;
  const integers = new Type(values.length);
  for (const [i, value] of values.entries()) integers[i] = Math.round(value * one);
  accessor.setArray(integers).setNormalized(true);
}

/** The same for four weights, which add up to 1 afterwards, too. */
function shortenWeights(accessor: Accessor): void {
  const values = accessor.getArray();
  if (!(values instanceof Float32Array)) return;
  const integers = new Uint8Array(values.length);
  for (let at = 0; at < values.length; at += 4) {
    const weights = values.subarray(at, at + 4);
    const sum = weights.reduce((all, weight) => all + weight, 0);
    if (!(sum > 0)) return;
    let left = 255;
    weights.forEach((weight, i) => {
      integers[at + i] = Math.round((weight / sum) * 255);
      left -= integers[at + i];
    });
    integers[at + weights.indexOf(Math.max(...weights))] += left;
  }
  accessor.setArray(integers).setNormalized(true);
}
