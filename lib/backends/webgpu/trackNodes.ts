import type { Node, WebGPURenderer } from 'three/webgpu';
import { paletteMatrix } from '../../../shaders/palette.tsl.js';
import type { Rows } from '../../../shaders/tsl.js';
import { sourceOf } from '../../sources/PoseSource.js';
import { clipMorphs, onCrowdUpdate } from './crowdNodes.js';
import type { NodeSource } from './NodeSource.js';
import { posePassOf, runPosePass } from './nodePoses.js';
import { PaletteNodes } from './paletteNodes.js';

/** Twin of `lib/sources/trackSource.ts`: a pass poses each instance once, and vertices read what it has written. */
export const trackNodes: NodeSource = {
  name: 'tracks',
  prepare: runPosePass,
  pass: posePassOf,

  skinningMatrix({ crowd, build, variant, instance: drawn, part, morph }) {
    const palette = new PaletteNodes(posePassOf(crowd), build);
    onCrowdUpdate((other, renderer) => {
      if (sourceOf(other).name === trackNodes.name) {
        palette.use(posePassOf(other), renderer as WebGPURenderer);
      }
    });
    const instance = drawn.toVar();
    const shown = variant.parts ? part().w.toVar() : null;
    const sum = (jointMatrix: (joint: Node<'int'>) => Rows) =>
      paletteMatrix(jointMatrix, variant.influences, shown);
    const rows = sum((joint) => palette.rows(instance, joint));
    if (morph && variant.morphs) clipMorphs(crowd).add((target) => palette.influence(instance, target));
    // From the morphed position: influences of the frame before are not read.
    return { rows, previous: () => ({ rows: palette.rowsBefore(instance, rows, sum) }) };
  },
};
