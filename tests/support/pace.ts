import { AnimationMixer } from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { createCoarsestCharacter } from './coarseCharacter.js';
import { bakeCharacter, SkinnedInstancedMesh } from './library.js';
import { characterHeight, offFrom } from './reference.js';

export const { root, clips } = createCoarsestCharacter();
const character = bakeCharacter(root, clips);
const height = characterHeight(root);

export const createCrowd = (count = 1): SkinnedInstancedMesh => new SkinnedInstancedMesh(character, count);

/** Clips at which the character stands, walks and runs, with their speeds. */
export const STOPS = [
  ['Idle', 0],
  ['Walk', 1.4],
  ['Run', 4],
] as const;

/** The character, a quarter into those clips, played by a mixer as the weights of a speed say. */
export class PacedClone {
  private readonly clone = SkeletonUtils.clone(root);
  private readonly mixer = new AnimationMixer(this.clone);
  private readonly actions = STOPS.map(([name]) => {
    const action = this.mixer.clipAction(clips.find((clip) => clip.name === name)!).play();
    return Object.assign(action, { time: 0.25 * action.getClip().duration });
  });

  /** @param scaleOf The time scale of each action, by the lengths of all clips and their weights. */
  setSpeed(speed: number, scaleOf: (i: number, lengths: number[], weights: number[]) => number): void {
    const stop = speed < 1.4 ? 0 : 1;
    const [from, to] = [STOPS[stop][1], STOPS[stop + 1][1]];
    const share = Math.min(Math.max((speed - from) / (to - from), 0), 1);
    const weights = [0, 1, 2].map((i) => (i === stop ? 1 - share : i === stop + 1 ? share : 0));
    const lengths = this.actions.map((action) => action.getClip().duration);
    this.actions.forEach((action, i) => {
      action.setEffectiveWeight(weights[i]).timeScale = scaleOf(i, lengths, weights);
    });
  }

  update(delta: number): void {
    this.mixer.update(delta);
  }

  /** How far an instance is from it, as a share of its height. */
  offFrom(crowd: SkinnedInstancedMesh, index: number): number {
    this.clone.updateMatrixWorld(true);
    return offFrom(this.clone, crowd, index) / height;
  }
}
