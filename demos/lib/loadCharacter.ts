import {
  bakedCharactersOf,
  type LoadedCharacter,
  SkinnedInstancedMeshExtension,
} from 'skinned-instanced-mesh/files';
import { MeshoptDecoder } from 'three/addons/libs/meshopt_decoder.module.js';
import { type GLTF, GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';

const loader = new GLTFLoader().setMeshoptDecoder(MeshoptDecoder);
loader.register((parser) => new SkinnedInstancedMeshExtension(parser));

/** Loads a model. */
export const load = (url: URL): Promise<GLTF> => loader.loadAsync(url.href);

/** Loads what the command has baked into a file. */
export async function loadCharacter(url: URL): Promise<LoadedCharacter> {
  return bakedCharactersOf(await load(url))[0];
}
