import { attribute, float, ivec4, normalGeometry, vec3 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { type VertexVariant, whereShown } from './palette.tsl.js';
import { type ClockNodes, eachClip, type PlaybackNodes } from './skinningMatrix.tsl.js';
import type { TexelNode } from './TexelNode.js';
import { type Rows, variablesOf } from './tsl.js';
import type { VertexPrecision } from './vertexTexture.glsl.js';
import verticesNodes from './vertexTexture.glsl.js?nodes=verticesGLSL';

/** Adds what a frame has of a vertex, times a weight, to its position and its normal. */
type AddVertex = (
  frame: Node<'ivec2'>,
  vertex: Node<'int'>,
  weight: Node<'float'>,
  posed: Node<'vec3'>,
  turned: Node<'vec3'>,
) => void;

/**
 * Twin of `vertexMatrixGLSL`: a matrix for the vertex alone, as rows, and its normal. Builds on the current stack.
 *
 * @param table Of each frame its box, and which of the stored frames it is.
 */
export function vertexMatrix(
  table: TexelNode,
  vertices: TexelNode,
  precision: VertexPrecision,
  playback: PlaybackNodes,
  draw: ClockNodes & {
    /** Log2 of the texture's width. */
    bits: Node<'int'>;
  },
  variant: VertexVariant,
) {
  const ids = ivec4(attribute<'ivec4'>('skinIndex', 'ivec4')).toVar();
  const vertex = ids.y.add(ids.z.shiftLeft(16)).sub(1).toVar();
  const shown = float(0).toVar();
  const posed = vec3(0).toVar();
  const turned = vec3(0).toVar();
  const normal = vec3(0).toVar();
  const nodes = verticesNodes<{
    addVertex_half: AddVertex;
    addVertex_float: AddVertex;
    posingMatrix(shown: Node, modelled: Node, posed: Node, turned: Node): Rows;
  }>({
    CROWD_BONE_TEXTURE: table,
    CROWD_VERTICES: vertices,
    CROWD_VERTEX_BITS: draw.bits,
    crowdPosedNormal: normal,
  });
  const add = (frame: Node<'ivec2'>, weight: Node<'float'>): void =>
    nodes[`addVertex_${precision}`](frame, vertex, weight, posed, turned);

  whereShown(variant, playback.part, () =>
    eachClip(table, playback, draw, variant, ({ texel0, texel1, alpha }, share) => {
      if (variant.interpolate) {
        const second = share.mul(alpha).toVar();
        add(texel0, share.sub(second).toVar());
        add(texel1, second);
      } else {
        add(texel0, share);
      }
      shown.addAssign(share);
    }),
  );
  const rows = nodes.posingMatrix(shown, normalGeometry, posed, turned);
  return { rows: variablesOf(rows), normal };
}
