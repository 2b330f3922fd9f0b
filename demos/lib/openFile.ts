import type { AnimationClip, Object3D } from 'three';
import { GLTFLoader, MeshoptDecoder } from 'three-stdlib';

export interface OpenedCharacter {
  name: string;
  root: Object3D;
  clips: AnimationClip[];
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

/** Reads a .glb or .gltf. */
export async function openCharacter(file: File): Promise<OpenedCharacter> {
  const loader = new GLTFLoader();
  loader.setMeshoptDecoder(MeshoptDecoder as never);
  try {
    const gltf = await loader.parseAsync(await file.arrayBuffer(), '');
    return { name: file.name, root: gltf.scene, clips: gltf.animations };
  } catch (error) {
    throw new Error(`${file.name} is no glTF file that can be read: ${(error as Error).message}`);
  }
}
