import { instancePart, partMapOffset } from '../../../shaders/parts.tsl.js';
import { texels } from '../../../shaders/TexelNode.js';
import { instanceNode, onCrowdUpdate, type PartNodes } from './crowdNodes.js';

/** Comes with `InstanceParts`. */
export const nodesOfParts: PartNodes = {
  part({ texture }, crowd, builder) {
    const parts = texels(texture.layered);
    return () => {
      onCrowdUpdate((drawn) => {
        if (drawn.parts !== null) parts.value = drawn.parts.texture.layered;
      });
      return instancePart(parts, instanceNode(crowd, builder)).toVar();
    };
  },
  mapOffset: partMapOffset,
};
