import { BoxGeometry, MeshBasicMaterial, PerspectiveCamera, Scene, WebGLRenderer } from 'three';
import { expect, test } from 'vitest';
import { TWINS, type Twin } from '../support/captures.js';
import { onCall } from '../support/countHeld.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

interface Counting {
  render(scene: Scene, camera: PerspectiveCamera): void;
  /** Programs or pipelines made so far. */
  compiled(): number;
  dispose(): void;
}

/** Counts the calls of a method. */
function counted(object: object, name: string): () => number {
  let calls = 0;
  onCall(object, name, () => calls++);
  return () => calls;
}

async function rendererOf(twin: Twin): Promise<Counting> {
  if (twin === 'GLSL') {
    const renderer = new WebGLRenderer();
    const compiled = counted(renderer.getContext(), 'linkProgram');
    return {
      render: (scene, camera) => renderer.render(scene, camera),
      compiled,
      dispose: () => renderer.dispose(),
    };
  }
  const { WebGPURenderer } = await import('three/webgpu');
  await import('skinned-instanced-mesh/webgpu');
  const renderer = new WebGPURenderer({ forceWebGL: twin === 'TSL on WebGL 2' });
  await renderer.init();
  const { device, gl } = renderer.backend as unknown as { device?: GPUDevice; gl?: WebGL2RenderingContext };
  const compiled = device ? counted(device, 'createRenderPipeline') : counted(gl as object, 'linkProgram');
  return {
    render: (scene, camera) => renderer.render(scene, camera),
    compiled,
    dispose: () => renderer.dispose(),
  };
}

test.each([...TWINS.map((twin) => [twin, 'quaternion'] as const), ['GLSL', 'tracks'] as const])(
  'a crowd that grows compiles nothing anew, %s, encoding %s',
  async (twin, encoding) => {
    const renderer = await rendererOf(twin);
    const { root, clips } = createStick();
    const crowd = SkinnedInstancedMesh.from(root, clips, 3, { encoding });
    crowd.attachToJoint('Tip', new BoxGeometry(), new MeshBasicMaterial()).setPartVisibleAt(0, 0, false);
    crowd.traverse((node) => {
      node.frustumCulled = false;
    });
    const scene = new Scene().add(crowd) as Scene;
    const camera = new PerspectiveCamera();
    renderer.render(scene, camera);
    const before = renderer.compiled();
    expect(before).toBeGreaterThanOrEqual(2);
    for (let capacity = 300; capacity < 700; capacity += 100) {
      crowd.setCapacity(capacity).count = capacity;
      renderer.render(scene, camera);
    }
    expect(renderer.compiled()).toBe(before);
    renderer.dispose();
  },
);
