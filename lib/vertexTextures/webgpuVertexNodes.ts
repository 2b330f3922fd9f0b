import { drawClock, drawMorphTexel, drawRows, drawStride } from '../../shaders/drawSlots.tsl.js';
import { texels } from '../../shaders/TexelNode.js';
import { vertexMatrix } from '../../shaders/vertexTexture.tsl.js';
import { onCrowdUpdate } from '../backends/webgpu/crowdNodes.js';
import { playbackNodes, previousClock } from '../backends/webgpu/frameNodes.js';
import type { NodeSource } from '../backends/webgpu/NodeSource.js';
import { registerNodeSource } from '../backends/webgpu/nodeSources.js';
import type { Precision } from '../encodings/BoneTextureData.js';
import { vertexSourceName, verticesOf } from './vertexSource.js';

/** Twin of `vertexSource.ts`. */
const vertexNodes = (precision: Precision): NodeSource => ({
  name: vertexSourceName(precision),

  skinningMatrix({ crowd, variant, instance, part }) {
    const table = texels(crowd.boneTexture);
    const vertices = texels(verticesOf(crowd).vertexTexels);
    onCrowdUpdate((drawn) => {
      if (drawn.boneTexture.binding === null) return;
      table.value = drawn.boneTexture;
      vertices.value = verticesOf(drawn).vertexTexels;
    });
    const playback = playbackNodes(crowd, instance, part);
    const common = { rows: drawRows(), stride: drawStride(), bits: drawMorphTexel() };
    const matrixAt = (clock: ReturnType<typeof drawClock>) =>
      vertexMatrix(table, vertices, precision, playback, { ...common, clock }, variant);
    return { ...matrixAt(drawClock()), previous: () => matrixAt(previousClock()) };
  },
});

let registered = false;

/** Makes them known, once. */
export function registerVertexNodes(): void {
  if (registered) return;
  registered = true;
  registerNodeSource(vertexNodes('half'));
  registerNodeSource(vertexNodes('float'));
}
