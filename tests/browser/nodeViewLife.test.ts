import {
  Box3,
  BoxGeometry,
  Matrix4,
  MeshStandardMaterial,
  Object3D,
  PerspectiveCamera,
  Scene,
  Vector3,
} from 'three';
import type { WebGPURenderer } from 'three/webgpu';
import { describe, expect, test, vi } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { TWINS } from '../support/captures.js';
import { drawingOf } from '../support/drawings.js';
import { nextFrame } from '../support/frames.js';
import { SkinnedInstancedMesh } from '../support/library.js';
import { changedPixels, createStage } from '../support/pictures.js';
import { THOROUGH } from '../support/thorough.js';

const COUNT = 30;
const MIDDLE = new Box3(new Vector3(-3, 0, -3), new Vector3(3, 2, 3));

/** Characters in rows around the stage, in clips. */
function createCrowd(): SkinnedInstancedMesh {
  const { root, clips } = createCharacter({ detail: 0.5 });
  const crowd = SkinnedInstancedMesh.from(root, clips, COUNT, { encoding: 'tracks' });
  crowd.castShadow = crowd.receiveShadow = true;
  for (let i = 0; i < COUNT; i++) {
    const x = ((i % 6) - 2.5) * 3;
    crowd.setMatrixAt(i, new Matrix4().makeRotationY(i).setPosition(x, 0, (Math.floor(i / 6) - 2) * 3));
    crowd.play(i, i % clips.length, { time: i * 0.1 });
  }
  crowd.update(0.3);
  return crowd;
}

describe.runIf(TWINS.length > 1)('under WebGPU', () => {
  test('a bundle that is drawn again shows what the camera sees now, and the poses of now', async () => {
    const { BundleGroup } = await import('three/webgpu');
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const drawing = await drawingOf('TSL on WebGPU');
    const { scene, camera } = createStage(MIDDLE, 'directional');
    const [plain, bundled] = [createCrowd(), createCrowd()];
    const bundle = new BundleGroup();
    bundle.add(bundled);
    let recorded = 0;
    const { onBeforeRender } = bundled;
    for (let frame = 0; frame < 4; frame++) {
      const expected = await drawing.draw(scene, camera, plain);
      const empty = await drawing.draw(scene, camera, new Object3D());
      expect(changedPixels(expected, empty)).toBeGreaterThan(500);
      expect(
        changedPixels(expected, await drawing.draw(scene, camera, bundle as Object3D), 0),
        `frame ${frame}`,
      ).toBe(0);
      camera.position.set(Math.sin(frame) * 6, 2, Math.cos(frame) * 6);
      camera.lookAt(0, 1, 0);
      camera.updateMatrixWorld();
      for (const crowd of [plain, bundled]) crowd.update(0.2);
    }
    expect(bundled.onBeforeRender).toBe(onBeforeRender);
    recorded = warn.mock.calls.filter(([text]) => String(text).includes('BundleGroup')).length;
    expect(recorded).toBe(0);
    bundled.sortObjects = true;
    await drawing.draw(scene, camera, bundle as Object3D);
    await drawing.draw(scene, camera, bundle as Object3D);
    expect(warn.mock.calls.join()).toContain('BundleGroup');
    warn.mockRestore();
    for (const crowd of [plain, bundled]) crowd.dispose();
    drawing.dispose();
  });

  test('a crowd whose renderer has lost its device goes on in another renderer', async () => {
    const { scene, camera } = createStage(MIDDLE, 'directional');
    const crowd = createCrowd();
    crowd.addLevel(createCharacter({ detail: 0.2 }).root, 8).castShadow = true;
    const first = await drawingOf('TSL on WebGPU');
    const lost = first.renderer as WebGPURenderer;
    const before = await first.draw(scene, camera, crowd);
    await first.draw(scene, camera, crowd);
    const error = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { device } = lost.backend as unknown as { device: GPUDevice };
    device.destroy();
    await device.lost;
    // three.js says nothing where a device was destroyed rather than lost.
    lost.onDeviceLost({ api: 'WebGPU', message: 'test', reason: null, originalEvent: null as never });
    // Whoever goes on drawing with it draws nothing, and breaks nothing.
    scene.add(crowd);
    lost.render(scene, camera);
    scene.remove(crowd);
    crowd.update(0.1);

    const second = await drawingOf('TSL on WebGPU');
    const fresh = createCrowd();
    fresh.addLevel(createCharacter({ detail: 0.2 }).root, 8).castShadow = true;
    fresh.update(0.1);
    for (let frame = 0; frame < 3; frame++) {
      const expected = await second.draw(scene, camera, fresh);
      const drawn = await second.draw(scene, camera, crowd);
      expect(changedPixels(expected, drawn, 0), `frame ${frame}`).toBe(0);
      if (frame === 0) expect(changedPixels(before, drawn)).toBeGreaterThan(100);
      for (const one of [crowd, fresh]) one.update(0.1);
      camera.position.set(5, 2, 4);
      camera.lookAt(0, 1, 0);
      camera.updateMatrixWorld();
    }
    expect(await crowd.readViewInfo(second.renderer, camera)).toEqual(
      await fresh.readViewInfo(second.renderer, camera),
    );
    for (const one of [crowd, fresh]) one.dispose();
    second.dispose();
    error.mockRestore();
  });

  test('rounds of levels, cameras and crowds that come and go end where they began', async () => {
    const { renderer } = await drawingOf('TSL on WebGPU');
    const node = renderer as WebGPURenderer;
    const { device } = node.backend as unknown as { device: GPUDevice };
    const { nodeFrame } = (node as unknown as { _nodes: { nodeFrame: { frameId: number } } })._nodes;
    // What the device holds, also what three.js does not count.
    let buffers = 0;
    const createBuffer = device.createBuffer.bind(device);
    device.createBuffer = (descriptor) => {
      const buffer = createBuffer(descriptor);
      const destroy = buffer.destroy.bind(buffer);
      let held = true;
      buffers++;
      buffer.destroy = () => {
        if (held) buffers--;
        held = false;
        destroy();
      };
      return buffer;
    };
    const { root, clips } = createCharacter({ detail: 0.2 });
    const material = new MeshStandardMaterial();
    const far = createCharacter({ detail: 0.1 }).root;
    const stay = SkinnedInstancedMesh.from(root, clips, 4, { encoding: 'tracks' });
    const scene = new Scene().add(stay) as Scene;
    const own = new PerspectiveCamera(50, 1, 0.1, 50);
    own.position.z = 5;
    /** What is held once the cameras of the rounds are forgotten, which takes 300 frames. */
    const settled = async () => {
      // As many frames as if they had gone by.
      nodeFrame.frameId += 310;
      await nextFrame();
      node.render(scene, own);
      await nextFrame();
      node.render(scene, own);
      // Programs have running numbers in their text, of more and more digits.
      const { programsSize, total, ...memory } = node.info.memory;
      return { ...memory, rest: total - programsSize, buffers };
    };
    const rounds = async (count: number) => {
      for (let round = 0; round < count; round++) {
        const camera = new PerspectiveCamera(50, 1, 0.1, 50);
        camera.position.set(0, 1, 5);
        const crowd = SkinnedInstancedMesh.from(root, clips, 3, { encoding: 'tracks' });
        crowd.material = material;
        crowd.attachToJoint('Head', new BoxGeometry(), material);
        scene.add(crowd);
        for (const one of [crowd, stay]) one.addLevel(far, 4).material = material;
        if (round % 8 === 0) await nextFrame();
        node.render(scene, camera);
        if (round % 3 === 0) crowd.setCapacity(300);
        node.render(scene, camera);
        stay.removeLevel(4);
        scene.remove(crowd);
        crowd.dispose();
      }
      return settled();
    };
    const before = await rounds(THOROUGH ? 8 : 4);
    expect(await rounds(THOROUGH ? 48 : 8)).toEqual(before);
    stay.dispose();
    renderer.dispose();
  });
});
