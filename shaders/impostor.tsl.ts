import {
  atan,
  Break,
  cameraPosition,
  cameraProjectionMatrix,
  cameraViewMatrix,
  cameraWorldMatrix,
  clamp,
  cos,
  cross,
  dFdx,
  dFdy,
  dot,
  float,
  floor,
  If,
  int,
  ivec2,
  Loop,
  log2,
  max,
  min,
  mod,
  modelWorldMatrix,
  normalize,
  positionGeometry,
  property,
  select,
  sin,
  sqrt,
  varyingProperty,
  vec2,
  vec3,
  vec4,
} from 'three/tsl';
import type { Node, TextureNode } from 'three/webgpu';
import { LOOP_MODES } from '../lib/constants.js';
import { ACTION_LAYER, ACTION_TEXELS, MAX_ACTIONS } from '../lib/playback/instanceLayout.js';
import { AZIMUTHS, FIRST_ENTRY, RINGS, SHADOW_BEHIND } from './atlasLayout.js';
import { drawClock, drawMorphTexel, drawRows, drawStride } from './drawSlots.tsl.js';
import { actionFrames, playedClock, rampAt } from './playedActions.tsl.js';
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

const DEGREES = Math.PI / 180;

/** The clip that weighs most, and how much of it is over. Of clips that have no tiles, the first stands for them. */
function shownClip(
  { table, actions, instance }: Parameters<typeof placeImpostor>[0],
  entries: Node<'float'>,
) {
  const bits = int(drawRows()).toVar();
  const row = instance.shiftRight(bits).toVar();
  const first = instance.sub(row.shiftLeft(bits)).mul(int(drawStride())).toVar();
  const texelsAt = (x: Node<'int'>, count: number) =>
    actions.rowTexels(x, row, count).map((texel) => texel.toVar());
  const played = playedClock(drawClock(), texelsAt(first, 1)[0]);
  const x = first.add(drawMorphTexel()).toVar();
  const most = float(0).toVar();
  const shown = vec4(0).toVar();
  const shownTiming = vec4(0).toVar();
  Loop(MAX_ACTIONS, () => {
    const [clip, timing, weights] = texelsAt(x, 3);
    If(clip.x.lessThan(0.5).or(clip.x.greaterThanEqual(ACTION_LAYER)), () => {
      Break();
    });
    const weight = rampAt(played.since, weights).toVar();
    If(weight.greaterThan(most), () => {
      most.assign(weight);
      shown.assign(clip);
      shownTiming.assign(timing);
    });
    x.addAssign(ACTION_TEXELS);
  });

  const entry = int(FIRST_ENTRY).toVar();
  const share = float(0).toVar();
  If(most.greaterThan(0), () => {
    const { frame0, alpha } = actionFrames(shown, shownTiming, played, float(1), true);
    If(frame0.greaterThan(0.5), () => {
      const intervals = floor(shown.y.mul(1 / LOOP_MODES)).sub(1);
      share.assign(frame0.sub(1).add(alpha).div(max(intervals, 1)));
      entry.assign(int(min(entries.sub(1), 1)).add(FIRST_ENTRY));
      const i = int(FIRST_ENTRY).toVar();
      Loop(int(entries), () => {
        If(table.texel(ivec2(i, 0)).x.equal(shown.x), () => {
          entry.assign(i);
        });
        i.addAssign(1);
      });
    });
  });
  return { entry, share };
}

/** Twin of `impostor.glsl.ts`: where the corner of a quad is, and where it faces. Builds on the current stack of a vertex. */
export function placeImpostor(nodes: {
  /** See `atlasLayout.ts`. */
  table: TexelNode;
  /** The actions of all instances, see `ActionTexels`. */
  actions: Pick<TexelNode, 'rowTexels'>;
  instance: Node<'int'>;
  /** Where the instance stands. */
  matrix: Node<'mat4'>;
}): { position: Node<'vec3'>; normal: Node<'vec3'> } {
  const { table, matrix, instance } = nodes;
  const texel = (x: Node<'int'>, y: Node<'int'>) => table.texel(ivec2(x, y)).toVar();
  const head = texel(int(0), int(0));
  const middle = texel(int(1), int(0));
  const { entry, share } = shownClip(nodes, head.x);
  const clip = texel(entry, int(0));
  const phase = min(floor(share.mul(clip.z)), clip.z.sub(1))
    .add(clip.y)
    .toVar();
  const block = int(phase).add(1).toVar();

  // Towards the eye, in the instance's own space.
  const world = withColumns(modelWorldMatrix.mul(matrix).toVar());
  const turn = [0, 1, 2].map((i) => world.element(i).xyz.toVar());
  const turned = (vector: Node<'vec3'>) =>
    turn[0].mul(vector.x).add(turn[1].mul(vector.y)).add(turn[2].mul(vector.z));
  const origin = world.mul(vec4(middle.yzw, 1)).xyz;
  const isFlat = cameraProjectionMatrix.mul(vec4(0, 0, 1, 0)).w.equal(0);
  const eye = select(isFlat, cameraWorldMatrix.mul(vec4(0, 0, 1, 0)).xyz, cameraPosition.sub(origin)).toVar();
  const [x, y, z] = turn.map((axis) => dot(eye, axis).div(dot(axis, axis)));
  const sight = normalize(vec3(x, y, z)).toVar();

  // The nearest direction that there are tiles of.
  const steps = floor(
    atan(sight.x, sight.z)
      .mul(AZIMUTHS / (2 * Math.PI))
      .add(0.5),
  ).toVar();
  const column = mod(steps, AZIMUTHS).toVar();
  const ring = float(0).toVar();
  const elevation = float(RINGS[0] * DEGREES).toVar();
  RINGS.slice(1).forEach((angle, i) => {
    If(sight.y.greaterThan(Math.sin(((angle + RINGS[i]) / 2) * DEGREES)), () => {
      ring.assign(i + 1);
      elevation.assign(angle * DEGREES);
    });
  });
  const azimuth = steps.mul((2 * Math.PI) / AZIMUTHS).toVar();
  const side = vec3(cos(azimuth), 0, sin(azimuth).negate()).toVar();
  const flat = cos(elevation).toVar();
  const front = vec3(flat.mul(sin(azimuth)), sin(elevation), flat.mul(cos(azimuth))).toVar();
  const up = cross(front, side).toVar();

  const direction = ring.mul(AZIMUTHS).add(column).add(0.5);
  const box = texel(int(direction).add(1), block);
  const size = vec2(box.w.mul(middle.x), box.w).toVar();
  const corner = positionGeometry.xy.toVar();
  const on = box.xy.add(corner.mul(size)).toVar();

  // Rows of the atlas count from its upper edge here.
  const row = floor(phase.add(0.5).div(head.y)).toVar();
  const left = phase.sub(row.mul(head.y)).mul(AZIMUTHS).add(column);
  const top = row.mul(RINGS.length).add(float(RINGS.length - 1).sub(ring));
  tile.assign(vec4(vec2(left, top).mul(head.zw), head.zw));

  const depth = texel(int(0), block)
    .x.mul(box.w)
    .div(max(dot(sight, front), 0.3));
  const toEye = sight.mul(depth).toVar();
  place.assign(vec4(corner, vec2(dot(toEye, side), dot(toEye, up)).div(size)));
  const inView = (vector: Node<'vec3'>) => cameraViewMatrix.mul(vec4(turned(vector), 0)).xyz;
  ray.assign(inView(toEye));
  sideView.assign(inView(side));
  upView.assign(inView(up));
  frontView.assign(inView(front));
  drawn.assign(instance);
  return { position: side.mul(on.x).add(up.mul(on.y)).add(front.mul(box.z)), normal: front };
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
