import { ColorTexels } from '../instances/MatrixTexels.js';
import type { DrawnCrowd } from './Crowd.js';

/** Keeps colours of a crowd as texels, and up to date. Call it before each draw. */
export function updateColors(crowd: DrawnCrowd): void {
  const { instanceColor, instanceMatrix } = crowd;
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
  playback.texels.texture[method](by);
  crowd.crowd.poseEdits?.textures.forEach((texture) => texture[method](by));
  parts?.texture[method](by);
  instanceUniforms?.texture[method](by);
  motions?.seeds.texture?.[method](by);
  texels.colors?.texture[method](by);
}

/**
 * Notices which instances have moved. Call it before a renderer draws: it uploads what has changed of an attribute, and then
 * forgets what that was.
 */
export function followMoves(crowd: DrawnCrowd): void {
  const { views, instanceMatrix } = crowd;
  const { follower } = views.groups.crowd.places;
  follower?.begin();
  // Once for all meshes: the crowd's own comes after those that are below it, and the objects that place instances.
  if (crowd.owner === undefined) {
    views.last = null;
    if (views.isWatched) views.groups.update();
    for (const owned of views.owned) owned.note?.(instanceMatrix);
  }
  follower?.follow(crowd);
}
