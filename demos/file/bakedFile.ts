import { MeshoptEncoder } from 'meshoptimizer';
import { BoneTexture, type FromOptions } from 'skinned-instanced-mesh';
import { writeBoneTexture } from 'skinned-instanced-mesh/files';
import type { AnimationClip, Object3D } from 'three';
import { GLTFExporter } from 'three/addons/exporters/GLTFExporter.js';

/** The character that the page shows. */
export interface Shown {
  root: Object3D;
  clips: readonly AnimationClip[];
  /** The .glb that it was opened from; null if it comes from elsewhere. */
  source: ArrayBuffer | null;
}

/** A saved file, and what it is made of. */
export interface BakedFile {
  bytes: Uint8Array<ArrayBuffer>;
  /** Bytes that the baked animation takes of them. */
  added: number;
}

/** The character's .glb with a bone texture of it. */
export async function bakedFile(
  { root, clips, source }: Shown,
  boneTexture: BoneTexture,
  mergeMaterials: boolean,
): Promise<BakedFile> {
  await MeshoptEncoder.ready;
  const into = source ?? (await exported(root, clips));
  const { encoding, precision } = boneTexture;
  const bytes = writeBoneTexture(boneTexture, {
    into,
    meshoptEncoder: MeshoptEncoder,
    name: root.name,
    bakeOptions: { encoding, precision },
    mergeMaterials,
  });
  return { bytes: bytes as Uint8Array<ArrayBuffer>, added: bytes.length - into.byteLength };
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
  ['quaternion', 'float'],
  ['quaternion', 'half'],
  ['matrix', 'float'],
  ['matrix', 'half'],
] as const;

/** What the bone texture of a character costs in every encoding and precision, one after the other with a break between. */
export async function costs({ root, clips }: Shown, options: FromOptions): Promise<Cost[]> {
  await MeshoptEncoder.ready;
  const found: Cost[] = [];
  for (const [encoding, precision] of CHOICES) {
    await new Promise((resolve) => setTimeout(resolve));
    const label = `${encoding}, ${precision}`;
    try {
      const { fps, maxTextureSize } = options;
      const baked = BoneTexture.bake(root, clips, { fps, maxTextureSize, encoding, precision });
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
