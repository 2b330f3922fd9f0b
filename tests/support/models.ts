import type { AnimationClip, Object3D } from 'three';
import { GLTFLoader } from 'three-stdlib';

export interface Model {
  name: string;
  root: Object3D;
  clips: AnimationClip[];
}

/** File names of the real characters that this machine has; none where the folder is missing. */
export async function modelNames(): Promise<string[]> {
  const response = await fetch('/__models__/index.json');
  if (!response.ok) return [];
  return (await response.json()) as string[];
}

/** Loads one of them as a user would. */
export async function loadModel(file: string): Promise<Model> {
  const bytes = await (await fetch(`/__models__/${file}`)).arrayBuffer();
  const gltf = await new GLTFLoader().parseAsync(bytes, '');
  return { name: file.replace(/\.glb$/, ''), root: gltf.scene, clips: gltf.animations };
}
