import { captureGeometry } from '../support/capture.js';
import type { CrowdMesh } from '../support/library.js';
import type { Drawing } from './Drawing.js';

/**
 * Numbers that the GPU computed for a crowd: compared one by one with those of another engine, as shares of the
 * character's height. Called after the picture was taken, and may leave the crowd as it likes.
 */
export type ReadBack = (drawing: Drawing, crowd: CrowdMesh) => Promise<Float32Array>;

/** World position of each vertex of each instance. */
export const posedVertices: ReadBack = async (drawing, crowd) => {
  const vertices = crowd.geometry.getAttribute('position').count;
  crowd.geometry = captureGeometry(crowd.geometry);
  crowd.material = drawing.material(vertices);
  return drawing.read(crowd, vertices, crowd.count);
};
