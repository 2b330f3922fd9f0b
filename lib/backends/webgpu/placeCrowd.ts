import type { Object3D } from 'three';
import {
  Fn,
  int,
  normalLocal,
  OnAfterObjectUpdate,
  positionLocal,
  positionPrevious,
  property,
  tangentLocal,
  transformNormal,
  varyingProperty,
  vec4,
} from 'three/tsl';
import type { Node, NodeBuilder, Texture } from 'three/webgpu';
import { type TexelNode, texels } from '../../../shaders/TexelNode.js';
import { buildOf, keptByBuild, mat4Of, objectAttribute } from '../../../shaders/tsl.js';
import { type InstanceMatrices, PreviousMatrices } from '../../instances/InstanceMatrices.js';
import { type DrawnCrowd, isCrowd } from '../DrawnCrowd.js';
import { drawnTexels, instanceNode, matrixNode, onCrowdUpdate, type PartNode } from './crowdNodes.js';

/** Texels of a matrix: its rows but the last. */
const MATRIX_TEXELS = 3;

/** Where an instance stands and what multiplies its colour. Both build on the current stack. */
interface Place {
  matrix(): Node<'mat4'>;
  color(): Node<'vec3'>;
}

/**
 * Applies the instances' matrices and colours. three.js's own way is not used: it decides how to bind matrices by how many
 * attributes the geometry has, whether shaders read them or not, for small crowds may send all matrices in each frame, and
 * does not turn tangents.
 */
export function placeCrowd(crowd: DrawnCrowd, builder: NodeBuilder, part: PartNode): void {
  const build = buildOf(builder);
  const place = Fn(() => {
    const { matrix: matrixOfInstance, color } = placeOf(crowd, builder);
    const matrix = knownMatrices(builder).now ?? matrixOfInstance();
    positionLocal.assign(matrix.mul(vec4(positionLocal, 1)).xyz);
    if (build.hasGeometryAttribute('normal')) normalLocal.assign(transformNormal(normalLocal, matrix));
    if (build.hasGeometryAttribute('tangent')) tangentLocal.assign(matrix.mul(vec4(tangentLocal, 0)).xyz);

    if (build.needsPreviousData()) {
      const previous = knownMatrices(builder).before ?? previousMatrix(crowd, builder);
      positionPrevious.assign(previous.mul(vec4(positionPrevious, 1)).xyz);
    }
    if (crowd.instanceColor !== null) {
      varyingProperty('vec3', 'vInstanceColor').assign(color().mul(part().xyz));
    }
  }, 'void');
  place();
}

/** The matrices of a build that what moves vertices has asked for already. */
const knownMatrices = /*@__PURE__*/ keptByBuild((): { now?: Node<'mat4'>; before?: Node<'mat4'> } => ({}));

const matrixNow = /*@__PURE__*/ property('mat4', 'crowdMatrixNow');
const matrixBefore = /*@__PURE__*/ property('mat4', 'crowdMatrixBefore');

/** The matrix of the instance, for who needs it before vertices are placed. Builds on the current stack. */
export const instanceMatrixNode = (crowd: DrawnCrowd, builder: NodeBuilder): Node<'mat4'> =>
  knownMatrix(builder, 'now', matrixNow, () => placeOf(crowd, builder).matrix());

/** The same in the frame before. */
export const previousMatrixNode = (crowd: DrawnCrowd, builder: NodeBuilder): Node<'mat4'> =>
  knownMatrix(builder, 'before', matrixBefore, () => previousMatrix(crowd, builder));

/** Keeps a matrix in a variable of its own, since it is asked for in several functions of a build. */
function knownMatrix(
  builder: NodeBuilder,
  when: 'now' | 'before',
  variable: typeof matrixNow,
  make: () => Node<'mat4'>,
): Node<'mat4'> {
  const known = knownMatrices(builder);
  if (known[when] === undefined) {
    variable.assign(make());
    known[when] = variable;
  }
  return known[when];
}

function placeOf(crowd: DrawnCrowd, builder: NodeBuilder): Place {
  const matrix = matrixNode(crowd, builder);
  if (matrix !== null) return { matrix: () => matrix, color: () => colorFromTexels(crowd, builder) };
  return crowd.texels.matrices === null
    ? fromAttributes()
    : fromTexels(crowd, crowd.texels.matrices, builder);
}

/** Where the matrix is in a buffer that the GPU reads for other purposes too, there is a copy of the colours alone. */
function colorFromTexels(crowd: DrawnCrowd, builder: NodeBuilder): Node<'vec3'> {
  const nodes = drawnTexels(crowd, (drawn) => drawn.texels.colors?.texture.layered);
  return nodes.instanceTexels(instanceNode(crowd, builder).toVar(), 1, int(0), 1)[0].xyz;
}

function fromAttributes(): Place {
  return {
    matrix: () => objectAttribute('instanceMatrix', 'mat4'),
    color: () => objectAttribute('instanceColor', 'vec3'),
  };
}

function fromTexels(crowd: DrawnCrowd, matrices: InstanceMatrices, builder: NodeBuilder): Place {
  const nodes = drawnTexels(crowd, (drawn) => drawn.texels.matrices?.texture.layered);
  const instance = instanceNode(crowd, builder).toVar();
  return {
    matrix: () => matrixOf(nodes.instanceTexels(instance, matrices.texels, int(0), MATRIX_TEXELS)),
    color: () => nodes.instanceTexels(instance, matrices.texels, int(MATRIX_TEXELS), 1)[0].xyz,
  };
}

/** The instance's matrix in the frame before. Matrices are kept for the next frame after each draw. */
function previousMatrix(crowd: DrawnCrowd, builder: NodeBuilder): Node<'mat4'> {
  // What the GPU writes is not kept.
  if (crowd.crowd.written?.places) return placeOf(crowd, builder).matrix();
  const nodes = texels(keptMatrices(crowd).texture.layered as Texture);
  onCrowdUpdate((drawn, renderer) => {
    const kept = keptMatrices(drawn);
    kept.prepare(renderer);
    kept.settle(drawn.instanceMatrix);
    nodes.value = kept.texture.layered;
  });
  OnAfterObjectUpdate(({ object }: { object: Object3D | null }) => {
    if (isCrowd(object)) keptMatrices(object).update(object.instanceMatrix);
  });
  return matrixOf(rowsOf(nodes, instanceNode(crowd, builder), keptMatrices(crowd).texels));
}

/** What is kept of a crowd for the next frame's motion vectors; to begin with, where it stands now. */
function keptMatrices(crowd: DrawnCrowd): PreviousMatrices {
  const { instanceMatrix, texels } = crowd;
  const { previous: previousMatrices } = texels;
  if (previousMatrices?.capacity === instanceMatrix.count) return previousMatrices;
  if (previousMatrices === null) {
    texels.previous = new PreviousMatrices(instanceMatrix.count, false);
    texels.previous.update(instanceMatrix);
  } else {
    texels.previous = previousMatrices.resizedFor(instanceMatrix);
  }
  return texels.previous;
}

function rowsOf(nodes: TexelNode, instance: Node<'int'>, count: number): Node<'vec4'>[] {
  return nodes.instanceTexels(instance, count, int(0), count);
}

function matrixOf([x, y, z]: readonly Node<'vec4'>[]): Node<'mat4'> {
  return mat4Of([
    vec4(x.x, y.x, z.x, 0),
    vec4(x.y, y.y, z.y, 0),
    vec4(x.z, y.z, z.z, 0),
    vec4(x.w, y.w, z.w, 1),
  ]).toVar();
}
