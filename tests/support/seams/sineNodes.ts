import { positionGeometry, sin, vec4 } from 'three/tsl';
import type { NodeSource } from '../../../lib/backends/webgpu/NodeSource.js';
import { AMPLITUDE, WAVES } from './sineSource.js';

/** Twin of `sineSource`, for node materials. */
export const sineNodes: NodeSource = {
  name: 'sine',
  skinningMatrix({ instance }) {
    const sine = sin(positionGeometry.x.mul(WAVES).add(instance.toFloat())).mul(AMPLITUDE);
    return { rows: [vec4(1, 0, 0, 0), vec4(0, 1, 0, sine), vec4(0, 0, 1, 0)], previous: null };
  },
};
