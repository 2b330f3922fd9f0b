/**
 * Where frames are in a bone texture. A frame is a run of texels within one row, and the next frame is in the row below, so
 * that the texture cache holds both frames that a vertex mixes. When all rows are used, frames continue in a further
 * column from the top.
 */
export interface TextureLayout {
  /** Texels. */
  width: number;
  /** Texels; as many frames are below each other. */
  height: number;
  /** Texels of one frame. */
  stride: number;
}

/**
 * Lays out `frames` frames of `stride` texels.
 *
 * @throws If they do not fit into a texture of `maxSize` × `maxSize`.
 */
export function layoutTexture(frames: number, stride: number, maxSize: number): TextureLayout {
  // As few columns as possible, all of the same height; one where there is no limit.
  const columns = Math.ceil(frames / Math.max(1, Math.floor(maxSize))) || 1;
  const height = Math.ceil(frames / columns);
  const width = columns * stride;

  if (width > maxSize) {
    throw new Error(
      `${frames} frames of ${stride} texels need a texture of ${width} × ${height}, ` +
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
