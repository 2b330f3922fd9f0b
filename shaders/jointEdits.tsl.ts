import { uniform } from 'three/tsl';
import type { Node } from 'three/webgpu';
import frameAtNodes from './frameAt.glsl.js?nodes=frameAtGLSL';
import localEditsNodes from './jointEdits.glsl.js?nodes=localEditsGLSL';
import modelEditsNodes from './jointEdits.glsl.js?nodes=modelEditsGLSL';
import type { CreatePoseEditNodes } from './posePass.tsl.js';
import slerpNodes from './slerp.glsl.js?nodes=slerpGLSL';
import { inLayers, texels } from './TexelNode.js';
import { assignAll, type Rows } from './tsl.js';

/** Edits of joints and live poses by `jointEdits.glsl.ts`, for the steps of the pose pass. */
export const jointEditNodes: CreatePoseEditNodes = (textures, clock, nodes) => {
  const read = textures.map(({ layered }) => texels(layered));
  const [editHeaders, jointEdits, livePoses] = read.map(inLayers);
  const livePerRow = uniform(1, 'int');
  const live = { livePoses, livePerRow, poseNodes: nodes, CROWD_CLOCK: clock };
  const needs = { ...slerpNodes(), ...frameAtNodes(), editHeaders, jointEdits, ...live };
  const { editLocals } = localEditsNodes<{
    editLocals(instance: Node<'int'>, node: Node<'int'>, ...transform: readonly Node<'vec4'>[]): void;
  }>(needs);
  const { beginModelEdits, editModels } = modelEditsNodes<{
    beginModelEdits(instance: Node<'int'>): void;
    editModels(node: Node<'int'>, rows: Rows): Rows;
  }>(needs);
  return {
    use(others) {
      for (let i = 0; i < read.length; i++) read[i].value = others[i].layered;
      livePerRow.value = others[2].perRow;
    },
    editLocals: (instance, node, transform) => editLocals(instance, node, ...transform),
    modelEdits(instance) {
      beginModelEdits(instance);
      return (node, rows) => assignAll(rows, editModels(node, rows));
    },
  };
};
