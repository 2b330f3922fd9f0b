import { MeshoptEncoder } from 'meshoptimizer';
import {
  type BakeCharacterOptions,
  type BakeOptions,
  bakeCharacter,
  disposeCharacter,
  frames,
} from 'skinned-instanced-mesh';
import { writeCharacter } from 'skinned-instanced-mesh/files';
import { type AnimationClip, MeshStandardMaterial, type Object3D } from 'three';
import { GLTFExporter } from 'three/addons/exporters/GLTFExporter.js';
import type { GLTF } from 'three/addons/loaders/GLTFLoader.js';

/** The character that the page shows. */
export interface Shown {
  root: Object3D;
  clips: readonly AnimationClip[];
  /** The .glb that it was opened from; null if it comes from elsewhere. */
  source: ArrayBuffer | null;
  /** Parts that instances do not show to begin with. */
  hiddenParts: readonly string[];
}

/**
 * The character as a file of its own.
 *
 * @param load Loads the file that it is of.
 * @param mergeMaterials Whether pages shall merge its materials.
 */
export async function bakedFile(
  { root, clips, source: given, hiddenParts }: Shown,
  load: (bytes: ArrayBuffer) => Promise<GLTF>,
  options: BakeCharacterOptions,
  mergeMaterials: boolean,
): Promise<Uint8Array<ArrayBuffer>> {
  await MeshoptEncoder.ready;
  const source = given ?? (await exported(root, clips));
  const gltf = await load(source.slice());
  const character = bakeCharacter(gltf.scene, gltf.animations, { ...options, hiddenParts });
  const written = { source, gltf, meshoptEncoder: MeshoptEncoder, mergeMaterials };
  return writeCharacter(character, written) as Uint8Array<ArrayBuffer>;
}

async function exported(root: Object3D, clips: readonly AnimationClip[]): Promise<ArrayBuffer> {
  const exporter = new GLTFExporter();
  return (await exporter.parseAsync(root, { binary: true, animations: [...clips] })) as ArrayBuffer;
}

/** What a character costs with one choice of options. */
export interface Cost {
  label: string;
  /** Bytes in a file without textures, compressed and not; null where the encoding cannot hold the character. */
  file: number | null;
  plain: number;
  /** Bytes on the GPU. */
  gpu: number;
}

const PLAIN = new MeshStandardMaterial();

const CHOICES = [
  ['tracks', 'float'],
  ['tracks', 'half'],
  ['frames', 'float'],
  ['frames', 'half'],
] as const;

/** What a character costs in every encoding and precision, one after the other with a break between. */
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
      const character = bakeCharacter(root, clips, {
        fps,
        maxTextureSize,
        encoding: encoding === 'frames' ? frames : undefined,
        precision,
        skipUnsupported: true,
      });
      const { material, boneTexture } = character;
      const plain = { ...character, material: Array.isArray(material) ? material.map(() => PLAIN) : PLAIN };
      const file = writeCharacter(plain, { meshoptEncoder: MeshoptEncoder }).length;
      found.push({ label, file, plain: writeCharacter(plain).length, gpu: boneTexture.byteLength });
      disposeCharacter(character);
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
