import {
  type BufferAttribute,
  type BufferGeometry,
  DataArrayTexture,
  FloatType,
  type InterleavedBufferAttribute,
} from 'three';
import { If, int, ivec2, Loop, normalLocal, positionLocal, vertexIndex } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { type TexelNode, texels } from './TexelNode.js';

/** Texels in a row; every device has room for them. */
const WIDTH = 2048;

interface MorphTexture {
  texture: DataArrayTexture;
  attributes: unknown;
  /** Texels per vertex: by how much a target moves it, and by how much its normal, if any target moves normals. */
  stride: number;
}

const textures = /*@__PURE__*/ new WeakMap<BufferGeometry, MorphTexture>();

/** Morph targets as a texture with a layer for each. three.js makes such a texture too, but does not give it to others. */
function morphTextureOf(geometry: BufferGeometry): MorphTexture {
  const { position = [], normal = [] } = geometry.morphAttributes;
  const known = textures.get(geometry);
  if (known?.attributes === position) return known;
  known?.texture.dispose();

  const stride = normal.length > 0 && geometry.hasAttribute('normal') ? 2 : 1;
  const { count } = geometry.getAttribute('position');
  const height = Math.ceil((count * stride) / WIDTH);
  const data = new Float32Array(WIDTH * height * 4 * position.length);
  const write = (target: number, offset: number, moves: BufferAttribute | InterleavedBufferAttribute) => {
    for (let vertex = 0; vertex < count; vertex++) {
      const at = (target * WIDTH * height + vertex * stride + offset) * 4;
      for (let i = 0; i < 3; i++) data[at + i] = moves.getComponent(vertex, i);
    }
  };
  position.forEach((moves, target) => {
    write(target, 0, moves);
    if (stride === 2) write(target, 1, normal[target]);
  });

  const texture = new DataArrayTexture(data, WIDTH, height, position.length);
  texture.type = FloatType;
  texture.needsUpdate = true;
  const made = { texture, attributes: position, stride };
  textures.set(geometry, made);
  geometry.addEventListener('dispose', function dispose() {
    texture.dispose();
    if (textures.get(geometry) === made) textures.delete(geometry);
    geometry.removeEventListener('dispose', dispose);
  });
  return made;
}

/**
 * Twin of `morphTargets.glsl.ts`. It also morphs, which in GLSL three.js does: nothing can be added to the influences that its
 * nodes use.
 */
export interface MorphNodes {
  add(influence: (i: Node<'int'>) => Node<'float'>): void;
  value: TexelNode;
  textureOf(geometry: BufferGeometry): DataArrayTexture;
}

/** Moves `positionLocal`, and `normalLocal` where there are targets for it, by morph targets of a geometry. */
export function morphTargets(geometry: BufferGeometry): MorphNodes {
  const { texture, stride } = morphTextureOf(geometry);
  const targets = texels(texture);
  const count = geometry.morphAttributes.position?.length ?? 0;
  return {
    value: targets,
    textureOf: (other) => morphTextureOf(other).texture,
    add(influence) {
      Loop(count, ({ i }) => {
        const weight = influence(i).toVar();
        If(weight.notEqual(0), () => {
          const texel = (offset: number) => {
            const place = int(vertexIndex).mul(stride).add(offset).toVar();
            const row = place.div(WIDTH).toVar();
            return targets.layerTexel(ivec2(place.sub(row.mul(WIDTH)), row), i).xyz;
          };
          positionLocal.addAssign(texel(0).mul(weight));
          if (stride === 2) normalLocal.addAssign(texel(1).mul(weight));
        });
      });
    },
  };
}
