import { Fn, OnObjectUpdate, vec4 } from 'three/tsl';
import type { Node, NodeBuilder, NodeMaterial } from 'three/webgpu';
import { drawnFade, instanceIndex } from '../../../shaders/instanceIndex.tsl.js';
import { type MorphNodes, morphTargets } from '../../../shaders/morphTargets.tsl.js';
import { instancePart, partMapOffset } from '../../../shaders/parts.tsl.js';
import { type ShaderVariant, variantOf } from '../../../shaders/ShaderVariant.js';
import { texels } from '../../../shaders/TexelNode.js';
import { buildOf, type DrawFrame, type DrawnMaterial } from '../../../shaders/tsl.js';
import { PARAM_SHADOW_VARIANT, PARAM_VARIANT } from '../../constants.js';
import type { MeshParts } from '../../crowd/CrowdFeature.js';
import { type DrawnCrowd, isCrowd } from '../DrawnCrowd.js';
import { type DrawnList, readsDrawnIndex, StorageList, TexelList } from './views/DrawnList.js';
import { isCulledOnGPU } from './views/GPUViews.js';
import { levelNodes } from './views/ViewSteps.js';
import { readsView } from './views/viewAtDraw.js';

/** Reads colour and visibility of the vertex's part, of whichever crowd is drawn. */
export type PartNode = () => Node<'vec4'>;

/** The variant in which a material draws a crowd. */
export function variantFor(material: NodeMaterial, crowd: DrawnCrowd): ShaderVariant {
  const shadow = (material as DrawnMaterial).isShadowPassMaterial === true;
  return variantOf(crowd.bindMatrix.elements[shadow ? PARAM_SHADOW_VARIANT : PARAM_VARIANT]);
}

/** Calls back before each draw of what is built, with the crowd that is drawn: builds may be shared by several. */
export function onCrowdUpdate(
  callback: (crowd: DrawnCrowd, renderer: object, frame: DrawFrame) => void,
): void {
  OnObjectUpdate((frame: DrawFrame) => {
    const { object, renderer } = frame;
    if (isCrowd(object)) callback(object, renderer as object, frame);
  });
}

/** The instance that is drawn. Builds on the current stack. */
export function instanceNode(crowd: DrawnCrowd, builder: NodeBuilder): Node<'int'> {
  if (!readsView(crowd)) return instanceIndex(null);
  const list = listOf(builder, crowd);
  // Right before the draw: shadow maps are drawn after all that renderers call before it.
  onCrowdUpdate((drawn, _renderer, frame) => {
    if (readsDrawnIndex(builder, drawn)) list.showAll(drawn, frame);
    else list.show(drawn, frame);
  });
  return instanceIndex(list);
}

/** Tells fragments which of them are drawn, where levels of detail fade. */
export function writeFade(crowd: DrawnCrowd, builder: NodeBuilder): void {
  const write = Fn(() => {
    levelNodes().writeFade(drawnFade(listOf(builder, crowd)));
  }, 'void');
  write();
}

/** The matrix of the instance that is drawn, if shaders need no copy of it. Builds on the current stack. */
export function matrixNode(crowd: DrawnCrowd, builder: NodeBuilder): Node<'mat4'> | null {
  if (!readsView(crowd)) return null;
  return listOf(builder, crowd).matrix?.(instanceNode(crowd, builder)) ?? null;
}

/** What a build reads its instances from. */
const lists = /*@__PURE__*/ new WeakMap<NodeBuilder, DrawnList>();

function listOf(builder: NodeBuilder, crowd: DrawnCrowd): DrawnList {
  let list = lists.get(builder);
  if (list === undefined) {
    const { renderer } = buildOf(builder);
    // Shadow maps read the same lists.
    const { fades } = variantOf(crowd.bindMatrix.elements[PARAM_VARIANT]);
    list = isCulledOnGPU(renderer, crowd) ? new StorageList(fades) : new TexelList();
    lists.set(builder, list);
  }
  return list;
}

/** How node materials read what parts of instances look like. */
interface PartNodes {
  part(parts: MeshParts, crowd: DrawnCrowd, builder: NodeBuilder): PartNode;
  /** By how much the map of a part is moved, in uv units. */
  mapOffset(part: Node<'vec4'>): Node<'vec2'>;
}

/** Null as long as the page has no parts of instances. */
export let partNodes: PartNodes | null = null;

/** Lets materials of WebGPURenderer show parts of instances. */
export function registerPartNodes(nodes: PartNodes): void {
  partNodes = nodes;
}

/** What the vertex's part looks like on its instance; white and shown if the variant has no parts. */
export function partNode(crowd: DrawnCrowd, { parts }: ShaderVariant, builder: NodeBuilder): PartNode {
  if (!parts || crowd.parts === null || partNodes === null) return () => vec4(1);
  return partNodes.part(crowd.parts, crowd, builder);
}

/** Morph targets that clips move, on top of those that three.js has applied. Builds on the current stack. */
export function clipMorphs(crowd: DrawnCrowd): MorphNodes {
  const morphs = morphTargets(crowd.geometry);
  onCrowdUpdate(({ geometry }) => {
    morphs.value.value = morphs.textureOf(geometry);
  });
  return morphs;
}

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
