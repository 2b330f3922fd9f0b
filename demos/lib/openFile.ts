import { mergeMaterials } from 'skinned-instanced-mesh';
import {
  bakedCharactersOf,
  type LoadedCharacter,
  SkinnedInstancedMeshExtension,
} from 'skinned-instanced-mesh/files';
import type { AnimationClip, Object3D } from 'three';
import type { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import type { AnyRenderer } from './createRenderer.js';

export interface OpenedCharacter {
  name: string;
  root: Object3D;
  clips: AnimationClip[];
  /** Extensions of glTF that the file uses. */
  extensions: string[];
  /** The file, if it is a .glb. */
  bytes: ArrayBuffer | null;
  /** What was baked into it. */
  baked: LoadedCharacter | null;
}

/** Calls back with each file that is chosen in `input` or dropped on the page. */
export function onFile(input: HTMLInputElement, callback: (file: File) => void): void {
  input.addEventListener('change', () => {
    const [file] = input.files ?? [];
    if (file) callback(file);
    input.value = '';
  });
  document.addEventListener('dragover', (event) => {
    event.preventDefault();
    document.body.classList.add('dropping');
  });
  document.addEventListener('dragleave', () => document.body.classList.remove('dropping'));
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    document.body.classList.remove('dropping');
    const [file] = event.dataTransfer?.files ?? [];
    if (file) callback(file);
  });
}

let created: Promise<GLTFLoader> | null = null;

/** The loader of this page. @param renderer Says which compressed textures it can draw. */
export function loaderFor(renderer: AnyRenderer): Promise<GLTFLoader> {
  created ??= createLoader(renderer);
  return created;
}

/** The class that reads vertex textures, of the entry for the renderer. */
async function vertexTexturesFor(renderer: AnyRenderer) {
  const isWebGPU = (renderer as { isWebGPURenderer?: boolean }).isWebGPURenderer === true;
  const { VertexTexture } = isWebGPU
    ? await import('skinned-instanced-mesh/vertex-textures/webgpu')
    : await import('skinned-instanced-mesh/vertex-textures');
  return VertexTexture;
}

/** The encoding of that name, with the shaders of a renderer. */
async function framesFor(renderer: AnyRenderer) {
  const isWebGPU = (renderer as { isWebGPURenderer?: boolean }).isWebGPURenderer === true;
  const { frames } = isWebGPU
    ? await import('skinned-instanced-mesh/webgpu')
    : await import('skinned-instanced-mesh');
  return frames;
}

/**
 * What reads glTF files: also those that meshoptimizer or Draco compressed, quantised ones, and KTX2 textures. The decoders
 * are three.js's own, served with the page; those of Draco and KTX2 are fetched when the first file needs them.
 */
async function createLoader(renderer: AnyRenderer): Promise<GLTFLoader> {
  const [vertexTextures, frames, gltf, draco, ktx2, meshopt] = await Promise.all([
    vertexTexturesFor(renderer),
    framesFor(renderer),
    import('three/addons/loaders/GLTFLoader.js'),
    import('three/addons/loaders/DRACOLoader.js'),
    import('three/addons/loaders/KTX2Loader.js'),
    import('three/addons/libs/meshopt_decoder.module.js'),
  ]);
  return new gltf.GLTFLoader()
    .register(
      (parser) => new SkinnedInstancedMeshExtension(parser, { vertexTextures, frames, mergeMaterials }),
    )
    .setDRACOLoader(new draco.DRACOLoader())
    .setKTX2Loader(new ktx2.KTX2Loader().detectSupport(renderer))
    .setMeshoptDecoder(meshopt.MeshoptDecoder);
}

const isGlb = (bytes: ArrayBuffer) => new TextDecoder().decode(bytes.slice(0, 4)) === 'glTF';

/**
 * Reads a .glb or .gltf.
 *
 * @param renderer Says which compressed textures it can draw.
 */
export async function openCharacter(file: File, renderer: AnyRenderer): Promise<OpenedCharacter> {
  const loader = await loaderFor(renderer);
  try {
    const bytes = await file.arrayBuffer();
    const gltf = await loader.parseAsync(bytes, '');
    const { extensionsUsed = [] } = gltf.parser.json as { extensionsUsed?: string[] };
    const [baked = null] = bakedCharactersOf(gltf);
    return {
      name: file.name,
      root: baked?.scene ?? gltf.scene,
      clips: gltf.animations,
      extensions: extensionsUsed,
      bytes: isGlb(bytes) ? bytes : null,
      baked,
    };
  } catch (error) {
    throw new Error(`${file.name} is no glTF file that can be read: ${(error as Error).message}`);
  }
}
