import { type AnimationClip, type Object3D, Texture } from 'three';
import { GLTFLoader } from 'three-stdlib';

export interface Model {
  name: string;
  root: Object3D;
  clips: AnimationClip[];
}

const inBrowser = typeof document !== 'undefined';

/** File names of the real characters that are there; none where the folder is missing. */
export async function modelNames(): Promise<string[]> {
  if (!inBrowser) return (await import('../setup/models.mjs')).modelFiles();
  const response = await fetch('/__models__/index.json');
  if (!response.ok) return [];
  return (await response.json()) as string[];
}

/** Loads one of them as a user would; in Node with empty textures, since images are for browsers. */
export async function loadModel(file: string): Promise<Model> {
  const loader = new GLTFLoader();
  if (!inBrowser) {
    loader.register(() => ({ name: 'no images', loadTexture: async () => new Texture() }) as never);
  }
  const gltf = await loader.parseAsync(await read(file), '');
  return { name: file.replace(/\.glb$/, ''), root: gltf.scene, clips: gltf.animations };
}

async function read(file: string): Promise<ArrayBuffer> {
  if (!inBrowser) return (await import('../setup/models.mjs')).readModel(file);
  return (await fetch(`/__models__/${file}`)).arrayBuffer();
}
