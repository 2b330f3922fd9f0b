import type { BoneTextureData } from '../encodings/BoneTextureData.js';

/** The data with clips of its own: whoever adds markers to them does not change those of another texture. */
export function ownData(data: BoneTextureData): BoneTextureData {
  const clips = data.clips.map((clip) => ({
    ...clip,
    markers: clip.markers.map((marker) => ({ ...marker })),
  }));
  return { ...data, clips };
}
