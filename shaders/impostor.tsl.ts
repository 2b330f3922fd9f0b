import {
  cameraPosition,
  cameraProjectionMatrix,
  cameraViewMatrix,
  cameraWorldMatrix,
  clamp,
  dFdx,
  dFdy,
  dot,
  float,
  floor,
  If,
  int,
  ivec2,
  ivec4,
  Loop,
  log2,
  max,
  modelWorldMatrix,
  normalize,
  positionGeometry,
  property,
  select,
  sqrt,
  varyingProperty,
  vec2,
  vec3,
  vec4,
} from 'three/tsl';
import type { Node, TextureNode } from 'three/webgpu';
import { RINGS, SHADOW_BEHIND } from './atlasLayout.js';
import { drawClock, drawMorphTexel, drawRows, drawStride } from './drawSlots.tsl.js';
import frameAtNodes from './fadesAndFrames.glsl.js?nodes=frameAtGLSL';
import impostorQuadNodes from './impostor.glsl.js?nodes=impostorNodesGLSL';
import { playedNeeds } from './playedActions.tsl.js';
import type { TexelNode } from './TexelNode.js';
import { sampleLevel, sizeOf, withColumns } from './tsl.js';

/** Where the fragment is on its tile, -1 to 1; how far it moves there for half of the depth that a tile holds, towards the eye. */
const place = /*@__PURE__*/ varyingProperty('vec4', 'impostorPlace');
/** The upper left corner and the size of the tile in the atlas. */
const tile = /*@__PURE__*/ varyingProperty('vec4', 'impostorTile');
/** That half of the depth in view space. */
const ray = /*@__PURE__*/ varyingProperty('vec3', 'impostorRay');
/** The axes of the tile in view space. */
const sideView = /*@__PURE__*/ varyingProperty('vec3', 'impostorSide');
const upView = /*@__PURE__*/ varyingProperty('vec3', 'impostorUp');
const frontView = /*@__PURE__*/ varyingProperty('vec3', 'impostorFront');
const drawn = /*@__PURE__*/ varyingProperty('int', 'impostorInstance');

/** What a fragment has read: where in the atlas, and at which level of it; how far the surface is along the ray; its normal. */
const at = /*@__PURE__*/ property('vec3', 'impostorAt');
const height = /*@__PURE__*/ property('float', 'impostorHeight');
const facing = /*@__PURE__*/ property('vec2', 'impostorFacing');

/** Where the corner of a quad is, and where it faces. Builds on the current stack of a vertex. */
export function placeImpostor({
  table,
  actions,
  instance,
  matrix,
}: {
  /** See `atlasLayout.ts`. */
  table: TexelNode;
  /** The actions of all instances, see `ActionTexels`. */
  actions: Pick<TexelNode, 'rowTexels'>;
  instance: Node<'int'>;
  /** Where the instance stands. */
  matrix: Node<'mat4'>;
}): { position: Node<'vec3'>; normal: Node<'vec3'> } {
  const found = {
    impostorPosition: vec3(0).toVar(),
    impostorNormal: vec3(0).toVar(),
    impostorSide: vec3(0).toVar(),
    impostorUp: vec3(0).toVar(),
    impostorRay: vec3(0).toVar(),
    impostorSlope: vec2(0).toVar(),
  };
  const { playedTexel, impostorQuad } = impostorQuadNodes<{
    playedTexel(instance: Node<'int'>): Node<'ivec2'>;
    impostorQuad(...inputs: Node[]): void;
  }>({
    ...frameAtNodes(),
    ...found,
    impostorTile: tile,
    CROWD_IMPOSTOR: table,
    ...playedNeeds({ actions, clock: drawClock(), layers: 1 }),
    // Draws know how many layers there are.
    playedLayout: ivec4(0, int(drawStride()), int(drawRows()), 0).toVar(),
    // Rows of the atlas count from its upper edge here.
    atlasRow: (ring: Node<'int'>) => int(RINGS.length - 1).sub(ring),
  });

  const world = withColumns(modelWorldMatrix.mul(matrix).toVar());
  const turn = [0, 1, 2].map((i) => world.element(i).xyz.toVar());
  const turned = (vector: Node<'vec3'>) =>
    turn[0].mul(vector.x).add(turn[1].mul(vector.y)).add(turn[2].mul(vector.z));
  const origin = world.mul(vec4(table.texel(ivec2(1, 0)).yzw, 1)).xyz;
  const isFlat = cameraProjectionMatrix.mul(vec4(0, 0, 1, 0)).w.equal(0);
  const eye = select(isFlat, cameraWorldMatrix.mul(vec4(0, 0, 1, 0)).xyz, cameraPosition.sub(origin)).toVar();
  const corner = positionGeometry.xy.toVar();
  const begin = playedTexel(instance).add(ivec2(drawMorphTexel(), 0)).toVar();
  impostorQuad(begin, ...turn, eye, corner);

  place.assign(vec4(corner, found.impostorSlope));
  const inView = (vector: Node<'vec3'>) => cameraViewMatrix.mul(vec4(turned(vector), 0)).xyz;
  ray.assign(inView(found.impostorRay));
  sideView.assign(inView(found.impostorSide));
  upView.assign(inView(found.impostorUp));
  frontView.assign(inView(found.impostorNormal));
  drawn.assign(instance);
  return { position: found.impostorPosition, normal: found.impostorNormal };
}

/** Where a place of the tile is in the atlas. */
const pixel = (on: Node<'vec2'>): Node<'vec2'> =>
  tile.xy.add(tile.zw.mul(clamp(on, -0.97, 0.97).mul(vec2(0.5, -0.5)).add(0.5)));

/** Finds the surface on the tile: how far it is along the ray, and whether it is there. Builds on the current stack of a fragment. */
export function readImpostor(shapes: TextureNode, isShadow: boolean): Node<'vec2'> {
  const texels = sizeOf(shapes).mul(tile.zw).mul(0.5).toVar();
  const dx = dFdx(place.xy).mul(texels).toVar();
  const dy = dFdy(place.xy).mul(texels).toVar();
  const level = log2(max(dot(dx, dx), dot(dy, dy)))
    .mul(0.5)
    .toVar();
  const depthOf = (shape: Node<'vec4'>) => shape.z.mul(-2).add(1);
  const on = place.xy.toVar();
  Loop(2, () => {
    const before = depthOf(sampleLevel(shapes, pixel(on), level));
    on.assign(place.xy.add(place.zw.mul(before)));
  });
  at.assign(vec3(pixel(on), level));
  const shape = sampleLevel(shapes, at.xy, level).toVar();
  height.assign(depthOf(shape).sub(isShadow ? SHADOW_BEHIND : 0));
  facing.assign(shape.xy.mul(2).sub(1));
  const outside = max(on.x.abs(), on.y.abs());
  return vec2(height, select(shape.w.lessThan(0.5).or(outside.greaterThan(1)), float(0), float(1)));
}

/** By what the surface is before the quad, in view space. These are known where `readImpostor` was built. */
export const impostorShift = (): Node<'vec3'> => ray.mul(height);

export const impostorNormal = (): Node<'vec3'> =>
  normalize(
    sideView
      .mul(facing.x)
      .add(upView.mul(facing.y))
      .add(frontView.mul(sqrt(max(float(1).sub(dot(facing, facing)), 0.01)))),
  );

export function impostorColor(colors: TextureNode): Node<'vec3'> {
  const root = sampleLevel(colors, at.xy, at.z).xyz.toVar();
  return root.mul(root);
}

/**
 * The colour of the part on its instance.
 *
 * @param layout Parts of an instance, and instances in a row.
 */
export function impostorPartColor(
  parts: TextureNode,
  colors: TexelNode,
  layout: Node<'ivec2'>,
): Node<'vec3'> {
  const part = int(sampleLevel(parts, at.xy, float(0)).x.mul(255).add(0.5));
  const row = drawn.div(layout.y).toVar();
  const first = drawn.sub(row.mul(layout.y)).mul(layout.x);
  return colors.rowTexels(first.add(part).toVar(), row, 1)[0].xyz;
}

/** What `resolveTiles` finds. */
export const tileColor = /*@__PURE__*/ property('vec4', 'tileColor');
export const tileShape = /*@__PURE__*/ property('vec4', 'tileShape');
export const tilePart = /*@__PURE__*/ property('vec4', 'tilePart');

/** Twin of `resolveTilesGLSL`. Builds on the current stack of a fragment. */
export function resolveTiles(
  colors: TextureNode,
  shapes: TextureNode,
  parts: TextureNode,
  uv: Node<'vec2'>,
): void {
  const size = sizeOf(colors).toVar();
  const corner = floor(uv.mul(size).mul(0.5)).mul(2).add(0.5).toVar();
  const add = (from: number, width: number) => {
    const i = int(0).toVar();
    for (const sum of [tileColor, tileShape, tilePart]) sum.assign(vec4(0));
    Loop(width * width, () => {
      const y = i.div(width).toVar();
      const on = corner
        .add(vec2(i.sub(y.mul(width)).add(from), y.add(from)))
        .div(size)
        .toVar();
      const color = sampleLevel(colors, on, float(0)).toVar();
      If(color.w.greaterThan(0), () => {
        tileColor.addAssign(color);
        tileShape.addAssign(vec4(sampleLevel(shapes, on, float(0)).xyz, 1));
        tilePart.assign(sampleLevel(parts, on, float(0)));
      });
      i.addAssign(1);
    });
  };
  add(0, 2);
  const covered = tileShape.w.toVar();
  If(covered.equal(0), () => add(-2, 6));
  const count = max(tileShape.w, 0.001).toVar();
  tileColor.divAssign(count);
  const shape = vec4(tileShape.xyz.div(count), covered.mul(0.25));
  tileShape.assign(select(tileShape.w.equal(0), vec4(0.5, 0.5, 0.5, 0), shape));
}
