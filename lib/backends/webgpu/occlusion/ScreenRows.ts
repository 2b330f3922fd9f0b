import { type Matrix4, Vector4 } from 'three';
import { uniform } from 'three/tsl';
import { DRIFT, type ScreenNodes } from './hiddenSphere.js';

/** Where a camera looks, in a crowd's space, as shaders ask for it. */
export class ScreenRows implements ScreenNodes {
  readonly x = uniform(new Vector4());
  readonly y = uniform(new Vector4());
  readonly z = uniform(new Vector4());
  readonly w = uniform(new Vector4());
  readonly base = uniform(0);
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
