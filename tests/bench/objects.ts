import { SkinnedInstance } from 'skinned-instanced-mesh';
import { Matrix4, Object3D, PerspectiveCamera, Quaternion, Scene, Vector3 } from 'three';
import { bakeCharacter } from '../../lib/baking/bakeCharacter.js';
import { SkinnedInstancedMesh } from '../../lib/crowd/SkinnedInstancedMesh.js';
import { createStick } from '../support/stick.js';

const ROUNDS = 60;
/** Of one way, until it is the next one's turn. */
const FRAMES = 60;
/** Share of the frames that are not counted. */
const WARM_UP = 0.3;

/** A crowd in a scene, and how some of its instances are moved. */
interface Case {
  crowd: SkinnedInstancedMesh;
  scene: Scene;
  move(instance: number, x: number, turn: number): void;
}

/** Milliseconds of a frame with objects, and what they are above those by index. */
export function objectTimes(): Record<string, string | number>[] {
  return [
    [2000, 200],
    [10_000, 0],
    [10_000, 200],
  ].flatMap(([count, moving]) => {
    const ways = {
      index: byIndex(count),
      objects: byObjects(count, false),
      'objects added to the scene': byObjects(count, true),
      'plain Object3D in the scene': byPlain(count),
    };
    const times = measure(Object.values(ways), count, moving);
    return Object.keys(ways).map((way, i) => ({
      instances: count,
      moving,
      way,
      ms: round(times[i]),
      'above index': round(times[i] - times[0]),
    }));
  });
}

/** The median frame of each way, of many that are taken in turns so that all meet the same machine. */
function measure(ways: readonly Case[], count: number, moving: number): number[] {
  const camera = new PerspectiveCamera(50, 1, 0.1, 500);
  camera.position.set(0, 30, 60);
  camera.lookAt(0, 0, 0);
  camera.updateMatrixWorld();
  camera.matrixWorldInverse.copy(camera.matrixWorld).invert();
  const times = ways.map((): number[] => []);
  for (let frame = 0; frame < ROUNDS * FRAMES; frame++) {
    const { crowd, scene, move } = ways[Math.floor(frame / FRAMES) % ways.length];
    const start = performance.now();
    for (let k = 0; k < moving; k++) {
      move((k * Math.floor(count / moving) + frame) % count, frame * 0.01 + k, frame * 0.02);
    }
    scene.updateMatrixWorld();
    crowd.views.of(camera, crowd.matrixWorld, frame);
    const time = performance.now() - start;
    // The first frames of a turn find caches cold.
    if (frame > ROUNDS * FRAMES * WARM_UP && frame % FRAMES > FRAMES / 2) {
      times[Math.floor(frame / FRAMES) % ways.length].push(time);
    }
    // as a renderer does once it has uploaded them
    crowd.instanceMatrix.clearUpdateRanges();
  }
  return times.map((one) => one.sort((a, b) => a - b)[Math.floor(one.length / 2)]);
}

function createScene(count: number) {
  const { root, clips } = createStick();
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, clips), count);
  const scene = new Scene().add(crowd);
  return { crowd, scene };
}

const placeOf = (i: number) => new Vector3((i % 100) - 50, 0, Math.floor(i / 100) - 50);

function byIndex(count: number): Case {
  const { crowd, scene } = createScene(count);
  const matrix = new Matrix4();
  const position = new Vector3();
  const quaternion = new Quaternion();
  const up = new Vector3(0, 1, 0);
  const scale = new Vector3(1, 1, 1);
  for (let i = 0; i < count; i++) crowd.setMatrixAt(i, matrix.setPosition(placeOf(i)));
  return {
    crowd,
    scene,
    move(i, x, turn) {
      crowd.setMatrixAt(
        i,
        matrix.compose(position.set(x, 0, i / 100), quaternion.setFromAxisAngle(up, turn), scale),
      );
      crowd.instanceMatrix.needsUpdate = true;
    },
  };
}

function byObjects(count: number, inScene: boolean): Case {
  const { crowd, scene } = createScene(0);
  const objects = Array.from({ length: count }, (_, i) => {
    const object = new SkinnedInstance(crowd);
    object.position.copy(placeOf(i));
    if (inScene) scene.add(object);
    return object;
  });
  return { crowd, scene, move: moveOf(objects) };
}

/** What three.js takes for as many objects that draw nothing. */
function byPlain(count: number): Case {
  const { crowd, scene } = createScene(count);
  const objects = Array.from({ length: count }, (_, i) => {
    const object = new Object3D();
    object.position.copy(placeOf(i));
    scene.add(object);
    return object;
  });
  return { crowd, scene, move: moveOf(objects) };
}

const moveOf = (objects: readonly Object3D[]) => (i: number, x: number, turn: number) => {
  objects[i].position.set(x, 0, i / 100);
  objects[i].rotation.y = turn;
};

const round = (ms: number) => Math.round(ms * 1000) / 1000;
