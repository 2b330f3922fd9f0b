import { LoopOnce, LoopPingPong } from 'three';
import { createCharacter } from '../../../demos/character.js';
import { bakeCharacter, SkinnedInstancedMesh } from '../../support/library.js';
import { type EngineScene, inRows } from '../EngineScene.js';
import { posedVertices } from '../readBack.js';

function crowdOf(count: number): SkinnedInstancedMesh {
  const { root, clips } = createCharacter();
  return inRows(new SkinnedInstancedMesh(bakeCharacter(root, clips), count), { columns: 3 });
}

/** Each instance in another clip, at another time and speed. */
export const playing: EngineScene = {
  name: 'playing',
  build() {
    const crowd = crowdOf(6);
    for (let i = 0; i < crowd.count; i++) crowd.play(i, i, { time: 0.17 * i, timeScale: 0.8 + 0.1 * i });
    // The clock is far on, as after some minutes.
    crowd.update(0.37).update(200).update(0.21);
    return { crowds: { crowd } };
  },
  readBack: { vertices: posedVertices },
};

/** In the middle of fades: plain, synchronous, interrupted, into the rest pose. */
export const fading: EngineScene = {
  name: 'fading',
  build() {
    const crowd = crowdOf(6);
    crowd.playAll('Walk', { time: (i) => 0.1 * i }).update(0.3);
    crowd.play({ start: 0, count: 2 }, 'Dance', { fade: 1 });
    crowd.play(2, 'Run', { fade: 0.8, sync: true });
    crowd.play(3, 'Wave', { fade: 1, warp: true });
    crowd.play(4, 'Jump', { fade: 1 });
    crowd.stop(5, { fade: 1 });
    crowd.update(0.25);
    // Interrupts the one under way.
    crowd.play(4, 'Idle', { fade: 1 });
    crowd.update(0.3);
    return { crowds: { crowd } };
  },
  readBack: { vertices: posedVertices },
};

/** Paused, finished, in reverse, and there and back. */
export const paused: EngineScene = {
  name: 'paused',
  build() {
    const crowd = crowdOf(6);
    crowd.playAll('Run', { time: (i) => 0.07 * i });
    crowd.play(2, 'Jump', { loop: LoopOnce, clampWhenFinished: true });
    crowd.play(3, 'Dance', { timeScale: -1, time: 0.3 });
    crowd.play(4, 'Wave', { loop: LoopPingPong, timeScale: 1.7 });
    crowd.update(0.4).pause(0).pause(1).update(5.3);
    crowd.setTimeAt(1, 0.33);
    crowd.stop(5).update(0.1);
    return { crowds: { crowd } };
  },
  readBack: { vertices: posedVertices },
};
