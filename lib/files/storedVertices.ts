import type { BoneTexture } from '../animation/BoneTexture.js';
import type { ArrayJSON, Encoded, VertexTextureInFile } from './bakedJSON.js';
import { checkChecksum, checksumOf } from './checksum.js';
import { fileError, objectOf } from './fileErrors.js';

/** What `VertexTexture.encode` returns, as far as files look at it: the numbers of its views, and how they are made. */
export interface EncodedVertexTexture {
  json: { precision: 'half' | 'float'; frames: number; boxes: number; texels: number };
  views: Uint8Array[];
}

/** `VertexTexture` of the entry `skinned-instanced-mesh/vertex-textures`, which pages without such files need not load. */
export interface VertexTextureReader {
  /** Makes a vertex texture of what one has been encoded as. */
  decode(encoded: never): BoneTexture;
}

/** A vertex texture, which is a bone texture that encodes itself; null if it is none. */
export function encodedVertices(boneTexture: BoneTexture): EncodedVertexTexture | null {
  const { isVertexTexture, encode } = boneTexture as unknown as {
    isVertexTexture?: boolean;
    encode(): EncodedVertexTexture;
  };
  return isVertexTexture === true ? encode.call(boneTexture) : null;
}

/** Describes the views of a vertex texture, so that they are compressed and checked as all others in a file. */
export function describeVertices({ json, views }: EncodedVertexTexture): Encoded<VertexTextureInFile> {
  const array = (view: number, type: ArrayJSON['type'], stride: number): ArrayJSON => {
    return { view, type, length: views[view].length / 4, stride, order: 'rows' };
  };
  const described = {
    ...json,
    arrays: {
      frames: array(json.frames, 'uint32', 4),
      boxes: array(json.boxes, 'float32', 24),
      texels: array(json.texels, 'uint32', json.precision === 'half' ? 8 : 16),
    },
    checksum: 0,
  };
  described.checksum = checksumOf(described, views);
  return { json: described, views };
}

/**
 * The vertex texture that was written.
 *
 * @throws If there is nobody to read it, or it is not as it has to be.
 */
export function readVertices(
  json: unknown,
  views: Uint8Array[],
  reader: VertexTextureReader | undefined,
  field: string,
): BoneTexture {
  if (reader === undefined) {
    throw fileError(
      `${field} is a vertex texture; import { VertexTexture } from 'skinned-instanced-mesh/vertex-textures', and pass ` +
        '{ vertexTextures: VertexTexture } to the SkinnedInstancedMeshExtension or to readBoneTexture.',
    );
  }
  const object = objectOf(json, field);
  checkChecksum(object, views, field);
  try {
    return reader.decode({ json: object, views } as never);
  } catch (error) {
    throw fileError(`the file is damaged: ${(error as Error).message}`, error);
  }
}
