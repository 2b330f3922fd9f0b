import { InstanceMatrices } from '../instances/InstanceMatrices.js';
import type { DrawnCrowd } from './DrawnCrowd.js';

/** Keeps matrices and colours of a crowd as texels, and up to date. Call it before each draw that reads them so. */
export function updateMatrices(crowd: DrawnCrowd): InstanceMatrices {
  const { instanceMatrix, instanceColor } = crowd;
  if (crowd.matrices?.capacity !== instanceMatrix.count) {
    crowd.matrices?.dispose();
    crowd.matrices = new InstanceMatrices(instanceMatrix.count, true);
  }
  const { matrices } = crowd;
  // A renderer forgets the ranges of attributes that it has sent; these it has sent already, or will not send.
  matrices.update(instanceMatrix);
  instanceMatrix.clearUpdateRanges();
  if (instanceColor !== null && matrices.updateColors(instanceColor)) instanceColor.clearUpdateRanges();
  return matrices;
}

/**
 * Notices which instances have moved. Call it before a renderer draws: it uploads what has changed of an attribute, and then
 * forgets what that was.
 */
export function followMoves({ views, matrices, instanceMatrix }: DrawnCrowd): void {
  if (views.isWatched) views.groups.update();
  matrices?.keepUp(instanceMatrix);
}
