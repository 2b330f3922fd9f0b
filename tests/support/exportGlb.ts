import type { AnimationClip, Object3D } from 'three';
import { GLTFExporter } from 'three/addons/exporters/GLTFExporter.js';

/** What the exporter uses of browsers and Node has not. */
class BlobReader {
  result: ArrayBuffer | null = null;
  onloadend: (() => void) | null = null;

  async readAsArrayBuffer(blob: Blob): Promise<void> {
    this.result = await blob.arrayBuffer();
    this.onloadend?.();
  }
}

/** A character as a .glb, as three.js writes it; it must have no textures in Node. */
export async function exportGlb(root: Object3D, animations: readonly AnimationClip[]): Promise<ArrayBuffer> {
  Object.assign(globalThis, { FileReader: globalThis.FileReader ?? BlobReader });
  const exporter = new GLTFExporter();
  return (await exporter.parseAsync(root, { binary: true, animations: [...animations] })) as ArrayBuffer;
}
