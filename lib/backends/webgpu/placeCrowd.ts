import type { Object3D } from 'three';
import {
  Fn,
  int,
  normalLocal,
  OnAfterObjectUpdate,
  positionLocal,
  positionPrevious,
  tangentLocal,
  transformNormal,
  varyingProperty,
  vec4,
} from 'three/tsl';
import type { Node, NodeBuilder, Texture } from 'three/webgpu';
import { texels } from '../../../shaders/TexelNode.js';
import { buildOf, keptOf, mat4Of, objectAttribute } from '../../../shaders/tsl.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { isCrowd } from '../../core/drawnCrowds.js';
import { PreviousMatrices } from '../../instances/InstanceMatrices.js';
import { drawnTexels, instanceNode, onCrowdUpdate, placesOf } from './crowdNodes.js';
import { placeAt } from './drawnLists.js';
import type { PartNode } from './featureNodes.js';

/** Texels of a matrix: its rows but the last. */
const MATRIX_TEXELS = 3;

/**
 * Applies the instances' matrices and colours. three.js's own way is not used: it decides how to bind matrices by how many
 * attributes the geometry has, whether shaders read them or not, for small crowds may send all matrices in each frame, and
 * does not turn tangents.
 */
export function placeCrowd(crowd: DrawnCrowd, builder: NodeBuilder, part: PartNode): void {
  const build = buildOf(builder);
  const place = Fn(() => {
    const matrix = instanceMatrixNode(crowd, builder);
    positionLocal.assign(matrix.mul(vec4(positionLocal, 1)).xyz);
    if (build.hasGeometryAttribute('normal')) normalLocal.assign(transformNormal(normalLocal, matrix));
    if (build.hasGeometryAttribute('tangent')) tangentLocal.assign(matrix.mul(vec4(tangentLocal, 0)).xyz);

    if (build.needsPreviousData()) {
      const previous = previousMatrixNode(crowd, builder);
      positionPrevious.assign(previous.mul(vec4(positionPrevious, 1)).xyz);
    }
    if (crowd.instanceColor !== null) {
      varyingProperty('vec3', 'vInstanceColor').assign(colorOfPlace(crowd, builder).mul(part().xyz));
    }
  }, 'void');
  place();
}

/** The matrix of the instance. Builds on the current stack. */
export function instanceMatrixNode(crowd: DrawnCrowd, builder: NodeBuilder): Node<'mat4'> {
  const kept = keptOf<{ matrix: Node<'mat4'> }>(builder);
  kept.matrix ??= matrixOfPlace(crowd, builder);
  return kept.matrix;
}

/** The same in the frame before. */
export function previousMatrixNode(crowd: DrawnCrowd, builder: NodeBuilder): Node<'mat4'> {
  const kept = keptOf<{ previousMatrix: Node<'mat4'> }>(builder);
  kept.previousMatrix ??= previousMatrix(crowd, builder);
  return kept.previousMatrix;
}

function matrixOfPlace(crowd: DrawnCrowd, builder: NodeBuilder): Node<'mat4'> {
  const places = placesOf(crowd, builder);
  if (places !== null) return placeAt(places, instanceNode(crowd, builder));
  const { matrices } = crowd.texels;
  if (matrices === null) return objectAttribute('instanceMatrix', 'mat4');
  const nodes = drawnTexels(crowd, (drawn) => drawn.texels.matrices?.texture.layered);
  return matrixOf(nodes.instanceTexels(instanceNode(crowd, builder), matrices.texels, int(0), MATRIX_TEXELS));
}

function colorOfPlace(crowd: DrawnCrowd, builder: NodeBuilder): Node<'vec3'> {
  // Where the matrix is in a buffer that the GPU reads for other purposes too, there is a copy of the colours alone.
  const isCopied = placesOf(crowd, builder) !== null;
  const { matrices } = crowd.texels;
  if (!isCopied && matrices === null) return objectAttribute('instanceColor', 'vec3');
  const nodes = drawnTexels(
    crowd,
    ({ texels }) => (isCopied ? texels.colors : texels.matrices)?.texture.layered,
  );
  const [stride, first] = isCopied || matrices === null ? [1, 0] : [matrices.texels, MATRIX_TEXELS];
  return nodes.instanceTexels(instanceNode(crowd, builder), stride, int(first), 1)[0].xyz;
}

/** The instance's matrix in the frame before. Matrices are kept for the next frame after each draw. */
function previousMatrix(crowd: DrawnCrowd, builder: NodeBuilder): Node<'mat4'> {
  // What the GPU writes is not kept.
  if (crowd.crowd.written?.places) return matrixOfPlace(crowd, builder);
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
  const { texels: count } = keptMatrices(crowd);
  return matrixOf(nodes.instanceTexels(instanceNode(crowd, builder), count, int(0), count));
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

function matrixOf([x, y, z]: readonly Node<'vec4'>[]): Node<'mat4'> {
  return mat4Of([
    vec4(x.x, y.x, z.x, 0),
    vec4(x.y, y.y, z.y, 0),
    vec4(x.z, y.z, z.z, 0),
    vec4(x.w, y.w, z.w, 1),
  ]).toVar();
}
