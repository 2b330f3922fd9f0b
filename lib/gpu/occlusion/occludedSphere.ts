import {
  LessDepth,
  LessEqualDepth,
  type Matrix4,
  type Mesh,
  NoBlending,
  NormalBlending,
  type Object3D,
  Vector4,
} from 'three';
import { bool, cross, dot, float, If, int, length, max, min, sqrt, uniform, vec2 } from 'three/tsl';
import { type Node, NodeMaterial } from 'three/webgpu';
import { type DrawnMaterial, While } from '../../../shaders/tsl.js';
import { type DepthPyramid, FINEST, LEVELS } from './DepthPyramid.js';

/** The most squares on a side of what is asked about a sphere, at the least. */
const SQUARES = 4;
/** A sphere that is larger on the screen than so many of the largest squares is near, and seen. */
const SQUARES_WHEN_NEAR = 8;
/** What depth is uncertain by: of itself, and a step of a depth buffer of 24 bits. */
const ROUNDING = 2e-6;
const STEP = 1.2e-7;
/**
 * By how much places are uncertain, as a share of their distance from the origin: some steps of a number of 32 bits. It is so of the
 * sphere here, and of what is drawn in the end.
 */
const DRIFT = 1e-6;

/**
 * Whether a sphere is farther away, as a whole, than all pixels of the rectangle that it takes up on the screen. A pixel around it is
 * asked too. Builds on the current stack.
 *
 * @param sphere Centre and radius, in the crowd's space.
 */
export function hiddenSphere(pyramid: DepthPyramid, screen: ScreenRows, sphere: Node<'vec4'>): Node<'bool'> {
  const hidden = bool(false).toVar();
  const center = sphere.xyz;
  const at = (row: Node<'vec4'>) => dot(row.xyz, center).add(row.w);
  const w = at(screen.w).toVar();
  const radius = sphere.w.add(screen.slack).add(length(center).mul(DRIFT)).toVar();
  const squaredRadius = radius.mul(radius).toVar();
  const scale = w
    .mul(w)
    .sub(squaredRadius.mul(dot(screen.w.xyz, screen.w.xyz)))
    .toVar();
  // Whoever reaches behind the camera is seen.
  If(w.greaterThan(0).and(scale.greaterThan(w.mul(w).mul(1e-4))), () => {
    // The planes through the eye on which a coordinate is the same everywhere, and which touch the sphere: least and greatest.
    const range = (row: Node<'vec4'>): Node<'vec2'> => {
      const value = at(row).toVar();
      const turned = row.xyz.mul(w).sub(screen.w.xyz.mul(value)).toVar();
      const between = cross(row.xyz, screen.w.xyz).toVar();
      const middle = value.mul(w).sub(squaredRadius.mul(dot(row.xyz, screen.w.xyz)));
      const square = squaredRadius.mul(dot(turned, turned).sub(squaredRadius.mul(dot(between, between))));
      const half = sqrt(max(square, 0)).toVar();
      return vec2(middle.sub(half), middle.add(half)).div(scale).toVar();
    };
    const nearest = range(screen.z).x.add(screen.base).toVar();
    const across = range(screen.x).mul(0.5).add(0.5).mul(screen.width).toVar();
    const down = range(screen.y).mul(-0.5).add(0.5).mul(screen.height).toVar();
    const pixel = (value: Node<'float'>, size: Node<'float'>) =>
      int(min(max(value, float(0)), size.sub(1))).toVar();
    const x0 = pixel(across.x.sub(1), screen.width);
    const x1 = pixel(across.y.add(1), screen.width);
    const y0 = pixel(down.y.sub(1), screen.height);
    const y1 = pixel(down.x.add(1), screen.height);
    const level = int(0).toVar();
    const count = (from: Node<'int'>, to: Node<'int'>) =>
      to.shiftRight(level.add(FINEST)).sub(from.shiftRight(level.add(FINEST)));
    const isWider = (most: number) =>
      count(x0, x1).greaterThanEqual(most).or(count(y0, y1).greaterThanEqual(most));
    While(level.lessThan(LEVELS - 1).and(isWider(SQUARES)), () => {
      level.addAssign(1);
    });
    If(isWider(SQUARES_WHEN_NEAR).not(), () => {
      hidden.assign(bool(true));
      const shift = level.add(FINEST).toVar();
      const first = x0.shiftRight(shift).toVar();
      const right = x1.shiftRight(shift).toVar();
      const bottom = y1.shiftRight(shift).toVar();
      const x = first.toVar();
      const y = y0.shiftRight(shift).toVar();
      While(hidden.and(y.lessThanEqual(bottom)), () => {
        const farthest = pyramid.farthest(level, x, y).toVar();
        const limit = farthest.add(farthest.abs().mul(ROUNDING)).add(STEP);
        If(nearest.lessThanEqual(limit), () => {
          hidden.assign(bool(false));
        });
        x.addAssign(1);
        If(x.greaterThan(right), () => {
          x.assign(first);
          y.addAssign(1);
        });
      });
    });
  });
  return hidden;
}

/** Materials of three.js that draw what a mesh has as geometry. Others may draw lines, points or sprites of it, or see through. */
const SOLID = /^(Mesh(Basic|Lambert|Phong|Standard|Physical|Toon|Matcap|Normal|SSS)(Node)?|Node)Material$/;

/** What a material may have that moves vertices or leaves out pixels. */
const CHANGES = [
  'alphaMap',
  'alphaTestNode',
  'contextNode',
  'depthNode',
  'displacementMap',
  'fragmentNode',
  'geometryNode',
  'maskNode',
  'outputNode',
  'positionNode',
  'vertexNode',
] as const;

/** What subclasses of node materials may do otherwise, and so have another shape. */
const METHODS = [
  'setupClipping',
  'setupDepth',
  'setupHardwareClipping',
  'setupModelViewProjection',
  'setupPosition',
  'setupPositionView',
  'setupVertex',
] as const;

/**
 * Whether an object surely hides what is behind it, wherever a plain material would draw it: what can be seen through in places, or
 * has a shape that its own shader decides on, does not count.
 */
export function hidesBehind(object: Object3D, material: DrawnMaterial): boolean {
  if ((object as Mesh).isMesh !== true || !SOLID.test(material.type)) return false;
  return isDrawnSolid(material) && hasPlainShape(material);
}

function isDrawnSolid(material: DrawnMaterial): boolean {
  const { depthWrite, depthTest, depthFunc, colorWrite, blending } = material;
  if (!depthWrite || !depthTest || (depthFunc !== LessEqualDepth && depthFunc !== LessDepth)) return false;
  if (!colorWrite || (blending !== NormalBlending && blending !== NoBlending)) return false;
  const { alphaTest, alphaHash, alphaToCoverage, stencilWrite, polygonOffset } = material;
  if (alphaTest > 0 || alphaHash || alphaToCoverage || stencilWrite || polygonOffset) return false;
  return (material as { wireframe?: boolean }).wireframe !== true;
}

function hasPlainShape(material: DrawnMaterial): boolean {
  const fields = material as unknown as Record<string, unknown>;
  if (CHANGES.some((name) => (fields[name] ?? null) !== null)) return false;
  const plain = NodeMaterial.prototype as unknown as Record<string, unknown>;
  return material.isNodeMaterial !== true || METHODS.every((name) => fields[name] === plain[name]);
}

/** Where a camera looks, in a crowd's space, as shaders ask for it. */
export class ScreenRows {
  readonly x = uniform(new Vector4());
  readonly y = uniform(new Vector4());
  /** Without a multiple of `w`, see `base`, and such that greater numbers are farther away. */
  readonly z = uniform(new Vector4());
  readonly w = uniform(new Vector4());
  /** What to add to z / w for depth. */
  readonly base = uniform(0);
  /** By how much places are uncertain for being far from the crowd's origin, or that of the world. */
  readonly slack = uniform(0);
  readonly width = uniform(1);
  readonly height = uniform(1);

  /**
   * Takes over where a camera looks.
   *
   * @param clip From the crowd's space into what the camera shows.
   * @param sign -1 if greater depth is nearer.
   * @param view From the world into the camera's space.
   * @param matrixWorld That of the crowd.
   */
  set({ elements }: Matrix4, sign: number, { elements: view }: Matrix4, matrixWorld: Matrix4): void {
    const { x, y, z, w, base, slack } = this;
    const far = Math.max(
      setRow(x.value, elements, 0),
      setRow(y.value, elements, 1),
      setRow(z.value, elements, 2),
      setRow(w.value, elements, 3),
    );
    // z is nearly a multiple of w. Far from the crowd's origin both are differences of large numbers, and their quotient would lose
    // what tells near from far. So that multiple is taken out here, where numbers have 64 bits, and is added to the quotient.
    const { value } = w;
    const length = value.x * value.x + value.y * value.y + value.z * value.z;
    const share = length > 0 ? (z.value.x * value.x + z.value.y * value.y + z.value.z * value.z) / length : 0;
    z.value.addScaledVector(value, -share).multiplyScalar(sign);
    base.value = share * sign;
    // What the GPU draws jitters by the rounding of places in the world too.
    const away = Math.hypot(view[12], view[13], view[14]) / leastScale(matrixWorld);
    slack.value = DRIFT * (far + away);
  }

  /** Has everything be behind the camera, so that it counts as seen. */
  clear(): void {
    this.w.value.set(0, 0, 0, -1);
  }
}

/** Writes a row of a matrix. Returns how far from the origin the plane is on which it is zero. */
function setRow(row: Vector4, elements: readonly number[], i: number): number {
  row.set(elements[i], elements[i + 4], elements[i + 8], elements[i + 12]);
  const length = Math.hypot(row.x, row.y, row.z);
  return length > 0 ? Math.abs(row.w) / length : 0;
}

function leastScale({ elements: e }: Matrix4): number {
  return Math.min(Math.hypot(e[0], e[1], e[2]), Math.hypot(e[4], e[5], e[6]), Math.hypot(e[8], e[9], e[10]));
}
