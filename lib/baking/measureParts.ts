import { growJointBoxes, type JointBoxes } from '../animation/jointBoxes.js';
import { ROTATION, SCALE } from '../animation/PoseTracks.js';
import type { PartFlip, ScenePart } from '../animation/Rig.js';
import { nodesAbove } from '../character/rigNodes.js';
import { AFFINE_SIZE } from '../constants.js';
import { affineFromMatrix4, isSingular, linearDeterminant } from '../utils/affine.js';
import { inRuns, type Steps } from '../utils/slices.js';
import { bindClip, CURVE, hasTangents, MORPHS } from './channels.js';
import { frameTime, type PlannedClip } from './planClips.js';
import type { RigPoser } from './RigPoser.js';

// What baking has to know of a character's meshes, and of what clips do to them, before it reads any keys.

/** Vertices that are read in one step, of geometry without morph targets. */
const VERTICES = 512;

/** Grows the boxes of joints by the vertices of a part that follow them. */
export function growPartBoxes(boxes: JointBoxes, { geometry, joints, mirrorJoints }: ScenePart): Steps<void> {
  const step = Math.ceil(VERTICES / (1 + (geometry.morphAttributes.position?.length ?? 0)));
  const grow = (from: number, to: number) => {
    growJointBoxes(boxes, geometry, joints, from, to);
    if (mirrorJoints !== null) growJointBoxes(boxes, geometry, mirrorJoints, from, to);
  };
  return inRuns(geometry.getAttribute('position').count, grow, step);
}

const mirrors = (scale: number) => !(scale > 0);

/**
 * Finds the parts that clips mirror by a negative scale of the mesh or of a node above it: three.js turns the triangles of
 * such a mesh around. Also finds the skinned parts that are flattened, at rest or by a clip: three.js draws nothing of those.
 */
export function* findChangedParts(
  poser: RigPoser,
  clips: readonly PlannedClip[],
): Steps<
  (Pick<PartFlip, 'part' | 'mirrored'> & {
    /** The last of these clips; undefined if it is flat at rest. */
    clip: string | undefined;
  })[]
> {
  const { nodes, parents, parts } = poser.rig;
  const meshes = parts.map(({ node }) => node);
  const above = nodesAbove(parents, meshes);
  const mirrored = new Map<number, string>();
  const flattened = new Map<number, string | undefined>();
  parts.forEach(({ model }, part) => {
    if (isSingular(model, 0)) flattened.set(part, undefined);
  });
  const model = new Float64Array(AFFINE_SIZE);
  for (const { clip, count } of clips) {
    // Most tracks move bones, which have no meshes below them. Between scales above zero there are no others.
    const scales = bindClip(poser, clip).channels.filter(
      ({ node, property, tracks }) =>
        property === SCALE &&
        above.has(node) &&
        ([...nodes[node].scale].some(mirrors) ||
          tracks.some(({ curve, track }) => curve === CURVE || track.values.some(mirrors))),
    );
    if (scales.length === 0) continue;
    poser.play(clip, scales);
    for (let frame = 0; frame < count; frame++) {
      poser.sample(frameTime(frame, count, clip.duration));
      poser.update();
      parts.forEach(({ node, model: rest }, part) => {
        affineFromMatrix4(poser.nodes[node].matrixWorld, model, 0);
        if (isSingular(model, 0)) flattened.set(part, clip.name);
        else if (linearDeterminant(model, 0) * linearDeterminant(rest, 0) < 0) mirrored.set(part, clip.name);
      });
    }
    yield 0;
  }
  return parts.flatMap(({ rigid }, part) => {
    const isMirrored = mirrored.has(part);
    const clip = mirrored.get(part) ?? flattened.get(part);
    return isMirrored || (!rigid && flattened.has(part)) ? [{ part, mirrored: isMirrored, clip }] : [];
  });
}

/** Whether all clips move the meshes that share morph targets in one way at all times. */
export function* moveAlike(poser: RigPoser, planned: readonly PlannedClip[]): Steps<boolean> {
  for (const { clip } of planned) {
    const texts = new Map<number, string>();
    for (const { node, morphOffset } of poser.rig.parts) {
      if (morphOffset < 0) continue;
      const own = clip.tracks.filter(({ name }) => {
        const target = poser.targetOf(name);
        return target.node === node && target.property === MORPHS;
      });
      // The same for tracks that move the same targets alike.
      const text = own
        .map((track) => {
          const { first, size } = poser.targetOf(track.name);
          return hasTangents(track)
            ? track.name
            : [first, size, track.getInterpolation(), track.times, track.values].join();
        })
        .join();
      if ((texts.get(morphOffset) ?? text) !== text) return false;
      texts.set(morphOffset, text);
    }
    yield 0;
  }
  return true;
}

/** By what part the scales of a node may differ that count as the same. */
const EVEN = 1e-3;

/** Whether some of the scales, three numbers each, differ from each other. */
const isUneven = (scales: ArrayLike<number>): boolean =>
  Array.from(scales).some((scale, i) => {
    const first = Math.abs(scales[i - (i % 3)]);
    return Math.abs(Math.abs(scale) - first) > EVEN * first;
  });

/**
 * Finds nodes below one that is scaled unevenly, where three.js does not turn normals as it poses their vertices. Those of what lies
 * still below it are turned once, as it is merged or attached.
 *
 * @returns Whether a node is one, with what is rigid, or is posed by bones, below it.
 */
export function findUneven(
  poser: RigPoser,
  planned: readonly PlannedClip[],
): (node: number, rigid: boolean) => boolean {
  const { nodes, parents } = poser.rig;
  const scaled = new Set<number>();
  const turned = new Set<number>();
  for (const { name, values } of planned.flatMap(({ clip }) => clip.tracks)) {
    const { node, property, size } = poser.targetOf(name);
    if (property === ROTATION) turned.add(node);
    if (property === SCALE && (size < 3 || isUneven(values))) scaled.add(node);
  }
  return (node, rigid) => {
    // A kind of a crowd has no clips of its own, and plays the crowd's.
    let isStill = rigid && planned.length > 0;
    for (let at = node; at >= 0; at = parents[at]) {
      if (scaled.has(at) || (at > 0 && !isStill && isUneven(nodes[at].scale.toArray()))) return true;
      if (turned.has(at)) isStill = false;
    }
    return false;
  };
}
