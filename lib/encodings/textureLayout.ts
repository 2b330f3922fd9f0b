/**
 * Where a frame lies in a bone texture. A frame is one run of texels in one row, and the next frame of the clip lies
 * right below it, so that the two frames a vertex mixes are neighbours in the texture cache. Frames that do not fit
 * below each other go on in a further column.
 */
export interface TextureLayout {
  /** Texels. */
  width: number;
  /** Texels: frames that lie below each other. */
  height: number;
  /** Texels of one frame. */
  stride: number;
}

/**
 * Lays out `frames` frames of `stride` texels.
 *
 * @throws If they do not fit into a texture of `maxSize` × `maxSize`.
 */
export function layoutTexture(
  frames: number,
  stride: number,
  maxSize: number,
  caller: string,
): TextureLayout {
  // As few columns as there can be, of equal height.
  const columns = Math.ceil(frames / Math.max(1, Math.floor(maxSize)));
  const height = Math.ceil(frames / columns);
  const width = columns * stride;

  if (width > maxSize) {
    throw new Error(
      `${caller}: ${frames} frames of ${stride} texels need a texture of ${width} × ${height}, ` +
        `but maxTextureSize is ${maxSize}; bake fewer clips, a lower fps, or allow a larger texture where devices have it.`,
    );
  }
  return { width, height, stride };
}

/** Index of a frame's first texel. */
export function frameTexel(layout: TextureLayout, frame: number): number {
  const column = Math.floor(frame / layout.height);
  return (frame - column * layout.height) * layout.width + column * layout.stride;
}
