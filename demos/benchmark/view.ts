import { PerspectiveCamera } from 'three';
import { crowdRadius } from '../lib/plan.js';
import { SIZE } from './contenders.js';

export const WIDTH = 640;
export const HEIGHT = 360;

/** Sees the whole crowd, however large it is. */
export function createCamera(count: number): PerspectiveCamera {
  const radius = crowdRadius(count, SIZE) + 1;
  const camera = new PerspectiveCamera(45, WIDTH / HEIGHT, 0.1, radius * 6);
  camera.position.set(0, radius * 1.2, radius * 2);
  camera.lookAt(0, 0, 0);
  return camera;
}
