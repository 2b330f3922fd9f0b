import {
  type Camera,
  type Material,
  type Object3D,
  PCFShadowMap,
  type Scene,
  type WebGLRenderer,
} from 'three';
import type { WebGPURenderer } from 'three/webgpu';
import { capture, captureMaterial } from '../support/capture.js';
import { captureNodeMaterial, captureNodes, flipRows } from '../support/captureNodes.js';
import type { Capture } from '../support/parity.js';
import { picture, SIZE } from '../support/pictures.js';
import { pictureNodes } from '../support/picturesNodes.js';
import type { RendererName } from './renderers.mjs';

/** How one renderer draws scenes, and reads back what the GPU made of them. */
export interface Drawing extends Capture {
  /** What the renderer draws with: 'WebGL 2' or 'WebGPU'. */
  readonly backend: string;
  /** RGBA bytes of a scene with one object added, lowest row first. */
  picture(scene: Scene, camera: Camera, object: Object3D): Promise<Uint8Array>;
  /** The error that WebGL notes down without a word, or null. */
  glError(): string | null;
  dispose(): void;
}

/** What three.js's types leave out. */
interface Backend {
  isWebGPUBackend?: boolean;
  gl?: WebGL2RenderingContext;
}

/** One of the renderers, of a canvas of its own. */
export async function createDrawing(name: RendererName): Promise<Drawing> {
  if (name === 'WebGLRenderer') {
    const { WebGLRenderer: Renderer } = await import('three');
    return withWebGL(new Renderer({ antialias: false }));
  }
  const { WebGPURenderer: Renderer } = await import('three/webgpu');
  const renderer = new Renderer({ antialias: false, forceWebGL: name === 'WebGPURenderer, WebGL 2' });
  await renderer.init();
  return withNodes(renderer);
}

function withWebGL(renderer: WebGLRenderer): Drawing {
  const gl = renderer.getContext();
  prepare(renderer);
  return {
    backend: 'WebGL 2',
    material: (vertices) => captureMaterial(vertices),
    read: (crowd, vertices, instances) => capture(renderer, crowd, vertices, instances),
    picture: async (scene, camera, object) => picture(renderer, scene, camera, object),
    glError: () => nameOf(gl, gl.getError()),
    dispose: () => renderer.dispose(),
  };
}

function withNodes(renderer: WebGPURenderer): Drawing {
  const { isWebGPUBackend = false, gl } = renderer.backend as unknown as Backend;
  prepare(renderer);
  return {
    backend: isWebGPUBackend ? 'WebGPU' : 'WebGL 2',
    material: (vertices): Material => captureNodeMaterial(vertices),
    read: (crowd, vertices, instances) => captureNodes(renderer, crowd, vertices, instances),
    async picture(scene, camera, object) {
      const pixels = await pictureNodes(renderer, scene, camera, object);
      // WebGPU's first row is the top one.
      return isWebGPUBackend ? flipRows(pixels, SIZE) : pixels;
    },
    // WebGPU's errors come as errors of the console.
    glError: () => (gl === undefined ? null : nameOf(gl, gl.getError())),
    dispose: () => renderer.dispose(),
  };
}

function prepare(renderer: WebGLRenderer | WebGPURenderer): void {
  renderer.setPixelRatio(1);
  renderer.setSize(SIZE, SIZE);
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = PCFShadowMap;
}

/** Name of a constant such as `INVALID_OPERATION`, or null for no error. */
function nameOf(gl: WebGLRenderingContext | WebGL2RenderingContext, code: number): string | null {
  if (code === gl.NO_ERROR) return null;
  for (const name in gl) if (gl[name as keyof typeof gl] === code && name.includes('_')) return name;
  return String(code);
}
