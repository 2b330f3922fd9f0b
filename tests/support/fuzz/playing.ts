import { applyRootMotion, loadPlayback, savePlayback } from 'skinned-instanced-mesh';
import { LoopOnce, LoopPingPong, LoopRepeat } from 'three';
import { layersOf } from '../features.js';
import type { Step } from './CrowdProgram.js';
import { CLIP_NAMES as NAMES } from './figure.js';
import { POSE_RATES } from './levels.js';

/** What instances play, and when. */
export const PLAYING: readonly Step[] = Object.values<Step>({
  play(p) {
    const { dice, id } = p;
    const layer =
      layersOf(p.crowd) !== null && p.isTracks && dice.chance(0.3) ? dice.pick(['upper', 'nod']) : 'base';
    const clip = layer === 'nod' ? 'Nod' : dice.pick(NAMES);
    const options = {
      layer,
      time: dice.seconds(2),
      timeScale: dice.pick([1, 1, 2, 0.5, -1, 0]),
      loop: dice.pick([LoopRepeat, LoopRepeat, LoopOnce, LoopPingPong]),
      repetitions: dice.pick([Infinity, 1, 2, 3]),
      clampWhenFinished: dice.chance(0.5),
      fade: dice.pick([0, 0, 0.25, 1]),
      ...(p.isTracks && dice.chance(0.2) ? { weight: dice.pick([0.25, 1]) } : {}),
      rootMotion: p.hasJoints && layer === 'base' && ['Walk', 'Run'].includes(clip) && dice.chance(0.5),
    };
    p.note(`${id} ${clip} ${JSON.stringify(options)}`);
    p.crowd.play(id, clip, options);
  },
  crossFade: (p) => p.crowd.play(p.id, p.dice.pick(NAMES), { fade: 0.5 }),
  stop: (p) => p.crowd.stop(p.id, { fade: p.dice.pick([0, 0.25]) }),
  pauseOrResume(p) {
    const { id, dice } = p;
    if (dice.chance(0.5)) p.crowd.pause(id);
    else p.crowd.resume(id);
  },
  setTime: (p) => p.crowd.setTimeAt(p.id, p.dice.seconds(3)),
  setTimeScale: (p) => p.crowd.setTimeScaleAt(p.id, p.dice.pick([1, 2, -1, 0, 0.5])),
  setLayerWeight(p) {
    const { id, dice } = p;
    layersOf(p.crowd)?.setWeightAt(id, dice.pick(['upper', 'nod']), dice.pick([0, 0.5, 1]), {
      fade: dice.pick([0, 0.5]),
    });
  },
  setPoseRate: (p) => p.crowd.setPoseRateAt(p.id, p.dice.pick(POSE_RATES)),
  update: (p) => p.crowd.update(p.dice.pick([0, 1 / 64, 1 / 16, 0.25, 1, 5])),
  updateAndWalk(p) {
    const delta = p.dice.pick([1 / 16, 0.25]);
    p.crowd.update(delta);
    applyRootMotion(p.crowd, delta);
  },
  turnBack: (p) => p.crowd.update(p.dice.pick([-1 / 16, -1])),
  seek: (p) => p.crowd.update(p.dice.pick([100, 1024, -p.crowd.elapsed])),
  goOnFromJSON(p) {
    const { crowd } = p;
    loadPlayback(crowd, JSON.parse(JSON.stringify(savePlayback(crowd))));
  },
});
