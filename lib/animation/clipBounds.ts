import { Box3 } from 'three';
import { AFFINE_SIZE } from '../constants.js';
import { multiplyAffine } from '../utils/affine.js';
import type { Steps } from '../utils/slices.js';
import { type BoxArray, boxToArray, expandByJoint, type JointBoxes } from './jointBoxes.js';
import { composeModel, type MixedLayer, mixNode } from './mixPose.js';
import type { PoseTracks } from './PoseTracks.js';

/** By how much boxes are wider on each side than what was sampled, as a share of the largest side. */
const MARGIN = 0.01;

/** Samples of a clip, a second; slower frames have some between them too. Exporters' 30 is often a little less. */
const RATE = 29.9;

/** Mixtures are sampled in batches, until one makes the box grow by less than a share of its size. */
const BATCH = 512;
const MOST_BATCHES = 6;
const QUIET = 0.002;

/** By how much more boxes are wider where mixtures reach out of those of single poses, as a share of how far they do. */
const FURTHER = 0.25;

/** Poses between two steps of the work. */
const RUN = 16;

/** Its powers, times 1, 2, 3, …, spread evenly between whole numbers, as random numbers would not. */
const SPREAD = 1 / 1.0757660660868371;

/**
 * A box around the rest pose, and one for each clip around its poses and its fades with other clips and the rest pose. The pose
 * halfway between two others may reach out of the boxes of both, as an arm does that is swung from up to down; how far, samples
 * tell.
 *
 * @param jointBoxes Boxes of the vertices that follow each joint.
 */
export function* clipBounds(tracks: PoseTracks, jointBoxes: JointBoxes): Steps<Box3[]> {
  const { parents, jointNodes, inverses, clips } = tracks;
  const trs = new Float64Array(tracks.rest.length);
  const model = new Float64Array(parents.length * AFFINE_SIZE);
  const matrix = new Float64Array(AFFINE_SIZE);
  const joints = [...jointNodes.keys()].filter((i) => jointBoxes[i * 6] <= jointBoxes[i * 6 + 3]);
  // Nodes that hold no vertices, and none below them, need not be posed.
  const holds = new Uint8Array(parents.length);
  for (const i of joints) for (let node = jointNodes[i]; node >= 0; node = parents[node]) holds[node] = 1;

  const actions: MixedLayer['actions'][number][] = [0, 1, 2].map(() => ({ clip: 0, place: 0, weight: 0 }));
  const layers = [{ actions, weight: 1, mask: null }];
  const expand = (box: Box3) => {
    for (let node = 0; node < parents.length; node++) {
      if (holds[node] === 0) continue;
      mixNode(tracks, layers, node, trs);
      composeModel(tracks, trs, node, model);
    }
    for (const i of joints) {
      multiplyAffine(model, jointNodes[i] * AFFINE_SIZE, inverses, i * AFFINE_SIZE, matrix, 0);
      expandByJoint(box, jointBoxes, i, matrix, 0);
    }
  };
  const boxes = [new Box3(), ...clips.map(() => new Box3())];
  expand(boxes[0]);
  const all = boxes[0].clone();
  for (const [clip, { frames, fps }] of clips.entries()) {
    Object.assign(actions[0], { clip, weight: 1 });
    const parts = Math.ceil(RATE / Math.max(fps, 1));
    for (let i = 0; i <= (frames - 1) * parts; i++) {
      actions[0].place = i / parts;
      expand(boxes[clip + 1]);
      if (i % RUN === 0) yield 0;
    }
    all.union(boxes[clip + 1]);
  }
  if (clips.length === 0 || all.isEmpty()) return boxes;

  const alone = boxToArray(all);
  for (let batch = 0, grown = 1; batch < MOST_BATCHES && grown > QUIET; batch++) {
    const before = boxToArray(all);
    for (let i = batch * BATCH; i < (batch + 1) * BATCH; i++) {
      const share = (k: number) => ((i + 1) * SPREAD ** (k + 1)) % 1;
      for (const [k, action] of actions.entries()) {
        action.clip = Math.floor(share(k) * clips.length);
        action.place = share(k + 3) * (clips[action.clip].frames - 1);
        action.weight = share(k + 6);
      }
      // Some with the rest pose, some without, and some of two. Additive clips may all play in full.
      if (i & 1) actions[1].weight = 1 - actions[0].weight;
      if (i & 2) actions[2].weight = 0;
      for (const action of actions) if (clips[action.clip].additive) action.weight = 1;
      const box = boxes[actions[0].clip + 1];
      expand(box);
      all.union(box);
      if (i % RUN === 0) yield 0;
    }
    grown = growth(before, all);
  }
  // Where mixtures reach further than poses do, some that were not sampled reach further still.
  const margin = (MARGIN + FURTHER * growth(alone, all)) * sizeOf(all);
  for (const box of boxes) box.expandByScalar(margin);
  return boxes;
}

/** By how much a side of a box lies further out than it did, as a share of the largest. */
function growth(before: BoxArray, after: Box3): number {
  return Math.max(...boxToArray(after).map((value, i) => Math.abs(value - before[i]))) / sizeOf(after);
}

function sizeOf({ min, max }: Box3): number {
  return Math.max(max.x - min.x, max.y - min.y, max.z - min.z);
}
