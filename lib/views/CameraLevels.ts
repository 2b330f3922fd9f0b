import type { Camera, Matrix4 } from 'three';
import type { LevelTable } from './LevelTable.js';

/** Cameras that have it divide distances by it, as those of `LOD`. */
interface ZoomedCamera extends Camera {
  zoom?: number;
}

/** Place of the scale in `CameraLevels.measure`. */
const SCALE = 12;

/**
 * The level of detail at which a camera sees each instance. It is kept, since how near an instance must come to be drawn in
 * more detail again depends on what it was. Shadow maps ask that of the camera for which they are drawn, so that a shadow
 * changes when what casts it does.
 */
export class CameraLevels {
  /** Goes up whenever levels may be others than before, though no instance has moved. */
  version = 0;

  /** By id; of instances that have not been seen for a while, what it was then. */
  levels: Uint8Array = new Uint8Array(0);
  /**
   * First from the crowd's space to one about the camera with the axes of the world: the upper rows of a matrix. Then what a
   * squared distance is multiplied by before it is compared; with levels by size, it is divided by a squared radius too.
   */
  readonly measure: Float64Array = new Float64Array(SCALE + 1);
  /** Whether levels go by size, and whether that does not depend on distance. */
  bySize = false;
  flat = false;
  private table!: LevelTable;
  private tableVersion = -1;

  /**
   * Takes over where the camera is now. Call it before levels are asked for.
   *
   * @param matrixWorld Of the crowd.
   * @param capacity The most instances there can be.
   */
  update(table: LevelTable, camera: ZoomedCamera, matrixWorld: Matrix4, capacity: number): void {
    if (this.levels.length !== capacity) {
      const levels = new Uint8Array(capacity);
      levels.set(this.levels.subarray(0, capacity));
      this.levels = levels;
    }
    this.table = table;
    if (table.update() !== this.tableVersion) {
      this.tableVersion = table.version;
      this.version++;
    }
    const m = matrixWorld.elements;
    const eye = camera.matrixWorld.elements;
    for (let row = 0; row < 3; row++) {
      for (let column = 0; column < 3; column++) this.set(row * 4 + column, m[column * 4 + row]);
      this.set(row * 4 + 3, m[12 + row] - eye[12 + row]);
    }

    const projection = camera.projectionMatrix.elements;
    this.bySize = table.byScreen;
    // With a parallel projection, size does not depend on distance.
    this.flat = this.bySize && projection[15] === 1;
    const unit = this.bySize ? matrixWorld.getMaxScaleOnAxis() * projection[5] : (camera.zoom ?? 1);
    this.set(SCALE, 1 / (unit * unit));
  }

  /**
   * The level of an instance.
   *
   * @param spheres x, y, z and radius by id, in the crowd's space.
   */
  choose(id: number, spheres: Float32Array): number {
    const { measure: m, table, levels } = this;
    const at = id * 4;
    let measure = m[SCALE];
    if (!this.flat) {
      const x = spheres[at];
      const y = spheres[at + 1];
      const z = spheres[at + 2];
      const dx = m[0] * x + m[1] * y + m[2] * z + m[3];
      const dy = m[4] * x + m[5] * y + m[6] * z + m[7];
      const dz = m[8] * x + m[9] * y + m[10] * z + m[11];
      measure *= dx * dx + dy * dy + dz * dz;
    }
    if (this.bySize) measure /= spheres[at + 3] * spheres[at + 3];

    const { enter, stay } = table;
    const last = levels[id];
    let level = 0;
    // As `LOD.update`, which looks no further at the first level that is not reached.
    while (level + 1 < table.count && measure >= (last === level + 1 ? stay : enter)[level + 1]) level++;
    levels[id] = level;
    return level;
  }

  private set(index: number, value: number): void {
    if (this.measure[index] === value) return;
    this.measure[index] = value;
    this.version++;
  }
}
