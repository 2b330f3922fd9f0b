import { ivec2 } from 'three/tsl';
import { DataArrayTexture, FloatType, type Node, RGBAFormat, type Texture, TextureNode } from 'three/webgpu';
import { INSTANCES_PER_ROW, INSTANCES_PER_ROW_BITS } from '../lib/constants.js';
import type { InstanceTexture } from '../lib/instances/InstanceTexture.js';
import { sampleOf, sideOf } from './tsl.js';

/**
 * A texture that is read texel by texel. three.js's own node multiplies each coordinate by a uv matrix and asks whether
 * the texture is flipped; a bone texture is neither.
 */
export class TexelNode extends TextureNode {
  override updateMatrix = false;

  /** The texel at whole-numbered coordinates. */
  texel(at: Node<'ivec2'>): TextureNode & Node<'vec4'> {
    return sampleOf(this, at).setSampler(false);
  }

  /** Texels in a row. */
  get width(): Node<'int'> {
    return sideOf(this, 'x');
  }

  /** `count` texels that begin `x` texels into a row of a layered `InstanceTexture`. */
  rowTexels(x: Node<'int'>, row: Node<'int'>, count: number): Node<'vec4'>[] {
    // A layer has one row but in crowds of very many.
    const height = sideOf(this, 'y').toVar();
    const layer = row.div(height).toVar();
    const y = row.sub(layer.mul(height)).toVar();
    return Array.from({ length: count }, (_, i) => this.texel(ivec2(i === 0 ? x : x.add(i), y)).depth(layer));
  }

  /** `count` texels of an instance, from `offset`, in an `InstanceTexture` that has `stride` of them for each. */
  instanceTexels(instance: Node<'int'>, stride: number, offset: Node<'int'>, count: number): Node<'vec4'>[] {
    const x = instance
      .bitAnd(INSTANCES_PER_ROW - 1)
      .mul(stride)
      .add(offset);
    const row = instance.shiftRight(INSTANCES_PER_ROW_BITS).toVar();
    return this.rowTexels(x, row, count).map((texel) => texel.toVar());
  }

  setupUV(_builder: unknown, uv: Node): Node {
    return uv;
  }
}

/** Reads texels of `texture`, or of what is put in its place as `value`. */
export function texels(texture: Texture): TexelNode {
  return new TexelNode(texture);
}

/** How often each texture may change before its versions are another's. */
const VERSIONS = 2 ** 24;
let versions = 0;

/** Numbers of instances for node materials: rows as in `plain`, `layerRows` of them in a layer. */
export function layeredOf(texture: InstanceTexture): DataArrayTexture {
  const { data, width, layerRows, rows, layeredTexture } = texture;
  if (layeredTexture !== null) return layeredTexture;
  const layered = new DataArrayTexture(data, width, layerRows, rows / layerRows);
  layered.format = RGBAFormat;
  layered.type = FloatType;
  // Nodes whose texture is exchanged for one of the same version go on reading the first, see `Bindings._update`.
  layered.version = versions += VERSIONS;
  texture.layeredTexture = layered;
  return layered;
}

/** A texture whose rows lie in layers, for texts that read it as one with all rows below each other. */
export const inLayers = (texture: Pick<TexelNode, 'rowTexels'>) => ({
  texel(at: Node<'ivec2'>): Node<'vec4'> {
    const place = at.toVar();
    return texture.rowTexels(place.x, place.y, 1)[0];
  },
});
