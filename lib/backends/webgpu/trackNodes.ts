import { paletteMatrix } from '../../../shaders/palette.tsl.js';
import { sourceOf } from '../../sources/sources.js';
import { clipMorphs, onCrowdUpdate } from './crowdNodes.js';
import type { NodeSource } from './NodeSource.js';
import { posePassOf, runPosePass } from './nodePoses.js';

/** Twin of `lib/sources/trackSource.ts`: a pass poses each instance once, and vertices read what it has written. */
export const trackNodes: NodeSource = {
  name: 'tracks',
  prepare: runPosePass,

  skinningMatrix({ crowd, build, variant, instance: drawn, part, morph }) {
    const palette = posePassOf(crowd).palette(build);
    onCrowdUpdate((other) => {
      if (sourceOf(other).name === trackNodes.name) palette.use(posePassOf(other));
    });
    const instance = drawn.toVar();
    const shown = variant.parts ? part().w.toVar() : null;
    const rows = paletteMatrix((joint) => palette.rows(instance, joint), variant.influences, shown);
    if (morph && variant.morphs) clipMorphs(crowd).add((target) => palette.influence(instance, target));
    // Poses of the frame before are not kept: motion vectors know the instances' own movement only.
    return { rows, previous: null };
  },
};
