import type { Camera, Matrix4 } from 'three';
import { StorageBufferAttribute } from 'three/webgpu';
import { disposeAttribute } from '../../../utils/disposeAttribute.js';
import { CameraLevels } from '../../../views/CameraLevels.js';
import type { LevelTable } from '../../../views/LevelTable.js';

/** Levels of detail as a camera sees them for which pictures are drawn. */
export interface CameraState {
  readonly camera: Camera;
  /** Where the camera is. */
  readonly chosen: CameraLevels;
  /** On the GPU: the level of each instance when it was last seen. */
  readonly states: StorageBufferAttribute;
  /** The frame in which it was last asked for. */
  frame: number;
}

/** Levels of detail of all cameras for which pictures are drawn, those of shadow maps left out. */
export class CameraStates {
  private all: CameraState[] = [];

  of(camera: Camera, table: LevelTable, matrixWorld: Matrix4, capacity: number, frame: number): CameraState {
    let state = this.all.find((one) => one.camera === camera);
    if (state === undefined) {
      const states = new StorageBufferAttribute(new Uint32Array(Math.max(1, capacity)), 1);
      state = { camera, chosen: new CameraLevels(), states, frame };
      this.all.push(state);
    }
    state.frame = frame;
    // The levels themselves are on the GPU.
    state.chosen.update(table, camera, matrixWorld, 0);
    return state;
  }

  /** Forgets cameras that were not asked for since a frame. */
  dropBefore(frame: number): void {
    for (const state of this.all) if (state.frame < frame) disposeAttribute(state.states);
    this.all = this.all.filter((state) => state.frame >= frame);
  }

  dispose(): void {
    this.dropBefore(Number.POSITIVE_INFINITY);
  }
}
