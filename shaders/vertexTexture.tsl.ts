import {
  abs,
  attribute,
  cross,
  dot,
  float,
  If,
  int,
  ivec2,
  ivec4,
  max,
  normalGeometry,
  normalize,
  select,
  uint,
  vec2,
  vec3,
  vec4,
} from 'three/tsl';
import type { Node } from 'three/webgpu';
import { type ClockNodes, eachClip, type PlaybackNodes, type VertexVariant } from './skinningMatrix.tsl.js';
import type { TexelNode } from './TexelNode.js';
import { floatsOf, type Rows, unpackSnorms } from './tsl.js';
import type { VertexPrecision } from './vertexTexture.glsl.js';

function unfoldNormal(square: Node<'vec2'>): Node<'vec3'> {
  const z = float(1).sub(abs(square.x)).sub(abs(square.y)).toVar();
  const folded = max(z.negate(), 0).toVar();
  const away = (value: Node<'float'>) => value.add(select(value.lessThan(0), folded, folded.negate()));
  return normalize(vec3(away(square.x), away(square.y), z));
}

/** The position, and where the normal is in the square of `packNormal`. */
function decode(
  texel: Node<'uvec4'>,
  size: Node<'vec4'>,
  least: Node<'vec4'>,
  precision: VertexPrecision,
): [Node<'vec3'>, Node<'vec2'>] {
  if (precision === 'float') return [floatsOf(texel).xyz, unpackSnorms(texel.w)];
  const low = (word: Node<'uint'>) => float(word.bitAnd(uint(0xffff)));
  const steps = vec3(low(texel.x), float(texel.x.shiftRight(uint(16))), low(texel.y));
  const signed = (word: Node<'uint'>) => float(int(word).shiftRight(int(24))).div(127);
  return [least.xyz.add(size.xyz.mul(steps)), vec2(signed(texel.y.shiftLeft(uint(8))), signed(texel.y))];
}

/**
 * Twin of `vertexMatrixGLSL`: a matrix for the vertex alone, as rows, and its normal. Builds on the current stack.
 *
 * @param table Of each frame its box, and which of the stored frames it is.
 */
export function vertexMatrix(
  table: TexelNode,
  vertices: TexelNode,
  precision: VertexPrecision,
  playback: PlaybackNodes,
  draw: ClockNodes & {
    /** Log2 of the texture's width. */
    bits: Node<'int'>;
  },
  variant: VertexVariant,
) {
  const ids = ivec4(attribute<'ivec4'>('skinIndex', 'ivec4')).toVar();
  const vertex = ids.y
    .add(ids.z.shiftLeft(int(16)))
    .sub(1)
    .toVar();
  const shown = float(0).toVar();
  const posed = vec3(0).toVar();
  const turned = vec3(0).toVar();

  const add = (frame: Node<'ivec2'>, weight: Node<'float'>): void => {
    const size = table.texel(frame).toVar();
    const least = table.texel(frame.add(ivec2(1, 0))).toVar();
    const place = int(size.w)
      .mul(int(abs(least.w)))
      .add(vertex)
      .toVar();
    const mask = int(1).shiftLeft(draw.bits).sub(1);
    const at = ivec2(place.bitAnd(mask), place.shiftRight(draw.bits));
    const texel = vertices.integers(at).toVar();
    const [position, square] = decode(texel, size, least, precision);
    posed.addAssign(position.mul(weight));
    If(least.w.greaterThan(0), () => {
      turned.addAssign(unfoldNormal(square.toVar()).mul(weight));
    });
  };

  eachClip(playback, draw, variant, ({ texel0, texel1, alpha }, share) => {
    if (variant.interpolate) {
      const second = share.mul(alpha).toVar();
      add(texel0, share.sub(second));
      add(texel1, second);
    } else {
      add(texel0, share);
    }
    shown.addAssign(share);
  });
  return posingMatrix(shown, posed, turned);
}

/** What a vertex texture has of a vertex: see `PosedNodes`. */
function posingMatrix(
  shown: Node<'float'>,
  posed: Node<'vec3'>,
  turned: Node<'vec3'>,
): { rows: Rows; normal: Node<'vec3'> } {
  const rows = [vec3(shown, 0, 0).toVar(), vec3(0, shown, 0).toVar(), vec3(0, 0, shown).toVar()];
  const normal = normalGeometry.mul(shown).toVar();
  const lit = dot(turned, turned).greaterThan(0).and(dot(normalGeometry, normalGeometry).greaterThan(0));
  If(lit, () => {
    normal.assign(turned);
    const from = normalize(normalGeometry).toVar();
    const to = normalize(turned).toVar();
    const cosine = dot(from, to).toVar();
    If(cosine.greaterThan(-0.99999), () => {
      const v = cross(from, to).toVar();
      const k = v.div(cosine.add(1)).toVar();
      rows[0].assign(vec3(cosine, v.z.negate(), v.y).add(v.mul(k.x)).mul(shown));
      rows[1].assign(vec3(v.z, cosine, v.x.negate()).add(v.mul(k.y)).mul(shown));
      rows[2].assign(vec3(v.y.negate(), v.x, cosine).add(v.mul(k.z)).mul(shown));
    }).Else(() => {
      // By half a turn, about any axis across the normal.
      const side = select(abs(from.x).lessThan(0.5), vec3(1, 0, 0), vec3(0, 1, 0));
      const axis = normalize(cross(from, side)).toVar();
      const twice = axis.mul(2).toVar();
      rows[0].assign(
        axis
          .mul(twice.x)
          .sub(vec3(1, 0, 0))
          .mul(shown),
      );
      rows[1].assign(
        axis
          .mul(twice.y)
          .sub(vec3(0, 1, 0))
          .mul(shown),
      );
      rows[2].assign(
        axis
          .mul(twice.z)
          .sub(vec3(0, 0, 1))
          .mul(shown),
      );
    });
  });
  const row = (i: 0 | 1 | 2) => vec4(rows[i], [posed.x, posed.y, posed.z][i]).toVar();
  return { rows: [row(0), row(1), row(2)], normal };
}
