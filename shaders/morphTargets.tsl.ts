import { type BufferGeometry, DataArrayTexture, FloatType } from 'three';
import { If, int, ivec2, Loop, normalLocal, positionLocal, property, vertexIndex } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { texels } from './TexelNode.js';

/** Texels in a row; every device has room for them. */
const WIDTH = 2048;

const MORPHED = {
  position: (by: Node<'vec4'>) => positionLocal.addAssign(by.xyz),
  normal: (by: Node<'vec4'>) => normalLocal.addAssign(by.xyz),
  // Of one name with three.js's own, which it adds to vertex colours, and therefore the same.
  color: (by: Node<'vec4'>) => property('vec4', 'morphColorSum').addAssign(by),
};

const textures = /*@__PURE__*/ new WeakMap<
  BufferGeometry,
  {
    texture: DataArrayTexture;
    attributes: unknown;
    /** What a target changes of a vertex, a texel for each; normals and colours only if there are targets for them. */
    kinds: readonly (keyof typeof MORPHED)[];
  }
>();

/** Morph targets as a texture with a layer for each. three.js makes such a texture too, but does not give it to others. */
function morphTextureOf(geometry: BufferGeometry) {
  const { morphAttributes } = geometry;
  const { position = [] } = morphAttributes;
  const known = textures.get(geometry);
  if (known?.attributes === position) return known;
  known?.texture.dispose();

  const kinds = (['position', 'normal', 'color'] as const).filter(
    (kind) => morphAttributes[kind]?.length && (kind !== 'normal' || geometry.hasAttribute(kind)),
  );
  const { count } = geometry.getAttribute('position');
  const height = Math.ceil((count * kinds.length) / WIDTH);
  const data = new Float32Array(WIDTH * height * 4 * position.length);
  kinds.forEach((kind, offset) => {
    morphAttributes[kind]?.forEach((moves, target) => {
      for (let vertex = 0; vertex < count; vertex++) {
        const at = (target * WIDTH * height + vertex * kinds.length + offset) * 4;
        for (let i = 0; i < moves.itemSize; i++) data[at + i] = moves.getComponent(vertex, i);
      }
    });
  });

  const texture = new DataArrayTexture(data, WIDTH, height, position.length);
  texture.type = FloatType;
  texture.needsUpdate = true;
  const made = { texture, attributes: position, kinds };
  textures.set(geometry, made);
  geometry.addEventListener('dispose', function dispose() {
    texture.dispose();
    if (textures.get(geometry) === made) textures.delete(geometry);
    geometry.removeEventListener('dispose', dispose);
  });
  return made;
}

/** Moves positions, and normals and colours where there are targets for them, by morph targets of a geometry. */
export function morphTargets(geometry: BufferGeometry) {
  const { texture, kinds } = morphTextureOf(geometry);
  const targets = texels(texture);
  const count = geometry.morphAttributes.position?.length ?? 0;
  return {
    value: targets,
    textureOf: (other: BufferGeometry) => morphTextureOf(other).texture,
    add(influence: (i: Node<'int'>) => Node<'float'>) {
      Loop(count, ({ i }) => {
        const weight = influence(i).toVar();
        If(weight.notEqual(0), () => {
          kinds.forEach((kind, offset) => {
            const place = int(vertexIndex).mul(kinds.length).add(offset).toVar();
            const row = place.div(WIDTH).toVar();
            MORPHED[kind](targets.layerTexel(ivec2(place.sub(row.mul(WIDTH)), row), i).mul(weight));
          });
        });
      });
    },
  };
}
