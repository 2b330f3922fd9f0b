import {
  cameraPosition,
  cameraProjectionMatrix,
  cameraViewMatrix,
  cameraWorldMatrix,
  float,
  int,
  ivec2,
  modelWorldMatrix,
  normalize,
  positionGeometry,
  property,
  select,
  varyingProperty,
  vec2,
  vec4,
} from 'three/tsl';
import type { Node, TextureNode } from 'three/webgpu';
import { RINGS, SHADOW_BEHIND } from './atlasLayout.js';
import { drawClock, drawMorphTexel, drawRows, drawStride } from './drawSlots.tsl.js';
import frameAtNodes from './frameAt.glsl.js?nodes=frameAtGLSL';
import impostorQuadNodes from './impostor.glsl.js?nodes=impostorQuadGLSL';
import partColorNodes from './impostor.glsl.js?nodes=partColorGLSL';
import readTileNodes from './impostor.glsl.js?nodes=readTileGLSL';
import resolveTileNodes from './impostor.glsl.js?nodes=resolveTileGLSL';
import { playedClock } from './playedActions.tsl.js';
import { inLayers, type TexelNode } from './TexelNode.js';
import { sampleLevel, sizeOf, variablesOf, withColumns } from './tsl.js';

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
const at = /*@__PURE__*/ property('vec2', 'impostorAt');
const level = /*@__PURE__*/ property('float', 'impostorLevel');
const height = /*@__PURE__*/ property('float', 'impostorHeight');
const facing = /*@__PURE__*/ property('vec3', 'impostorFacing');

/** The tile that shows an instance, as `impostorQuadGLSL` has it. */
type Quad = Record<'position' | 'side' | 'up' | 'front' | 'ray', Node<'vec3'>> & {
  slope: Node<'vec2'>;
  tile: Node<'vec4'>;
};

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
  const bits = int(drawRows()).toVar();
  const row = instance.shiftRight(bits).toVar();
  const first = instance.sub(row.shiftLeft(bits)).mul(int(drawStride())).toVar();
  const played = playedClock(drawClock(), actions.rowTexels(first, row, 1)[0].toVar());
  const { impostorQuad } = impostorQuadNodes<{ impostorQuad(...inputs: Node[]): Quad }>({
    ...frameAtNodes(),
    CROWD_IMPOSTOR: table,
    CROWD_PLAYED: inLayers(actions),
    CROWD_CLOCK: played.clock,
    playedClock: played.since,
    playedAge: played.age,
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
  const begin = ivec2(first.add(drawMorphTexel()), row).toVar();
  const quad = variablesOf(impostorQuad(begin, ...turn, eye, corner));

  tile.assign(quad.tile);
  place.assign(vec4(corner, quad.slope));
  const inView = (vector: Node<'vec3'>) => cameraViewMatrix.mul(vec4(turned(vector), 0)).xyz;
  ray.assign(inView(quad.ray));
  sideView.assign(inView(quad.side));
  upView.assign(inView(quad.up));
  frontView.assign(inView(quad.front));
  drawn.assign(instance);
  return { position: quad.position, normal: quad.front };
}

const fragments = { impostorAt: at, impostorLevel: level, impostorHeight: height, impostorFacing: facing };

const lod = (node: TextureNode) => ({
  lod: (uv: Node<'vec2'>, level: Node<'float'>) => sampleLevel(node, uv, level),
});

/** Finds the surface on the tile: how far it is along the ray, and whether it is there. Builds on the current stack of a fragment. */
export function readImpostor(shapes: TextureNode, isShadow: boolean): Node<'vec2'> {
  const { readTile } = readTileNodes<{ readTile(): Node<'bool'> }>({
    ...fragments,
    impostorPlace: place.xy,
    impostorSlope: place.zw,
    impostorTile: tile,
    impostorTexels: sizeOf(shapes),
    impostorShapes: lod(shapes),
    impostorBehind: isShadow ? SHADOW_BEHIND : 0,
    atlasUp: -0.5,
  });
  const isThere = readTile();
  return vec2(height, select(isThere, float(1), float(0)));
}

/** By what the surface is before the quad, in view space. These are known where `readImpostor` was built. */
export const impostorShift = (): Node<'vec3'> => ray.mul(height);

export const impostorNormal = (): Node<'vec3'> =>
  normalize(sideView.mul(facing.x).add(upView.mul(facing.y)).add(frontView.mul(facing.z)));

export function impostorColor(colors: TextureNode): Node<'vec3'> {
  const root = sampleLevel(colors, at, level).xyz.toVar();
  return root.mul(root);
}

/**
 * The colour of the part on its instance.
 *
 * @param layout Parts of an instance, and instances in a row.
 */
export const impostorPartColor = (
  parts: TextureNode,
  colors: TexelNode,
  layout: Node<'ivec2'>,
): Node<'vec3'> =>
  partColorNodes<{ impostorPartColor(): Node<'vec3'> }>({
    impostorAt: at,
    impostorInstance: drawn,
    impostorParts: lod(parts),
    impostorPartColors: inLayers(colors),
    impostorPartLayout: layout,
  }).impostorPartColor();

/** What `resolveTiles` finds. */
export const tileColor = /*@__PURE__*/ property('vec4', 'tileColor');
export const tileShape = /*@__PURE__*/ property('vec4', 'tileShape');
export const tilePart = /*@__PURE__*/ property('vec4', 'tilePart');

/** Resolves a tile by `resolveTileGLSL`. Builds on the current stack of a fragment. */
export function resolveTiles(
  colors: TextureNode,
  shapes: TextureNode,
  parts: TextureNode,
  uv: Node<'vec2'>,
): void {
  const size = sizeOf(colors).toVar();
  const texelsOf = (node: TextureNode) => ({
    texel: (on: Node<'ivec2'>) => sampleLevel(node, vec2(on).add(0.5).div(size), float(0)),
  });
  const { resolveTile } = resolveTileNodes<{ resolveTile(at: Node<'ivec2'>): void }>({
    colors: texelsOf(colors),
    shapes: texelsOf(shapes),
    parts: texelsOf(parts),
    color: tileColor,
    shape: tileShape,
    part: tilePart,
  });
  resolveTile(ivec2(uv.mul(size).mul(0.5)).mul(2).toVar());
}
