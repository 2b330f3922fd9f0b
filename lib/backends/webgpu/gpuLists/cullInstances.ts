import type { Camera, Matrix4 } from 'three';
import { abs, bool, dot, If, Loop, max, sqrt, vec3, vec4 } from 'three/tsl';
import type { Node } from 'three/webgpu';
import type { Elements } from '../../../../shaders/tsl.js';

/** Planes of a frustum. */
export const PLANES = 6;
/** As in `lib/culling/InstanceGroups.ts`. */
const MARGIN = 1e-6;

/**
 * The sphere around an instance, in the space of the crowd: centre and radius. Twin of `lib/culling/InstanceGroups.ts`.
 * Builds on the current stack.
 *
 * @param columns The instance's matrix.
 * @param sphere Around whatever an instance of the identity matrix may look like.
 */
export function instanceSphere(columns: readonly Node<'vec4'>[], sphere: Node<'vec4'>): Node<'vec4'> {
  const [a, b, c] = columns.slice(0, 3).map((column) => column.xyz.toVar());
  const center = a.mul(sphere.x).add(b.mul(sphere.y)).add(c.mul(sphere.z)).add(columns[3].xyz).toVar();
  const [ab, ac, bc] = [abs(dot(a, b)).toVar(), abs(dot(a, c)).toVar(), abs(dot(b, c)).toVar()];
  const scales = vec3(
    dot(a, a).add(ab).add(ac),
    dot(b, b).add(ab).add(bc),
    dot(c, c).add(ac).add(bc),
  ).toVar();
  const radius = sphere.w.mul(sqrt(max(scales.x, max(scales.y, scales.z)))).toVar();
  const size = radius.add(abs(center.x)).add(abs(center.y)).add(abs(center.z));
  return vec4(center, radius.add(size.mul(MARGIN))).toVar();
}

/**
 * Whether a sphere reaches into one of the frustums. Builds on the current stack.
 *
 * @param planes Six for each frustum, towards the inside.
 */
export function isSeen(planes: Elements<'vec4'>, frustums: Node<'int'>, sphere: Node<'vec4'>): Node<'bool'> {
  const seen = bool(false).toVar();
  Loop(frustums, ({ i: frustum }) => {
    // Loops within each other name their counters alike.
    const first = frustum.mul(PLANES).toVar();
    const inside = bool(true).toVar();
    Loop(PLANES, ({ i }) => {
      const plane = planes.element(first.add(i)).toVar();
      If(dot(plane.xyz, sphere.xyz).add(plane.w).lessThan(sphere.w.negate()), () => {
        inside.assign(bool(false));
      });
    });
    seen.assign(seen.or(inside));
  });
  return seen;
}

/** What is hidden from the cameras of a renderer by something else than the crowd. */
export interface CameraOcclusion {
  /** Tells it apart from others; greater than 0. */
  readonly id: number;
  /**
   * Finds out what hides something from a camera, unless that has been done in this frame. It may render, and so call hooks of the
   * user's, which may change anything, and render pictures for which it is asked anew.
   *
   * @returns Grows whenever something else may be hidden; 0 if nothing is.
   */
  prepare(camera: Camera): number;
  /**
   * Has shaders ask for the camera that was prepared last.
   *
   * @param version What `prepare` returned; 0 if nothing is hidden.
   * @param clip From the crowd's space into what the camera shows.
   * @param matrixWorld That of the crowd.
   */
  use(version: number, clip: Matrix4, matrixWorld: Matrix4): void;
  /** Whether a sphere in the crowd's space is hidden. Builds on the current stack. */
  hides(sphere: Node<'vec4'>): Node<'bool'>;
}
