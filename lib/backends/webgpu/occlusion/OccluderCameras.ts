import { type Camera, OrthographicCamera, PerspectiveCamera } from 'three';

/** What cameras of either kind have besides matrices, for hooks that ask. */
const LENS = ['near', 'far', 'zoom', 'fov', 'aspect', 'left', 'right', 'top', 'bottom'] as const;

type Lens = Partial<Record<(typeof LENS)[number], number>>;

/**
 * Cameras that see what those of the pictures see. three.js keeps lists of what is drawn, and recorded bundles, for each camera:
 * with the picture's own camera, a pass within a picture would overwrite those that the picture is being drawn from.
 */
export class OccluderCameras {
  private readonly copies = new WeakMap<Camera, Camera>();

  /** The copy of a camera, which sees what the camera sees now. */
  of(camera: Camera): Camera {
    let copy = this.copies.get(camera);
    if (copy === undefined) {
      copy = isOrthographic(camera) ? new OrthographicCamera() : new PerspectiveCamera();
      // It has the matrices of the other one, which three.js must not compute anew.
      copy.matrixAutoUpdate = copy.matrixWorldAutoUpdate = false;
      this.copies.set(camera, copy);
    }
    copyView(copy, camera);
    return copy;
  }
}

function copyView(copy: Camera, camera: Camera): void {
  copy.name = camera.name;
  copy.layers.mask = camera.layers.mask;
  copy.matrix.copy(camera.matrixWorld);
  copy.matrixWorld.copy(camera.matrixWorld);
  copy.matrixWorldInverse.copy(camera.matrixWorldInverse);
  copy.matrixWorld.decompose(copy.position, copy.quaternion, copy.scale);
  copy.projectionMatrix.copy(camera.projectionMatrix);
  copy.projectionMatrixInverse.copy(camera.projectionMatrixInverse);
  // Else three.js would make a projection of its own from the numbers below.
  copy.coordinateSystem = camera.coordinateSystem;
  (copy as unknown as { _reversedDepth: boolean })._reversedDepth = camera.reversedDepth;
  const from = camera as Lens;
  const to = copy as Lens;
  for (let i = 0; i < LENS.length; i++) {
    const name = LENS[i];
    if (from[name] !== undefined) to[name] = from[name];
  }
}

const isOrthographic = (camera: Camera): boolean =>
  (camera as { isOrthographicCamera?: boolean }).isOrthographicCamera === true;
