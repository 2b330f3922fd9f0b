import { uniform } from 'three/tsl';
import frameAtNodes from './fadesAndFrames.glsl.js?nodes=frameAtGLSL';
import poseEditsNodes from './jointEdits.glsl.js?nodes=poseEditsGLSL';
import type { CreatePoseEditNodes, PoseEditNodes } from './posePass.tsl.js';
import slerpNodes from './slerp.glsl.js?nodes=slerpGLSL';
import { inLayers, layeredOf, texels } from './TexelNode.js';

/** Edits of joints and live poses by `jointEdits.glsl.ts`, for the steps of the pose pass. */
export const jointEditNodes: CreatePoseEditNodes = (textures, clock, nodes) => {
  const read = textures.map((texture) => texels(layeredOf(texture)));
  const [editHeaders, jointEdits, livePoses] = read.map(inLayers);
  const livePerRow = uniform(1, 'int');
  // Of their own for each step: three.js keeps the code of a function, and in it the names of the textures that one shader has.
  const functions = () =>
    poseEditsNodes<Omit<PoseEditNodes, 'use'>>({
      ...slerpNodes(),
      ...frameAtNodes(),
      editHeaders,
      jointEdits,
      livePoses,
      livePerRow,
      poseNodes: nodes,
      CROWD_CLOCK: clock,
    });
  return {
    ...functions(),
    editLocals: functions().editLocals,
    use(others) {
      for (let i = 0; i < read.length; i++) read[i].value = layeredOf(others[i]);
      livePerRow.value = others[2].perRow;
    },
  };
};
