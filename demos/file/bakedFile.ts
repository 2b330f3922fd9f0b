import { MeshoptEncoder } from 'meshoptimizer';
import {
  type BakeOptions,
  type BoneTexture,
  bakeBoneTexture,
  frames,
  type SkinnedInstancedMesh,
} from 'skinned-instanced-mesh';
import {
  type LoadedCharacter,
  type ReadLevel,
  readLevels,
  type WriteOptions,
  type WrittenLevel,
  writeBoneTexture,
} from 'skinned-instanced-mesh/files';
import { type AnimationClip, BufferGeometry, type Object3D } from 'three';
import { GLTFExporter } from 'three/addons/exporters/GLTFExporter.js';

/** The character that the page shows. */
export interface Shown {
  root: Object3D;
  clips: readonly AnimationClip[];
  /** The .glb that it was opened from; null if it comes from elsewhere. */
  source: ArrayBuffer | null;
  /** Where in it the character is. */
  place: Pick<WriteOptions, 'scene' | 'node'>;
  /** What was baked into it, of which what is not made anew is kept. */
  kept: LoadedCharacter | null;
  /** Parts that instances do not show to begin with, unless that was baked into it. */
  hiddenParts: readonly string[];
}

/** A saved file, and what it is made of. */
export interface BakedFile {
  bytes: Uint8Array<ArrayBuffer>;
  /** Bytes that the baked animation takes of them. */
  added: number;
}

/** The character's .glb with a bone texture of it. */
export async function bakedFile(
  { root, clips, source, place, kept, hiddenParts: unworn }: Shown,
  { boneTexture, geometry }: Pick<SkinnedInstancedMesh, 'boneTexture' | 'geometry'>,
  mergeMaterials: boolean,
): Promise<BakedFile> {
  await MeshoptEncoder.ready;
  const into = source ?? (await exported(root, clips));
  const { encoding, precision } = boneTexture;
  const hiddenParts = kept === null ? [...unworn] : hiddenPartsOf(kept);
  const bytes = writeBoneTexture(boneTexture, {
    into,
    meshoptEncoder: MeshoptEncoder,
    name: kept?.name || root.name,
    bakeOptions: { ...kept?.bakeOptions, encoding, precision },
    // How they are merged in the file says more than whether they are on the page.
    mergeMaterials: mergeMaterials && (kept?.mergeMaterials || true),
    hiddenParts: hiddenParts.length > 0 ? hiddenParts : undefined,
    ...(kept?.levels && { geometry, levels: readLevels(kept.levels).list.map(written) }),
    ...(source !== null && place),
  });
  return { bytes: bytes as Uint8Array<ArrayBuffer>, added: bytes.length - into.byteLength };
}

/**
 * A file's character with another bone texture: all else that the file says of it holds on. Levels of a vertex texture are of vertices in
 * another order than those of a character of bones.
 */
export function rebaked(kept: LoadedCharacter, boneTexture: BoneTexture): LoadedCharacter {
  const isSameKind = (kept.boneTexture.binding === null) === (boneTexture.binding === null);
  return { ...kept, boneTexture, levels: isSameKind ? kept.levels : null };
}

/** Names of the parts that instances do not show to begin with. */
export const hiddenPartsOf = ({ parts }: LoadedCharacter): string[] =>
  parts.filter(({ hidden }) => hidden).map(({ names: [name] }) => name);

/** A level that was read, as it is written. */
function written({ start, options, error, indices }: ReadLevel): WrittenLevel {
  const begin = typeof start === 'number' ? { distance: start } : start;
  const level = { ...begin, ...options, error };
  if (indices === null) return { ...level, geometry: null };
  // Its corners are vertices of the crowd's geometry already.
  const geometry = new BufferGeometry().setIndex([...indices.keys()]);
  return { ...level, geometry, vertices: indices };
}

async function exported(root: Object3D, clips: readonly AnimationClip[]): Promise<ArrayBuffer> {
  const exporter = new GLTFExporter();
  return (await exporter.parseAsync(root, { binary: true, animations: [...clips] })) as ArrayBuffer;
}

/** What a bone texture costs with one choice of options. */
export interface Cost {
  label: string;
  /** Bytes in a file, compressed and not; null where the encoding cannot hold the character. */
  file: number | null;
  plain: number;
  /** Bytes on the GPU. */
  gpu: number;
}

const CHOICES = [
  ['tracks', 'float'],
  ['tracks', 'half'],
  ['frames', 'float'],
  ['frames', 'half'],
] as const;

/** What the bone texture of a character costs in every encoding and precision, one after the other with a break between. */
export async function costs(
  { root, clips }: Pick<Shown, 'root' | 'clips'>,
  { fps, maxTextureSize }: Pick<BakeOptions, 'fps' | 'maxTextureSize'>,
): Promise<Cost[]> {
  await MeshoptEncoder.ready;
  const found: Cost[] = [];
  for (const [encoding, precision] of CHOICES) {
    await new Promise((resolve) => setTimeout(resolve));
    const label = `${encoding}, ${precision}`;
    try {
      const baked = bakeBoneTexture(root, clips, {
        fps,
        maxTextureSize,
        encoding: encoding === 'frames' ? frames : undefined,
        precision,
      });
      const file = writeBoneTexture(baked, { meshoptEncoder: MeshoptEncoder }).length;
      found.push({ label, file, plain: writeBoneTexture(baked).length, gpu: baked.byteLength });
      baked.dispose();
    } catch {
      found.push({ label, file: null, plain: 0, gpu: 0 });
    }
  }
  return found;
}

/** Has the browser save a file. */
export function save(bytes: Uint8Array<ArrayBuffer>, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([bytes], { type: 'model/gltf-binary' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
