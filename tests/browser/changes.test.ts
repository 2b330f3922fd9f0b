import {
  BoxGeometry,
  Color,
  DirectionalLight,
  Float32BufferAttribute,
  type KeyframeTrack,
  Mesh,
  MeshStandardMaterial,
  NumberKeyframeTrack,
  PerspectiveCamera,
  Scene,
  WebGLRenderer,
} from 'three';
import { expect, test } from 'vitest';
import { TWINS, type Twin } from '../support/captures.js';
import { createCoarseCharacter } from '../support/coarseCharacter.js';
import { type JointAttachment, SkinnedInstancedMesh } from '../support/library.js';
import { type Problems, watchProblems } from '../support/problems.js';

interface Drawing {
  draw(scene: Scene, camera: PerspectiveCamera): Promise<void>;
  problems: Problems;
  dispose(): void;
}

async function drawingOf(twin: Twin): Promise<Drawing> {
  if (twin === 'GLSL') {
    const renderer = new WebGLRenderer();
    renderer.shadowMap.enabled = true;
    return {
      draw: async (scene, camera) => renderer.render(scene, camera),
      problems: watchProblems(renderer),
      dispose: () => renderer.dispose(),
    };
  }
  const { WebGPURenderer } = await import('three/webgpu');
  await import('skinned-instanced-mesh/webgpu');
  const renderer = new WebGPURenderer({ forceWebGL: twin === 'TSL on WebGL 2' });
  await renderer.init();
  renderer.shadowMap.enabled = true;
  return {
    draw: async (scene, camera) => {
      renderer.render(scene, camera);
      // errors of WebGPU come later
      await new Promise((resolve) => requestAnimationFrame(resolve));
    },
    problems: watchProblems(renderer),
    dispose: () => renderer.dispose(),
  };
}

test.each(TWINS)('everything about a crowd may change between frames, %s', async (twin) => {
  const { draw, problems, dispose } = await drawingOf(twin);
  const { root, clips } = createCoarseCharacter();
  const body = root.getObjectByName('Body') as Mesh;
  const { count } = body.geometry.getAttribute('position');
  body.geometry.morphAttributes.position = [
    new Float32BufferAttribute(new Float32Array(count * 3).fill(0.1), 3),
  ];
  body.geometry.morphTargetsRelative = true;
  body.updateMorphTargets();
  clips[0].tracks.push(
    new NumberKeyframeTrack('Body.morphTargetInfluences', [0, 1], [0, 1]) as KeyframeTrack,
  );

  const scene = new Scene();
  const light = new DirectionalLight();
  light.castShadow = true;
  const crowd = SkinnedInstancedMesh.from(root, clips, 3, { mergeMaterials: true });
  crowd.castShadow = true;
  crowd.frustumCulled = false;
  scene.add(light, crowd);
  const other = SkinnedInstancedMesh.from(root, clips, 2, { boneTexture: crowd.boneTexture });
  let hat: JointAttachment;
  const copies: SkinnedInstancedMesh[] = [];

  const changes: (() => void)[] = [
    () => crowd.playAll('Walk'),
    () => crowd.setPartVisibleAt(0, 'Body', false),
    () => {
      crowd.interpolate = false;
    },
    () => {
      hat = crowd.attachToJoint('Head', new BoxGeometry(), new MeshStandardMaterial());
    },
    () => hat.setColorAt(0, new Color(1, 0, 0)),
    () => {
      crowd.interpolate = true;
    },
    () => {
      crowd.setMorphAt(1, Object.assign(new Mesh(), { morphTargetInfluences: [0.4] }));
      if (crowd.morphTexture) crowd.morphTexture.needsUpdate = true;
    },
    () => {
      other.material = crowd.material;
      scene.add(other);
    },
    () => other.setPartColorAt(1, 0, new Color(0, 1, 0)),
    () => {
      crowd.setCapacity(10);
      crowd.count = 10;
    },
    () => copies.push(crowd.clone()),
    () => copies[0].play(copies[0].all, 'Run', { fade: 1 }).update(0.1),
    () => scene.add(copies[0]),
    () => crowd.dispose().removeFromParent(),
    () => copies[0].dispose().removeFromParent(),
  ];
  const camera = new PerspectiveCamera();
  camera.position.set(0, 1, 6);
  await draw(scene, camera);
  for (const [i, change] of changes.entries()) {
    change();
    await draw(scene, camera);
    expect(problems(), `after change ${i}: ${change}`).toEqual([]);
  }
  problems.stop();
  dispose();
});
