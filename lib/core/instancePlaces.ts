import { InstanceMatrices } from '../instances/InstanceMatrices.js';
import { ColorTexels } from '../instances/MatrixTexels.js';
import type { DrawnCrowd } from './Crowd.js';

/** Keeps colours of a crowd as texels, and up to date. Call it before each draw. */
export function updateColors(crowd: DrawnCrowd): void {
  const { instanceColor, instanceMatrix } = crowd;
  crowd.texels.matrices?.skip(instanceMatrix);
  if (instanceColor === null) return;
  if (crowd.texels.colors?.capacity !== instanceMatrix.count) {
    crowd.texels.colors?.dispose();
    crowd.texels.colors = new ColorTexels(instanceMatrix.count);
  }
  crowd.texels.colors.update(instanceColor);
}

/** Calls a method of every texture that is uploaded in parts. @param by The renderer for `prepare`. */
export function eachUpload(crowd: DrawnCrowd, method: 'prepare' | 'disposePlain', by: object = crowd): void {
  const { playback, parts, instanceUniforms, motions, texels } = crowd;
  playback.actions[method](by);
  crowd.crowd.poseEdits?.textures.forEach((texture) => texture[method](by));
  parts?.texture[method](by);
  instanceUniforms?.texture[method](by);
  motions?.seeds.texture?.[method](by);
  texels.colors?.texture[method](by);
}

/** Keeps matrices of a crowd as texels, and up to date. Call it before each draw that reads them so. */
export function updateMatrices(crowd: DrawnCrowd): InstanceMatrices {
  const { instanceMatrix } = crowd;
  const matrices = texelsOf(crowd);
  // A renderer forgets the ranges of attributes that it has sent; these it has sent already, or will not send.
  matrices.update(instanceMatrix);
  instanceMatrix.clearUpdateRanges();
  return matrices;
}

/** As many as there are matrices. */
function texelsOf(crowd: DrawnCrowd): InstanceMatrices {
  const { count } = crowd.instanceMatrix;
  if (crowd.texels.matrices?.capacity !== count) {
    crowd.texels.matrices?.dispose();
    crowd.texels.matrices = new InstanceMatrices(count);
  }
  return crowd.texels.matrices;
}

/**
 * Notices which instances have moved. Call it before a renderer draws: it uploads what has changed of an attribute, and then
 * forgets what that was.
 */
export function followMoves(crowd: DrawnCrowd): void {
  const { views, texels, instanceMatrix } = crowd;
  const { follower } = views.groups.crowd.places;
  follower?.begin();
  // Once for all meshes: the crowd's own comes after those that are below it, and the objects that place instances.
  if (crowd.owner === undefined) {
    views.last = null;
    if (views.isWatched) views.groups.update();
  }
  texels.matrices?.keepUp(instanceMatrix);
  follower?.follow(crowd);
}
