import { Frustum, Matrix4, type PerspectiveCamera, Sphere, Vector3 } from 'three';

/** Colours of the levels of detail, red, green and blue from 0 to 255; the last is for what the camera does not see. */
const COLORS = [
  [98, 214, 122],
  [240, 206, 84],
  [232, 98, 82],
  [136, 120, 232],
  [84, 94, 104],
] as const;
const UNSEEN = COLORS.length - 1;

const _frustum = new Frustum();
const _matrix = new Matrix4();
const _sphere = new Sphere();
const _eye = new Vector3();
const _corner = new Vector3();

/** A soldier's sphere: around everything that his clips do. */
const MIDDLE = 0.95;
const REACH = 1.35;

/** The field from above, on a canvas: each soldier a dot in the colour of his level, and what the camera sees as an outline. */
export class FieldMap {
  private readonly context: CanvasRenderingContext2D;
  private readonly image: ImageData;

  /** Where the levels of detail begin. */
  distances: readonly number[] = [];

  /** @param half Half of the field's size. */
  constructor(
    canvas: HTMLCanvasElement,
    public half: number,
  ) {
    const context = canvas.getContext('2d');
    if (context === null) throw new Error('This browser has no 2D canvas.');
    this.context = context;
    this.image = context.createImageData(canvas.width, canvas.height);
  }

  /** @param matrices Of the soldiers, 16 numbers each. */
  draw(camera: PerspectiveCamera, matrices: ArrayLike<number>, count: number): void {
    const { image, context } = this;
    const { data, width, height } = image;
    const scale = width / (2 * this.half);
    const dot = Math.max(1, Math.round(scale * 0.8));
    data.fill(0);
    _matrix.multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    _frustum.setFromProjectionMatrix(_matrix, camera.coordinateSystem, camera.reversedDepth);
    _eye.setFromMatrixPosition(camera.matrixWorld);
    _sphere.radius = REACH;
    // What is not seen first, so that it does not lie over what is.
    for (const seen of [false, true]) {
      for (let i = 0; i < count; i++) {
        const x = matrices[i * 16 + 12];
        const z = matrices[i * 16 + 14];
        _sphere.center.set(x, MIDDLE, z);
        if (_frustum.intersectsSphere(_sphere) !== seen) continue;
        const color = COLORS[seen ? this.levelAt(_eye.distanceTo(_sphere.center)) : UNSEEN];
        const left = Math.floor((x + this.half) * scale);
        const top = Math.floor((z + this.half) * scale);
        for (let row = Math.max(top, 0); row < Math.min(top + dot, height); row++) {
          for (let column = Math.max(left, 0); column < Math.min(left + dot, width); column++) {
            const at = (row * width + column) * 4;
            for (let c = 0; c < 3; c++) data[at + c] = color[c];
            data[at + 3] = 255;
          }
        }
      }
    }
    context.putImageData(image, 0, 0);
    this.outline(camera, scale);
  }

  private levelAt(distance: number): number {
    let level = 0;
    while (level < this.distances.length && distance >= this.distances[level]) level++;
    return Math.min(level, UNSEEN - 1);
  }

  /** The two sides of the camera's view, as far as it goes. */
  private outline(camera: PerspectiveCamera, scale: number): void {
    const { context, half } = this;
    context.strokeStyle = '#ffffff';
    context.lineWidth = 1;
    context.beginPath();
    for (const x of [-1, 1]) {
      _corner.set(x, 0, 1).unproject(camera);
      context.moveTo((_eye.x + half) * scale, (_eye.z + half) * scale);
      context.lineTo((_corner.x + half) * scale, (_corner.z + half) * scale);
    }
    context.stroke();
  }
}
