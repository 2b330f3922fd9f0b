import {
  BoxGeometry,
  Color,
  Float32BufferAttribute,
  InstancedMesh,
  Mesh,
  MeshBasicMaterial,
  type Object3D,
  PerspectiveCamera,
  Scene,
  WebGLRenderer,
} from 'three';
import { describe, expect, test } from 'vitest';
import { countHeld } from '../support/countHeld.js';
import { BoneTexture, SkinnedInstancedMesh } from '../support/library.js';
import { createStick } from '../support/stick.js';

const ROUNDS = 40;

/** How often what is unused is collected before objects that are there still count as held. */
const COLLECTIONS = 100;

/** How many of the objects something still holds, but for the last, in which the renderer may keep an interest. */
async function countAlive(refs: readonly WeakRef<Object3D>[]): Promise<number> {
  const { gc } = globalThis as { gc?: () => void };
  if (gc === undefined) throw new Error('start the browser with --js-flags=--expose-gc');
  let alive = refs.length;
  for (let i = 0; i < COLLECTIONS && alive > 1; i++) {
    // A reference that was asked for holds its object until the task ends.
    await new Promise((resolve) => setTimeout(resolve, 20));
    gc();
    alive = refs.filter((ref) => ref.deref() !== undefined).length;
  }
  return alive;
}

// Under WebGPURenderer three.js 0.187 itself holds all that was drawn, plain InstancedMeshes too.
test('crowds that WebGLRenderer drew, and that were dropped without dispose, are collected', async () => {
  const renderer = new WebGLRenderer();
  const { root, mesh, clips } = createStick();
  const box = new BoxGeometry();
  const material = new MeshBasicMaterial();
  const boneTexture = BoneTexture.bake(root, clips);
  const scene = new Scene();
  const camera = new PerspectiveCamera();
  const drawAndDrop = (create: () => Object3D) =>
    Array.from({ length: ROUNDS }, () => {
      const object = create();
      object.traverse((node) => {
        node.frustumCulled = false;
      });
      scene.add(object);
      renderer.render(scene, camera);
      scene.remove(object);
      renderer.render(scene, camera);
      return new WeakRef(object);
    });

  const still = drawAndDrop(() => new InstancedMesh(box, material, 2));
  const crowds = drawAndDrop(() => {
    const crowd = new SkinnedInstancedMesh(mesh.geometry, material, boneTexture, 2);
    crowd.attachToJoint('Tip', box, material).setPartVisibleAt(0, 0, false);
    crowd.addEventListener('loop', () => crowd.stop(0));
    return crowd.play(0, 'Slide').update(0.1).play(0, 'Slide', { fade: 1 });
  });
  expect(renderer.info.render.frame).toBe(ROUNDS * 4);
  expect(await countAlive(still), 'InstancedMesh').toBeLessThanOrEqual(1);
  expect(await countAlive(crowds)).toBeLessThanOrEqual(1);
  renderer.dispose();
});

describe('what WebGLRenderer holds', () => {
  /** A renderer that counts what it makes and has not let go of. */
  function createCounting() {
    const renderer = new WebGLRenderer();
    const kinds = ['Buffer', 'Texture', 'VertexArray'];
    const pairs = kinds.map((kind) => [kind, [`create${kind}`, `delete${kind}`] as const]);
    const held = countHeld(renderer.getContext(), Object.fromEntries(pairs));
    return { renderer, held };
  }

  function withMorph(geometry: BoxGeometry): BoxGeometry {
    const { count } = geometry.getAttribute('position');
    geometry.morphAttributes.position = [new Float32BufferAttribute(new Array(count * 3).fill(1), 3)];
    geometry.morphTargetsRelative = true;
    return geometry;
  }

  const { root, mesh, clips } = createStick();
  const others = [4, 8].map((fps) => BoneTexture.bake(root, clips, { fps }));
  const second = SkinnedInstancedMesh.from(root, clips, 5);
  second.play(0, 'Slide').play(0, 'Slide', { fade: 9 });

  const changes: Record<string, (crowd: SkinnedInstancedMesh, round: number) => void> = {
    'its capacity': (crowd, round) => crowd.setCapacity(round % 2 === 0 ? 300 : 3),
    'its geometry': (crowd) => {
      crowd.geometry = mesh.geometry;
    },
    'what it is a copy of': (crowd) => crowd.copy(second, false),
    'its bone texture': (crowd, round) => {
      crowd.boneTexture = others[round % 2];
    },
  };
  test.each(Object.entries(changes))('does not grow when a crowd changes %s', (_, change) => {
    const { renderer, held } = createCounting();
    const scene = new Scene();
    const camera = new PerspectiveCamera();
    renderer.render(scene, camera);
    const draw = () => {
      scene.traverse((node) => {
        node.frustumCulled = false;
      });
      renderer.render(scene, camera);
      expect(renderer.getContext().getError()).toBe(0);
      expect(renderer.info.render.calls).toBe(3);
    };
    const crowd = SkinnedInstancedMesh.from(root, clips, 3);
    const hat = crowd.attachToJoint('Tip', withMorph(new BoxGeometry()), new MeshBasicMaterial());
    const feather = hat.attachToJoint('Tip', new BoxGeometry(), new MeshBasicMaterial());
    hat.setMorphAt(0, Object.assign(new Mesh(), { morphTargetInfluences: [1] }));
    feather.setColorAt(0, new Color('red'));
    crowd.setPartVisibleAt(0, 0, false);
    crowd.play(0, 'Slide').play(0, 'Slide', { fade: 9 });
    scene.add(crowd);
    for (let round = 0; round < 4; round++) {
      change(crowd, round);
      draw();
    }
    const before = { ...held, ...renderer.info.memory };
    for (let round = 0; round < 20; round++) {
      change(crowd, round);
      draw();
    }
    expect({ ...held, ...renderer.info.memory }).toEqual(before);
    crowd.dispose();
    for (const texture of [...others, second.boneTexture]) texture.dispose();
    expect(held).toEqual({ Buffer: 0, Texture: 0, VertexArray: 0 });
    renderer.dispose();
  });
});
