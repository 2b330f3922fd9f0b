import { LIVE_TEXELS } from './editLayout.js';
import frameAtNodes from './fadesAndFrames.glsl.js?nodes=frameAtGLSL';
import poseEditsNodes from './jointEdits.glsl.js?nodes=poseEditsGLSL';
import type { CreatePoseEditNodes, PoseEditNodes } from './posePass.tsl.js';
import slerpNodes from './slerp.glsl.js?nodes=slerpGLSL';
import { inLayers } from './TexelNode.js';
import { sideOf } from './tsl.js';

/** Edits of joints and live poses by `jointEdits.glsl.ts`, for the steps of the pose pass. */
export const jointEditNodes: CreatePoseEditNodes = (textures, clock, nodes) => {
  const [editHeaders, jointEdits, livePoses] = textures.map(inLayers);
  // Of their own for each step: three.js keeps the code of a function, and in it the names of the textures that one shader has.
  const functions = () =>
    poseEditsNodes<PoseEditNodes>({
      ...slerpNodes(),
      ...frameAtNodes(),
      editHeaders,
      jointEdits,
      livePoses,
      livePerRow: sideOf(textures[2], 'x').div(nodes.mul(LIVE_TEXELS)),
      poseNodes: nodes,
      CROWD_CLOCK: clock,
    });
  return { ...functions(), editLocals: functions().editLocals };
};
