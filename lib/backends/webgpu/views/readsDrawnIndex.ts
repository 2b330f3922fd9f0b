import type { BufferAttribute, InterleavedBufferAttribute } from 'three';
import type { NodeBuilder } from 'three/webgpu';
import { buildOf } from '../../../../shaders/tsl.js';
import type { DrawnCrowd } from '../../DrawnCrowd.js';
import { isInstanced, warnNotCulled } from '../../ownInstanced.js';

/** By build: whether nodes of the user read instanced attributes. Known once the shaders are built. */
const known = /*@__PURE__*/ new WeakMap<NodeBuilder, boolean>();

/**
 * Whether nodes of the user read instanced attributes, as `instancedBufferAttribute` makes them: GPUs read those by the drawn
 * index, whatever instance is drawn there. Ask for it when a build is drawn.
 */
export function readsDrawnIndex(builder: NodeBuilder, crowd: DrawnCrowd): boolean {
  let reads = known.get(builder);
  if (reads === undefined) {
    reads = false;
    for (const { name, node } of buildOf(builder).getAttributesArray()) {
      if (!node?.attribute) continue;
      const attribute = node.getObjectAttribute(crowd) as BufferAttribute | InterleavedBufferAttribute | null;
      if (attribute === null || attribute === crowd.instanceMatrix || attribute === crowd.instanceColor)
        continue;
      if (!isInstanced(attribute)) continue;
      warnNotCulled(name);
      reads = true;
    }
    known.set(builder, reads);
  }
  return reads;
}
