import type { Object3D } from 'three';
import { instanceIndex, int, OnObjectUpdate } from 'three/tsl';
import type { NodeBuilder } from 'three/webgpu';
import { paletteMatrix } from '../../../shaders/palette.tsl.js';
import type { ShaderVariant } from '../../../shaders/ShaderVariant.js';
import type { Rows } from '../../../shaders/tsl.js';
import { type DrawnCrowd, isCrowd } from '../DrawnCrowd.js';
import type { PartNode } from './crowdNodes.js';
import { posePassOf } from './nodePoses.js';

/** The matrix of the vertex in the pose that the pass has written, of whichever crowd is drawn. */
export function posedMatrix(
  crowd: DrawnCrowd,
  builder: NodeBuilder,
  { influences, parts }: ShaderVariant,
  part: PartNode,
): Rows {
  const palette = posePassOf(crowd).palette(builder);
  OnObjectUpdate(({ object }: { object: Object3D | null }) => {
    if (isCrowd(object) && object.boneTexture.encoding === 'tracks') palette.use(posePassOf(object));
  });
  const instance = int(instanceIndex).toVar();
  const shown = parts ? part().w.toVar() : null;
  return paletteMatrix((joint) => palette.rows(instance, joint), influences, shown);
}
