import {
  addToScene,
  attachVat,
  bakeVat,
  createEngine,
  createFreeCamera,
  createHemisphericLight,
  createSceneContext,
  type EngineContext,
  getContainerMeshes,
  loadGltf,
  registerScene,
  renderFrame,
  setThinInstances,
} from '@babylonjs/lite';
import { Matrix4 } from 'three';
import { GLTFExporter } from 'three-stdlib';
import { createCharacter } from '../../character.js';
import { countCalls } from '../../lib/countCalls.js';
import { deviceName } from '../../lib/deviceName.js';
import { partOf, placeOf } from '../../lib/plan.js';
import { SIZE, sourceOf } from '../contenders.js';
import { createGpuTimer } from '../gpuTimer.js';
import { measure } from '../measure.js';
import { createCamera, HEIGHT, WIDTH } from '../view.js';
import type { MeasuredRow } from './Report.js';

/** Measures the crowd that Babylon Lite bakes. */
export async function run(query: URLSearchParams): Promise<MeasuredRow> {
  const count = Number(query.get('count'));
  const { root, clips } = createCharacter();
  const { geometry } = sourceOf('the built-in character', { root, clips }).mesh;
  if (query.get('vertices') === '0') geometry.setIndex([0, 1, 2]);
  const glb = await new GLTFExporter().parseAsync(root, { binary: true, animations: clips });

  const canvas = document.createElement('canvas');
  canvas.style.width = `${WIDTH}px`;
  canvas.style.height = `${HEIGHT}px`;
  document.body.append(canvas);
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) throw new Error('this browser has no WebGPU');
  // It keeps what instances play in one row of a texture, two texels each.
  const { maxTextureDimension2D } = adapter.limits;
  if (count * 2 > maxTextureDimension2D) {
    throw new Error(`here it takes ${maxTextureDimension2D / 2} instances of a mesh at most`);
  }
  const requiredLimits = { maxTextureDimension2D };
  const engine = await createEngine(canvas, { msaaSamples: 1, maxDevicePixelRatio: 1, requiredLimits });
  const scene = createSceneContext(engine);

  const container = await loadGltf(engine, glb as ArrayBuffer);
  const [mesh] = getContainerMeshes(container).filter(({ skeleton }) => skeleton);
  const groups = container.animationGroups ?? [];
  const handle = attachVat(engine, mesh, bakeVat(engine, mesh, groups));

  const matrices = new Float32Array(count * 16);
  const played = new Float32Array(count * 4);
  const matrix = new Matrix4();
  for (let i = 0; i < count; i++) {
    placeOf(i, SIZE, matrix).toArray(matrices, i * 16);
    const { clip, time, timeScale } = partOf(i, groups.length);
    const { fromRow, frameCount, fps } = handle.clips[groups[clip].name];
    played.set([fromRow, fromRow + frameCount - 1, time * fps, fps * timeScale], i * 4);
  }
  setThinInstances(mesh, matrices, count);
  handle.setInstances(played);
  // without its animation groups, which would pose a skeleton that is no longer there
  for (const entity of container.entities) addToScene(scene, entity as typeof mesh);
  addToScene(scene, createHemisphericLight([0, 1, 0], 3));
  const { position, far } = createCamera(count);
  const camera = createFreeCamera(position, { x: 0, y: 0, z: 0 });
  camera.farPlane = far;
  scene.camera = camera;
  await registerScene(scene);

  const device = deviceOf(engine);
  const name = deviceName(null, device.adapterInfo);
  const calls = countCalls(device);
  const frame = () => {
    handle.update(1 / 60);
    renderFrame(engine, 1000 / 60);
  };
  const problems: string[] = [];
  device.addEventListener('uncapturederror', ({ error }) => problems.push(error.message));
  const finish = () => device.queue.onSubmittedWorkDone();
  const subject = { frame, finish, calls, timer: createGpuTimer(device, null, name) };
  const measured = await measure(subject, query.get('measure') ?? '', Number(query.get('budget')));
  if (problems.length > 0) throw new Error(problems[0]);

  return {
    contender: 'lite',
    name: 'Babylon Lite, baked',
    count,
    ...measured,
    // It records draw calls once, in a bundle, and counts them itself.
    draws: engine.drawCallCount,
    renderer: 'Babylon Lite on WebGPU',
    device: name,
  };
}

/** The engine does not give it away, but what is measured must be finished. */
function deviceOf(engine: EngineContext): GPUDevice {
  return (engine as unknown as { _device: GPUDevice })._device;
}
