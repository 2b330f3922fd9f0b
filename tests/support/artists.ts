import { type Camera, type Object3D, PCFShadowMap, type Scene, WebGLRenderer } from 'three';
import type { Twin } from './captures.js';
import { picture, SIZE } from './pictures.js';

/** Draws pictures of an object in a scene with one of the shaders' languages, shadows included. */
export interface Artist {
  draw(scene: Scene, camera: Camera, object: Object3D): Promise<Uint8Array>;
  dispose(): void;
}

export async function artistOf(twin: Twin): Promise<Artist> {
  if (twin === 'GLSL') {
    const renderer = new WebGLRenderer();
    renderer.setSize(SIZE, SIZE, false);
    renderer.shadowMap.enabled = true;
    renderer.shadowMap.type = PCFShadowMap;
    return {
      draw: async (scene, camera, object) => picture(renderer, scene, camera, object),
      dispose: () => renderer.dispose(),
    };
  }
  const { WebGPURenderer } = await import('three/webgpu');
  const { pictureNodes } = await import('./picturesNodes.js');
  const renderer = new WebGPURenderer({ forceWebGL: twin === 'TSL on WebGL 2' });
  await renderer.init();
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = PCFShadowMap;
  return {
    draw: (scene, camera, object) => pictureNodes(renderer, scene, camera, object),
    dispose: () => renderer.dispose(),
  };
}
