import { shortenKeys } from '../baking/shortenKeys.js';
import type { BoneTextureData, Precision } from '../encodings/BoneTextureData.js';
import { toHalfTexels } from '../frames/bakeFrames.js';
import { boxToArray } from '../poses/BoxArray.js';
import { reachBounds } from '../tracks/reachBounds.js';
import { trackTexels } from '../tracks/trackTexels.js';
import { runAll } from '../utils/steps.js';
import { fileError } from './fileErrors.js';

/**
 * The data of a bone texture with numbers of another precision, as if it had been baked so.
 *
 * @throws If 32 bits are asked for of what has 16.
 */
export function inPrecision(data: BoneTextureData, precision: Precision = data.precision): BoneTextureData {
  if (precision === data.precision) return data;
  if (precision === 'float') {
    throw fileError('the bone texture has numbers of 16 bits; bake it with precision "float" to write 32.');
  }
  if (data.tracks === null)
    return { ...data, precision, texels: runAll(toHalfTexels(data.texels as Float32Array)) };
  const tracks = runAll(shortenKeys(data.tracks));
  const { texels, height } = trackTexels(tracks);
  const boundsOf = reachBounds(tracks, data.jointBoxes);
  const clips = data.clips.map((clip, i) => ({ ...clip, bounds: boxToArray(boundsOf(i)) }));
  return { ...data, precision, texels, layout: { ...data.layout, height }, clips, tracks };
}
