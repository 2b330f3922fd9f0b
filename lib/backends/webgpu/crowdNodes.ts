import type { Object3D } from 'three';
import { instanceIndex, int, OnObjectUpdate, vec4 } from 'three/tsl';
import type { Node, NodeMaterial } from 'three/webgpu';
import { instancePart } from '../../../shaders/parts.tsl.js';
import { type ShaderVariant, variantOf } from '../../../shaders/ShaderVariant.js';
import type { DrawNodes, PlaybackNodes, SlotNodes } from '../../../shaders/skinningMatrix.tsl.js';
import { type TexelNode, texels } from '../../../shaders/TexelNode.js';
import { type DrawnMaterial, objectMatrix, objectUniform } from '../../../shaders/tsl.js';
import {
  INSTANCES_PER_ROW,
  PARAM_CLOCK,
  PARAM_MORPH_TEXEL,
  PARAM_ROWS,
  PARAM_SHADOW_VARIANT,
  PARAM_STRIDE,
  PARAM_VARIANT,
} from '../../constants.js';
import { FADES_STRIDE, OLDEST_FADE, SLOT_STRIDE } from '../../playback/instanceLayout.js';
import { type DrawnCrowd, isCrowd } from '../DrawnCrowd.js';

/** Reads colour and visibility of the vertex's part, of whichever crowd is drawn. */
export type PartNode = () => Node<'vec4'>;

/** Textures and parameters of whichever crowd is drawn. */
export interface CrowdNodes {
  boneTexture: TexelNode;
  playback: PlaybackNodes;
  draw: DrawNodes;
  previous: DrawNodes;
}

/** The variant in which a material draws a crowd. */
export function variantFor(material: NodeMaterial, crowd: DrawnCrowd): ShaderVariant {
  const shadow = (material as DrawnMaterial).isShadowPassMaterial === true;
  return variantOf(crowd.bindMatrix.elements[shadow ? PARAM_SHADOW_VARIANT : PARAM_VARIANT]);
}

/** A float of the draw's parameters. */
function drawParameter(i: number): Node<'float'> {
  const column = objectMatrix('bindMatrix').element(i >> 2);
  return [column.x, column.y, column.z, column.w][i & 3];
}

/** The part of the vertex as its instance has it; white and shown where the variant knows no parts. */
export function partNode(crowd: DrawnCrowd, { parts: wanted }: ShaderVariant): PartNode {
  if (!wanted || crowd.parts === null) return () => vec4(1);
  const parts = texels(crowd.parts.texture.layered);
  return () => {
    OnObjectUpdate(({ object }: { object: Object3D | null }) => {
      if (isCrowd(object) && object.parts !== null) parts.value = object.parts.texture.layered;
    });
    return instancePart(parts, drawParameter).toVar();
  };
}

/** The textures and parameters of whichever crowd is drawn: a build may be shared by several. */
export function crowdNodes(crowd: DrawnCrowd, part: PartNode): CrowdNodes {
  const boneTexture = texels(crowd.boneTexture);
  const states = texels(crowd.playback.state.layered);
  const fades = texels(crowd.playback.fades.layered);
  OnObjectUpdate(({ object }: { object: Object3D | null }) => {
    if (!isCrowd(object)) return;
    boneTexture.value = object.boneTexture;
    states.value = object.playback.state.layered;
    fades.value = object.playback.fades.layered;
  });

  const index = int(instanceIndex).toVar();
  const playback = {
    ...slotOf(states, index, SLOT_STRIDE, int(0)),
    older: (slot: Node<'int'>) => slotOf(fades, index, FADES_STRIDE, slot.mul(OLDEST_FADE / 4)),
    part,
  };

  const common = {
    rows: drawParameter(PARAM_ROWS),
    stride: drawParameter(PARAM_STRIDE),
    morphTexel: int(drawParameter(PARAM_MORPH_TEXEL)),
  };
  return {
    boneTexture,
    playback,
    draw: { ...common, clock: drawParameter(PARAM_CLOCK) },
    previous: { ...common, clock: previousClock() },
  };
}

/** Reads a slot of an instance out of an `InstanceTexture`; `offset` in texels from where the instance begins. */
function slotOf(texture: TexelNode, index: Node<'int'>, stride: number, offset: Node<'int'>): SlotNodes {
  const [clip, timing] = instanceTexels(texture, index, stride / 4, offset, 2);
  return { clip, timing };
}

/** Reads texels of an instance out of an `InstanceTexture` that has `stride` of them for each. */
export function instanceTexels(
  texture: TexelNode,
  index: Node<'int'>,
  stride: number,
  offset: Node<'int'>,
  count: number,
): Node<'vec4'>[] {
  const x = index
    .bitAnd(INSTANCES_PER_ROW - 1)
    .mul(stride)
    .add(offset);
  const row = index.shiftRight(Math.log2(INSTANCES_PER_ROW)).toVar();
  return texture.rowTexels(x, row, count).map((texel) => texel.toVar());
}

interface DrawnClock {
  frameId: number;
  /** Seconds since the crowd was made, in the frame drawn and in the one before. */
  now: number;
  before: number;
}

const drawnClocks = /*@__PURE__*/ new WeakMap<Object3D, DrawnClock>();

/** The clock of the frame drawn before, however often the crowd was updated since, on the scale the clock has now. */
function previousClock(): Node<'float'> {
  return objectUniform(({ object, frameId }) => {
    if (!isCrowd(object)) return 0;
    const { clock, elapsed } = object;
    const drawn = drawnClocks.get(object);
    if (drawn === undefined) {
      drawnClocks.set(object, { frameId, now: elapsed, before: elapsed });
      return clock;
    }
    if (drawn.frameId !== frameId) {
      drawn.frameId = frameId;
      drawn.before = drawn.now;
      drawn.now = elapsed;
    }
    return drawn.before - elapsed + clock;
  });
}
