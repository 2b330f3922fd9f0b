import {
  type BakeOptions,
  bakeCharacter,
  bakeCharacterAsync,
  disposeCharacter,
} from 'skinned-instanced-mesh';
import { bakeInWorker } from 'skinned-instanced-mesh/worker';
import type { AnimationClip, Object3D } from 'three';
import { longestGap } from './longestGap.js';

/** Rounds of which the shortest counts: in one the engine compiles, or collects garbage. */
const ROUNDS = 5;

/** One way to bake, and what it costs, in milliseconds. */
export interface Bake {
  name: string;
  /** How long the page can do nothing else, at a stretch. */
  blocked: number;
  /** Until the character is there. */
  took: number;
}

/** Bakes in each of three ways, a few times. */
export async function compareBakes(
  root: Object3D,
  clips: readonly AnimationClip[],
  options: BakeOptions,
): Promise<Bake[]> {
  const ways = {
    bake: () => bakeCharacter(root, clips, options),
    bakeAsync: () => bakeCharacterAsync(root, clips, options),
    bakeInWorker: () => bakeInWorker(root, clips, options),
  };
  const bakes: Bake[] = [];
  for (const [name, bake] of Object.entries(ways)) {
    let [blocked, took] = [Infinity, Infinity];
    for (let round = 0; round < ROUNDS; round++) {
      const start = performance.now();
      const gap = await longestGap(async () => disposeCharacter(await bake()));
      blocked = Math.min(blocked, gap);
      took = Math.min(took, performance.now() - start);
    }
    bakes.push({ name, blocked, took });
  }
  return bakes;
}
