import { AnimationClip, Matrix4, OrthographicCamera, PerspectiveCamera, VectorKeyframeTrack } from 'three';
import 'skinned-instanced-mesh/objects';
import { breathing, wind } from 'skinned-instanced-mesh/motion';
import { test } from 'vitest';
import { createCharacter } from '../../../demos/character.js';
import { expectFewObjects } from '../../support/allocations.js';
import { BoneTexture, SkinnedInstancedMesh } from '../../support/library.js';
import { random } from '../../support/random.js';

const COUNT = 10_000;
const FRAMES = 20;
const ROUNDS = 4;
/**
 * Of a frame of ten thousand: iterators of loops over lists of views, levels and looks. Code that is interpreted makes them and
 * compiled code does not, so that up to seventy are left. An object for every hundredth instance would be more, and so would two
 * bytes for each.
 */
const BOUNDS = { count: 100, bytes: 20_000 };

/** Ten thousand characters, of which some fade and some are listened to. */
function createCrowd(): SkinnedInstancedMesh {
  const { root, clips } = createCharacter({ detail: 0.2 });
  const crowd = SkinnedInstancedMesh.from(root, clips, COUNT, { encoding: 'tracks' });
  const next = random(1);
  const matrix = new Matrix4();
  for (let i = 0; i < COUNT; i++) {
    crowd.setMatrixAt(i, matrix.makeTranslation(next() * 200 - 100, 0, next() * 200 - 100));
    crowd.play(i, i % clips.length, { time: next() * 5, fade: i % 3 });
  }
  return crowd;
}

/** Cameras as one that turns, and two of shadow maps. */
function createCameras() {
  const eye = new PerspectiveCamera(60, 1.7, 0.1, 100);
  const lights = [new OrthographicCamera(-40, 40, 40, -40, 0.1, 200), new PerspectiveCamera(90, 1, 0.1, 80)];
  for (const light of lights) {
    light.position.set(10, 50, 5);
    light.lookAt(0, 0, 0);
    light.updateMatrixWorld();
  }
  return { eye, lights };
}

const CASES: Record<string, (crowd: SkinnedInstancedMesh) => (frame: number) => void> = {
  'where the camera turns': () => () => {},
  'where all move': (crowd) => (frame) => {
    const { array } = crowd.instanceMatrix;
    for (let at = 12; at < array.length; at += 16) array[at] += Math.sin(frame) * 0.1;
    crowd.instanceMatrix.needsUpdate = true;
  },
  'where some move': (crowd) => (frame) => {
    crowd.instanceMatrix.array[frame * 16 + 12] += 0.1;
    crowd.instanceMatrix.needsUpdate = true;
  },
  'where some come and go': (crowd) => (frame) => {
    crowd.setVisibleAt(frame % 50, frame % 3 > 0);
  },
  'with levels of detail': (crowd) => {
    crowd.addLevel(createCharacter({ detail: 0.1 }).root, 20, 0.1);
    crowd.addLevel(null, 60);
    return () => {};
  },
  'where levels of detail fade, sorted': (crowd) => {
    crowd.addLevel(createCharacter({ detail: 0.1 }).root, 20);
    crowd.addLevel(null, 60);
    crowd.levelFade = 0.5;
    crowd.sortObjects = true;
    return () => {};
  },
  'where instances are sorted': (crowd) => {
    crowd.sortObjects = true;
    return () => {};
  },
  'where the nearest are drawn': (crowd) => {
    crowd.maxVisible = 300;
    return () => {};
  },
  'with root motion': (crowd) => {
    const { clips } = createCharacter({ detail: 0.2 });
    const move = new VectorKeyframeTrack('Hips.position', [0, 1], [0, 1, 0, 0, 1, 1]);
    const walk = new AnimationClip('Way', 1, [move]);
    crowd.boneTexture = BoneTexture.bake(createCharacter({ detail: 0.2 }).root, [...clips, walk], {
      encoding: 'tracks',
      rootMotion: true,
    });
    crowd.play(crowd.all, 'Way');
    return () => {
      crowd.applyRootMotion(1 / 60);
    };
  },
  'with motions whose uniforms change': (crowd) => {
    const breeze = wind();
    crowd.motion = [breeze, breathing()];
    return (frame) => {
      breeze.uniforms.strength.value = 0.3 + 0.1 * Math.sin(frame);
      breeze.uniforms.direction.value.set(Math.cos(frame), 0, Math.sin(frame));
      crowd.motions?.settle(crowd);
    };
  },
  'where some are objects, of which some move': (crowd) => {
    crowd.count = COUNT / 2;
    const objects = Array.from({ length: 500 }, () => crowd.createInstance());
    for (const object of objects) object.clipAction('Run').play();
    return (frame) => {
      for (let i = 0; i < 20; i++) objects[(frame * 20 + i) % 500].position.x += 0.1;
      objects[frame % 500].rotation.y += 0.1;
    };
  },
  'where events are listened to': (crowd) => {
    crowd.addEventListener('finished', () => {});
    return () => {};
  },
};

test.each(Object.entries(CASES))('frames allocate nothing %s', async (_, prepare) => {
  const crowd = createCrowd();
  const { eye, lights } = createCameras();
  const change = prepare(crowd);
  let frame = 0;
  const run = () => {
    for (let i = 0; i < FRAMES; i++) {
      frame++;
      change(frame);
      crowd.update(1 / 60);
      eye.rotation.y += 0.01;
      eye.updateMatrixWorld();
      crowd.updateMatrixWorld();
      const { views, matrixWorld } = crowd;
      views.expected(matrixWorld, frame);
      for (const light of lights) views.of(light, matrixWorld, frame, eye);
      const view = views.of(eye, matrixWorld, frame);
      for (let level = 0; level < views.levels.count; level++) view.inOrder(level, false, matrixWorld, views);
    }
  };
  // What is made once.
  run();
  await expectFewObjects(run, FRAMES, ROUNDS, BOUNDS);
  crowd.dispose();
});
