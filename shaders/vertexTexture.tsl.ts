import { attribute, float, ivec4, normalGeometry, vec3 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { type clipNeeds, eachClip } from './skinningMatrix.tsl.js';
import type { TexelNode } from './TexelNode.js';
import { type Rows, variablesOf } from './tsl.js';
import type { VertexPrecision } from './vertexTexture.glsl.js';
import verticesNodes from './vertexTexture.glsl.js?nodes=verticesGLSL';

/** Adds what a clip shows of a vertex, times its share, to its position and its normal. */
type AddPosed = (
  pose: object,
  share: Node,
  vertex: Node,
  interpolate: Node,
  posed: Node,
  turned: Node,
) => void;

/**
 * Twin of `vertexMatrixGLSL`: a matrix for the vertex alone, as rows, and its normal. Builds on the current stack.
 *
 * @param clips In the place of the bone texture it has of each frame its box, and which of the stored frames it is; in that of the first
 * texel of morph targets log2 of the width of `vertices`.
 */
export function vertexMatrix(
  clips: ReturnType<typeof clipNeeds>,
  vertices: TexelNode,
  precision: VertexPrecision,
  showRows: (rows: () => Rows) => Rows,
) {
  const normal = vec3(0).toVar();
  const nodes = verticesNodes<{
    addPosed_half: AddPosed;
    addPosed_float: AddPosed;
    posingMatrix(shown: Node, modelled: Node, posed: Node, turned: Node): Rows;
  }>({
    ...clips,
    CROWD_VERTICES: vertices,
    CROWD_VERTEX_BITS: clips.CROWD_MORPH_TEXEL,
    crowdPosedNormal: normal,
  });
  const rows = showRows(() => {
    const ids = ivec4(attribute<'ivec4'>('skinIndex', 'ivec4')).toVar();
    const vertex = ids.y.add(ids.z.shiftLeft(16)).sub(1).toVar();
    const shown = float(0).toVar();
    const posed = vec3(0).toVar();
    const turned = vec3(0).toVar();
    eachClip(clips, (pose, share) => {
      nodes[`addPosed_${precision}`](pose, share, vertex, clips.INTERPOLATES, posed, turned);
      shown.addAssign(share);
    });
    return nodes.posingMatrix(shown, normalGeometry, posed, turned);
  });
  return { rows: variablesOf(rows), normal };
}
