import type { PoseTracks } from '../tracks/PoseTracks.js';
import type { BoneTextureData } from './BoneTextureData.js';
import type { PoseReader } from './PoseReader.js';
import { TexelReader } from './TexelReader.js';
import { TrackReader } from './TrackReader.js';

/** The reader for the encoding that data are in. */
export function createPoseReader(data: BoneTextureData): PoseReader {
  if (data.encoding === 'tracks') return new TrackReader(data.tracks as PoseTracks, data.jointBoxes);
  return new TexelReader(data, data.encoding);
}
