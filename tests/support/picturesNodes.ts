// Makes the node materials known to the class of the main entry.
import 'skinned-instanced-mesh/webgpu';
import type { Camera, Object3D, Scene } from 'three';
import { RenderTarget, type WebGPURenderer } from 'three/webgpu';
import { drawInNewFrame } from './frames.js';
import { SIZE } from './pictures.js';

/** `picture` under WebGPURenderer. */
export async function pictureNodes(
  renderer: WebGPURenderer,
  scene: Scene,
  camera: Camera,
  object: Object3D,
): Promise<Uint8Array> {
  const target = new RenderTarget(SIZE, SIZE);
  await drawInNewFrame(renderer, () => {
    scene.add(object);
    renderer.setRenderTarget(target);
    renderer.render(scene, camera);
    renderer.setRenderTarget(null);
  });
  const pixels = (await renderer.readRenderTargetPixelsAsync(target, 0, 0, SIZE, SIZE)) as Uint8Array;
  target.dispose();
  scene.remove(object);
  return pixels;
}
