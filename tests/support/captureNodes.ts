// Makes the node materials known to the class of the main entry.
import 'skinned-instanced-mesh/webgpu';
import { type Mesh, PerspectiveCamera, Scene } from 'three';
import {
  attribute,
  float,
  floor,
  instanceIndex,
  mod,
  modelWorldMatrix,
  positionLocal,
  uniform,
  varying,
  vec2,
  vec3,
  vec4,
} from 'three/tsl';
import { MeshBasicNodeMaterial, type Node, RenderTarget, type WebGPURenderer } from 'three/webgpu';
import { asPoints, CAPTURE_TARGET, CAPTURE_WIDTH, unpack } from './capture.js';

/** `captureMaterial` for node materials; takes a node of the vertex stage, by default the world position. */
export function captureNodeMaterial(
  vertices: number,
  value: Node = modelWorldMatrix.mul(vec4(positionLocal, 1)).xyz,
): MeshBasicNodeMaterial {
  const rows = Math.ceil(vertices / CAPTURE_WIDTH);
  const height = uniform(1);
  const vertex = attribute<'float'>('captureIndex', 'float');
  const row = float(instanceIndex)
    .mul(rows)
    .add(floor(vertex.div(CAPTURE_WIDTH)));
  const pixel = vec2(mod(vertex, CAPTURE_WIDTH), row).add(0.5);

  const material = new MeshBasicNodeMaterial();
  material.depthTest = false;
  material.toneMapped = false;
  const clip = pixel.div(vec2(CAPTURE_WIDTH, height)).mul(2).sub(1);
  material.vertexNode = vec4(clip.x, clip.y, 0.5, 1);
  material.fragmentNode = vec4(varying(vec3(value as Node<'vec3'>)), 1);
  material.userData.captureHeight = height;
  material.userData.captureRows = rows;
  return material;
}

/** `capture` under WebGPURenderer. */
export async function captureNodes(
  renderer: WebGPURenderer,
  mesh: Mesh,
  vertices: number,
  instances: number,
): Promise<Float32Array> {
  const material = mesh.material as MeshBasicNodeMaterial;
  const rows = material.userData.captureRows as number;
  const height = rows * instances;
  material.userData.captureHeight.value = height;
  const target = new RenderTarget(CAPTURE_WIDTH, height, CAPTURE_TARGET);
  const scene = new Scene();
  scene.add(mesh);
  mesh.frustumCulled = false;
  renderer.setClearColor(0, 0);
  renderer.setRenderTarget(target);
  asPoints(mesh, () => renderer.render(scene, new PerspectiveCamera()));
  renderer.setRenderTarget(null);
  const pixels = (await renderer.readRenderTargetPixelsAsync(
    target,
    0,
    0,
    CAPTURE_WIDTH,
    height,
  )) as Float32Array;
  scene.remove(mesh);
  target.dispose();
  // WebGPU's first row is the top one.
  const flipped = (renderer.backend as { isWebGPUBackend?: boolean }).isWebGPUBackend === true;
  return unpack(flipped ? flipRows(pixels, height) : pixels, rows, vertices, instances);
}

/** The same rows of pixels, the last one first. */
export function flipRows<T extends Float32Array | Uint8Array>(pixels: T, height: number): T {
  const out = pixels.slice() as T;
  const line = pixels.length / height;
  for (let y = 0; y < height; y++)
    out.set(pixels.subarray(y * line, (y + 1) * line), (height - 1 - y) * line);
  return out;
}
