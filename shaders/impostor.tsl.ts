import {
  cameraPosition,
  cameraProjectionMatrix,
  cameraViewMatrix,
  cameraWorldMatrix,
  float,
  int,
  ivec2,
  mat3,
  modelWorldMatrix,
  positionGeometry,
  property,
  select,
  uv,
  varyingProperty,
  vec2,
  vec3,
  vec4,
} from 'three/tsl';
import type { Node, TextureNode } from 'three/webgpu';
import { PARAM_MORPH_TEXEL, PARAM_ROWS } from '../lib/constants.js';
import { RINGS, SHADOW_BEHIND } from './atlasLayout.js';
import { drawClock, drawParameter } from './drawSlots.tsl.js';
import frameAtNodes from './fadesAndFrames.glsl.js?nodes=frameAtGLSL';
import impostorNodes from './impostor.glsl.js?nodes=impostorNodesGLSL';
import { playedNeeds } from './playedActions.tsl.js';
import { inLayers, type TexelNode } from './TexelNode.js';
import { sizeOf, variablesOf, withColumns } from './tsl.js';

/** Where the fragment is on its tile, -1 to 1; how far it moves there for half of the depth that a tile holds, towards the eye. */
const place = /*@__PURE__*/ varyingProperty('vec4', 'impostorPlace');
/** The upper left corner and the size of the tile in the atlas. */
const tile = /*@__PURE__*/ varyingProperty('vec4', 'impostorTile');
/** That half of the depth, and the axes of the tile, in view space. */
const inView = (name: 'impostorRay' | 'impostorSide' | 'impostorUp' | 'impostorNormal') =>
  varyingProperty('vec3', name);
const drawn = /*@__PURE__*/ varyingProperty('int', 'impostorInstance');

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
  actions: Pick<TexelNode, 'rowTexels' | 'width'>;
  instance: Node<'int'>;
  /** Where the instance stands. */
  matrix: Node<'mat4'>;
}): { position: Node<'vec3'>; normal: Node<'vec3'> } {
  const zero = vec3(0);
  const found = variablesOf({
    impostorPosition: zero,
    impostorNormal: zero,
    impostorSide: zero,
    impostorUp: zero,
    impostorRay: zero,
    impostorSlope: vec2(0),
  });
  const { playedTexel, impostorQuad } = impostorNodes<{
    playedTexel(instance: Node<'int'>): Node<'ivec2'>;
    impostorQuad(...inputs: Node[]): void;
  }>({
    ...frameAtNodes(),
    ...found,
    impostorTile: tile,
    CROWD_IMPOSTOR: table,
    // Draws know how many layers there are.
    ...playedNeeds({ actions, clock: drawClock(), layers: 1 }, int(drawParameter(PARAM_ROWS)).toVar()),
    // Rows of the atlas count from its upper edge here.
    atlasRow: (ring: Node<'int'>) => int(RINGS.length - 1).sub(ring),
  });

  const world = withColumns(modelWorldMatrix.mul(matrix).toVar());
  const turn = [0, 1, 2].map((i) => world.element(i).xyz.toVar());
  const origin = world.mul(vec4(table.texel(ivec2(1, 0)).yzw, 1)).xyz;
  const isFlat = cameraProjectionMatrix.mul(vec4(0, 0, 1, 0)).w.equal(0);
  const eye = select(isFlat, cameraWorldMatrix.mul(vec4(0, 0, 1, 0)).xyz, cameraPosition.sub(origin)).toVar();
  const corner = positionGeometry.xy.toVar();
  const begin = playedTexel(instance)
    .add(ivec2(int(drawParameter(PARAM_MORPH_TEXEL)), 0))
    .toVar();
  impostorQuad(begin, ...turn, eye, corner);

  place.assign(vec4(corner, found.impostorSlope));
  for (const name of ['impostorRay', 'impostorSide', 'impostorUp', 'impostorNormal'] as const)
    inView(name).assign(cameraViewMatrix.mul(vec4(mat3(turn[0], turn[1], turn[2]).mul(found[name]), 0)).xyz);
  drawn.assign(instance);
  return { position: found.impostorPosition, normal: found.impostorNormal };
}

/**
 * What fragments do with a tile, see `impostorNodesGLSL`; the shift is one in view space. All build on the current stack, and the first
 * must be what finds the surface.
 */
export const impostorFragment = (uniforms: { impostorPartColors?: TexelNode }, isShadow: boolean) =>
  impostorNodes<{
    readImpostor(): Node<'bool'>;
    impostorShift(): Node<'vec3'>;
    impostorColor(): Node<'vec3'>;
    impostorPartColor(): Node<'vec3'>;
    impostorFacing(): Node<'vec3'>;
  }>({
    ...uniforms,
    impostorPartColors: inLayers(uniforms.impostorPartColors as TexelNode),
    impostorPlace: place.xy,
    impostorSlope: place.zw,
    impostorTile: tile,
    impostorRay: inView('impostorRay'),
    impostorAxes: mat3(inView('impostorSide'), inView('impostorUp'), inView('impostorNormal')),
    impostorInstance: drawn,
    IMPOSTOR_BEHIND: float(isShadow ? SHADOW_BEHIND : 0),
    // Rows of textures count from the upper edge here.
    ON_TILE: vec2(0.5, -0.5),
  });

/** What `resolveTile` finds. */
export const tileColor = /*@__PURE__*/ property('vec4', 'tileColor');
export const tileShape = /*@__PURE__*/ property('vec4', 'tileShape');
export const tilePart = /*@__PURE__*/ property('vec4', 'tilePart');

/** See `resolveTilesGLSL`. Builds on the current stack of a fragment. */
export function resolveTile(tiles: readonly TextureNode[]): void {
  const [colors, shapes, parts] = tiles.map((one) => ({ texel: (at: Node<'ivec2'>) => one.load(at) }));
  const { resolveTile } = impostorNodes<{ resolveTile(at: Node<'ivec2'>): void }>({
    ...{ colors, shapes, parts, tileColor, tileShape, tilePart },
  });
  // Textures of targets have their first row at the top.
  resolveTile(
    ivec2(uv().flipY().mul(sizeOf(tiles[0])).mul(0.5))
      .mul(2)
      .toVar(),
  );
}
