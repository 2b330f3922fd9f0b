import { bakeCharacter, GPUInstances, SkinnedInstancedMesh } from 'skinned-instanced-mesh/webgpu';
import { HemisphereLight, InstancedMesh, MeshStandardMaterial, PerspectiveCamera, Scene } from 'three';
import type { WebGPURenderer } from 'three/webgpu';
import { finisher } from '../../demos/benchmark/measure.js';
import { createRenderer } from '../../demos/lib/createRenderer.js';
import { SwarmOnGPU } from '../../demos/swarm/SwarmOnGPU.js';
import { createGaited } from '../support/coarseCharacter.js';
import { mean } from './kinds.js';
import { leaveDrawsOut } from './views.js';

const FRAMES = 300;

export interface SwarmRow {
  name: string;
  /** Milliseconds of JavaScript in a frame: the mean, but for the slowest tenth. */
  js: number;
}

/** JavaScript of a frame of a swarm that the GPU steers, beside a still InstancedMesh. Draw calls and dispatches are left out. */
export async function measureSwarm(count: number): Promise<SwarmRow[]> {
  const created = await createRenderer('webgpu', { antialias: false });
  leaveDrawsOut(created);
  const renderer = created.renderer as WebGPURenderer;
  renderer.setSize(64, 36);
  document.body.append(renderer.domElement);
  const finish = finisher(created);
  const { root, clips } = createGaited();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), count);
  const swarm = new SwarmOnGPU(count);
  swarm.bind(new GPUInstances(crowd, swarm));
  const still = new InstancedMesh(crowd.geometry.clone(), new MeshStandardMaterial(), count);
  const camera = new PerspectiveCamera(60, 16 / 9, 0.1, 1e3);
  camera.position.y = 5;
  const step = () => {
    swarm.delta.value = 1 / 60;
    renderer.compute(swarm.steps);
  };
  const scenes = [still, crowd].map((mesh) => new Scene().add(new HemisphereLight(), mesh));
  const parts: [string, () => void][] = [
    ['a still InstancedMesh', () => renderer.render(scenes[0], camera)],
    ['the steps of the swarm', step],
    [
      'its crowd',
      () => {
        crowd.update(1 / 60);
        renderer.render(scenes[1], camera);
      },
    ],
  ];
  const rows = parts.map(([name]) => ({ name, times: [] as number[] }));
  for (let frame = -10; frame < FRAMES; frame++) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    camera.rotation.y += 0.05;
    for (const [i, [, run]] of parts.entries()) {
      const start = performance.now();
      run();
      if (frame >= 0) rows[i].times.push(performance.now() - start);
    }
    await finish();
  }
  renderer.dispose();
  return rows.map(({ name, times }) => ({ name, js: mean(times) }));
}
