import type { Camera, Matrix4 } from 'three';
import { StorageBufferAttribute } from 'three/webgpu';
import type { LevelMeasure, LODSelector } from '../../../culling/LODSelector.js';
import { disposeAttribute } from '../../../utils/attributes.js';

/** Levels of detail as a camera sees them for which pictures are drawn. */
export interface CameraState {
  readonly camera: Camera;
  /** Where the camera is. */
  readonly chosen: LevelMeasure;
  /** On the GPU: the level of each instance when it was last seen. */
  readonly states: StorageBufferAttribute;
  /** The frame in which it was last asked for. */
  frame: number;
}

/** Levels of detail of all cameras for which pictures are drawn, those of shadow maps left out. */
export class CameraStates {
  private readonly all: CameraState[] = [];

  of(camera: Camera, table: LODSelector, matrixWorld: Matrix4, capacity: number, frame: number): CameraState {
    const state = this.find(camera) ?? this.add(camera, capacity, table);
    state.frame = frame;
    // The levels themselves are on the GPU.
    state.chosen.update(table, camera, matrixWorld, 0);
    return state;
  }

  private find(camera: Camera): CameraState | null {
    const { all } = this;
    for (let i = 0; i < all.length; i++) if (all[i].camera === camera) return all[i];
    return null;
  }

  private add(camera: Camera, capacity: number, table: LODSelector): CameraState {
    const states = new StorageBufferAttribute(new Uint32Array(Math.max(1, capacity)), 1);
    const state = { camera, chosen: table.measure(), states, frame: -1 };
    this.all.push(state);
    return state;
  }

  /** Forgets cameras that were not asked for since a frame. */
  dropBefore(frame: number): void {
    const { all } = this;
    let kept = 0;
    for (let i = 0; i < all.length; i++) {
      const state = all[i];
      if (state.frame >= frame) all[kept++] = state;
      else disposeAttribute(state.states);
    }
    all.length = kept;
  }

  dispose(): void {
    this.dropBefore(Number.POSITIVE_INFINITY);
  }
}
