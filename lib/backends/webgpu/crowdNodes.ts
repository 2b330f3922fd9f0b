import type { Texture } from 'three';
import { Fn, int, ivec2, morphReference, OnObjectUpdate, uniformArray, vec4 } from 'three/tsl';
import type { Node, NodeBuilder, NodeMaterial } from 'three/webgpu';
import { drawParameters } from '../../../shaders/drawSlots.tsl.js';
import { lookedUp, ownDrawnIndex } from '../../../shaders/instanceIndex.tsl.js';
import { dividedColor, instancePart, partMapOffset } from '../../../shaders/parts.tsl.js';
import { type ShaderVariant, variantOf } from '../../../shaders/ShaderVariant.js';
import { layeredOf, type TexelNode, texels } from '../../../shaders/TexelNode.js';
import {
  buildOf,
  type DrawFrame,
  type DrawnMaterial,
  type Elements,
  onceABuild,
} from '../../../shaders/tsl.js';
import { PARAM_SHADOW_VARIANT, PARAM_VARIANT } from '../../constants.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { isCrowd } from '../../core/drawnCrowds.js';
import { createList } from './drawnLists.js';
import { nodesOf, type PartNode } from './featureNodes.js';
import { morphedGeometry } from './morphedGeometry.js';

/** The variant in which a material draws a crowd. */
export function variantFor(material: NodeMaterial, crowd: DrawnCrowd): ShaderVariant {
  const shadow = (material as DrawnMaterial).isShadowPassMaterial === true;
  return variantOf(crowd.bindMatrix.elements[shadow ? PARAM_SHADOW_VARIANT : PARAM_VARIANT]);
}

type CrowdCallback = (crowd: DrawnCrowd, renderer: object, frame: DrawFrame) => void;

/** What is called before each draw of a build, by one node: three.js takes its time for each. */
const eventOf = /*@__PURE__*/ onceABuild(() => {
  const callbacks: CrowdCallback[] = [];
  const event = OnObjectUpdate((frame: DrawFrame) => {
    const { object, renderer } = frame;
    if (!isCrowd(object)) return;
    drawParameters.value = object.bindMatrix;
    for (let i = 0; i < callbacks.length; i++) callbacks[i](object, renderer as object, frame);
  });
  return { callbacks, event };
});

/** Calls back before each draw of what is built, with the crowd that is drawn: builds may be shared by several. */
export function onCrowdUpdate(callback: CrowdCallback): void {
  const note = Fn((builder: NodeBuilder) => {
    const { callbacks, event } = eventOf(null, builder);
    callbacks.push(callback);
    event.toStack();
  }, 'void');
  note();
}

/**
 * Reads a texture of whichever crowd is drawn.
 *
 * @param textureOf Undefined if that has none.
 */
export function drawnTexels(
  crowd: DrawnCrowd,
  textureOf: (crowd: DrawnCrowd) => Texture | null | undefined,
): TexelNode {
  const node = texels(textureOf(crowd) as Texture);
  onCrowdUpdate((drawn) => {
    node.value = textureOf(drawn) ?? node.value;
  });
  return node;
}

/** The list by which a crowd is drawn. */
export const listOfBuild = /*@__PURE__*/ onceABuild((crowd: DrawnCrowd, builder) => {
  // Shadow maps read the same lists.
  const { fades } = variantOf(crowd.bindMatrix.elements[PARAM_VARIANT]);
  return createList(buildOf(builder).renderer, crowd, fades);
});

/** The instance that is drawn, and the row of a palette that holds its pose. Both are looked up once in a build, and build on the current stack. */
export const instanceNode = (crowd: DrawnCrowd, builder: NodeBuilder): Node<'int'> =>
  listOfBuild(crowd, builder).listsRows ? otherNode(crowd, builder) : entryNode(crowd, builder);
export const rowNode = (crowd: DrawnCrowd, builder: NodeBuilder): Node<'int'> =>
  listOfBuild(crowd, builder).listsRows ? entryNode(crowd, builder) : otherNode(crowd, builder);

const entryNode = /*@__PURE__*/ onceABuild(
  (crowd: DrawnCrowd, builder): Node<'int'> =>
    int(Fn(() => listOfBuild(crowd, builder).entry(ownDrawnIndex()))()).toVar(),
);

const otherNode = /*@__PURE__*/ onceABuild(
  (crowd: DrawnCrowd, builder): Node<'int'> =>
    int(Fn(() => lookedUp(listOfBuild(crowd, builder).others, entryNode(crowd, builder)))()).toVar(),
);

/** Tells fragments which of them are drawn, where levels of detail fade. */
export function writeFade(crowd: DrawnCrowd, builder: NodeBuilder): void {
  const write = Fn(() => {
    nodesOf('CrowdLevels').writeFade(listOfBuild(crowd, builder).fade(ownDrawnIndex()));
  }, 'void');
  write();
}

/** What the vertex's part looks like on its instance; white and shown if the variant has no parts. */
export function partNode(crowd: DrawnCrowd, { parts }: ShaderVariant, builder: NodeBuilder): PartNode {
  if (!parts || crowd.parts === null) return () => vec4(1);
  return nodesOf('InstanceParts').part(crowd, builder);
}

/**
 * Moves vertex and normal by morph targets, with three.js's own function, to which the influences are a texture. Builds on the current
 * stack.
 *
 * @param byClips What clips add to the influence of a target; null for nothing.
 */
export function morphVertex(
  crowd: DrawnCrowd,
  builder: NodeBuilder,
  byClips: ((target: Node<'int'>) => Node<'float'>) | null,
): void {
  const own = ownInfluence(crowd, builder);
  const morphTexture = {
    isTextureNode: true,
    getBase: () => null,
    clone: () => ({
      uvNode: ivec2(0),
      setSampler() {
        // The first texel of a row of influences is not that of a target.
        const target = this.uvNode.x.sub(1);
        return vec4(byClips === null ? own(target) : own(target).add(byClips(target)));
      },
    }),
  };
  const mesh = Object.create(crowd, {
    geometry: { value: morphedGeometry(crowd.geometry) },
    count: { value: 2 },
    morphTexture: { value: morphTexture },
    morphTargetInfluences: { value: undefined },
  });
  morphReference(mesh);
  // Other crowds may share the build: no texture of this one is in it.
  const share = Fn((builder: NodeBuilder) => {
    buildOf(builder).objectSpecific = false;
  }, 'void');
  share();
}

/** The influence that a morph target has without clips: each instance's own, or that of the mesh. */
function ownInfluence(crowd: DrawnCrowd, builder: NodeBuilder): (target: Node<'int'>) => Node<'float'> {
  if (crowd.morphTexture !== null) {
    const influences = drawnTexels(crowd, ({ morphTexture }) => morphTexture);
    return (target) => influences.texel(ivec2(target.add(1), instanceNode(crowd, builder))).x;
  }
  const influences = uniformArray(crowd.morphTargetInfluences as number[], 'float');
  onCrowdUpdate(({ morphTargetInfluences }) => {
    influences.array = morphTargetInfluences as number[];
    influences.updateBuffer();
  });
  return (target) => (influences as unknown as Elements<'float'>).element(target);
}

const lastNumbers = /*@__PURE__*/ new WeakMap<
  object,
  { frameId: number; now: Float32Array | Float64Array; before: Float32Array | Float64Array }
>();

/** Numbers that draws are told of something, as they were in the frame drawn before; to begin with, as they are now. */
export function numbersBefore(of: object, numbers: Float32Array | Float64Array, frameId: number) {
  let last = lastNumbers.get(of);
  if (last === undefined) {
    last = { frameId, now: numbers.slice(), before: numbers.slice() };
    lastNumbers.set(of, last);
  }
  if (last.frameId !== frameId) {
    last.frameId = frameId;
    last.before.set(last.now);
    last.now.set(numbers);
  }
  return last.before;
}

/** How node materials read what parts of instances look like; comes with `InstanceParts`. */
export const nodesOfParts = {
  part(crowd: DrawnCrowd, builder: NodeBuilder): PartNode {
    return () => {
      const parts = drawnTexels(crowd, ({ parts: own }) => own && layeredOf(own.texture));
      return instancePart(parts, instanceNode(crowd, builder)).toVar();
    };
  },
  /** By how much the map of a part is moved, in uv units. */
  mapOffset: partMapOffset,
  color: dividedColor,
};
