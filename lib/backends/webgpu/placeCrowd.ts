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
import { layeredOf, texels } from '../../../shaders/TexelNode.js';
import { buildOf, mat4Of, onceABuild } from '../../../shaders/tsl.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { isCrowd } from '../../core/drawnCrowds.js';
import { PreviousMatrices } from '../../instances/PreviousMatrices.js';
import { drawnTexels, instanceNode, onCrowdUpdate } from './crowdNodes.js';
import type { PartNode } from './featureNodes.js';
import { columnsIn, placesOf, readerOf } from './StoredPlaces.js';

/**
 * Applies the instances' matrices and colours.
 *
 * @param placed Whether vertices were placed as they were posed.
 */
export function placeCrowd(crowd: DrawnCrowd, builder: NodeBuilder, part: PartNode, placed: boolean): void {
  const build = buildOf(builder);
  const place = Fn(() => {
    if (!placed) {
      const matrix = instanceMatrixNode(crowd, builder);
      positionLocal.assign(matrix.mul(vec4(positionLocal, 1)).xyz);
      if (build.hasGeometryAttribute('normal')) normalLocal.assign(transformNormal(normalLocal, matrix));
      if (build.hasGeometryAttribute('tangent')) tangentLocal.assign(matrix.mul(vec4(tangentLocal, 0)).xyz);

      if (build.needsPreviousData()) {
        const previous = previousMatrixNode(crowd, builder);
        positionPrevious.assign(previous.mul(vec4(positionPrevious, 1)).xyz);
      }
    }
    if (crowd.instanceColor !== null) {
      const colors = drawnTexels(crowd, ({ texels: { colors: own } }) => own && layeredOf(own.texture));
      const [color] = colors.instanceTexels(instanceNode(crowd, builder), 1, int(0), 1);
      varyingProperty('vec3', 'vInstanceColor').assign(color.xyz.mul(part().xyz));
    }
  }, 'void');
  place();
}

/** The matrix of the instance. Builds on the current stack. */
export const instanceMatrixNode = /*@__PURE__*/ onceABuild((crowd: DrawnCrowd, builder): Node<'mat4'> => {
  const places = readerOf(placesOf(buildOf(builder).renderer, crowd));
  onCrowdUpdate((drawn, renderer) => {
    places.value = placesOf(renderer, drawn);
  });
  return mat4Of(columnsIn(places, instanceNode(crowd, builder))).toVar();
});

/** The same in the frame before. Matrices are kept for the next frame after each draw. */
export const previousMatrixNode = /*@__PURE__*/ onceABuild((crowd: DrawnCrowd, builder): Node<'mat4'> => {
  // What the GPU writes is not kept.
  if (crowd.crowd.written?.places) return instanceMatrixNode(crowd, builder);
  const nodes = texels(layeredOf(keptMatrices(crowd).texture) as Texture);
  onCrowdUpdate((drawn, renderer) => {
    const kept = keptMatrices(drawn);
    kept.texture.prepare(renderer);
    kept.settle(drawn.instanceMatrix);
    nodes.value = layeredOf(kept.texture);
  });
  OnAfterObjectUpdate(({ object }: { object: Object3D | null }) => {
    if (isCrowd(object)) keptMatrices(object).update(object.instanceMatrix);
  });
  return mat4Of(columnsIn(nodes, instanceNode(crowd, builder))).toVar();
});

/** What is kept of a crowd for the next frame's motion vectors; to begin with, where it stands now. */
function keptMatrices({ instanceMatrix, texels }: DrawnCrowd): PreviousMatrices {
  const { previous } = texels;
  if (previous?.capacity === instanceMatrix.count) return previous;
  texels.previous = previous?.resizedFor(instanceMatrix) ?? new PreviousMatrices(instanceMatrix.count);
  if (previous === null) texels.previous.update(instanceMatrix);
  return texels.previous;
}
