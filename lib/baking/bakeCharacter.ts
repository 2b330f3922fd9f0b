import type { AnimationClip, Object3D } from 'three';
import { BoneTexture } from '../animation/BoneTexture.js';
import type { BoneTextureData } from '../animation/BoneTextureData.js';
import { createJointBoxes } from '../animation/jointBoxes.js';
import type { Rig } from '../animation/Rig.js';
import {
  type Character,
  type CharacterOptions,
  characterOf,
  refuseUnsupported,
} from '../character/assembleCharacter.js';
import { type CollectedRig, collectRigSteps, jointBinds, type RigOptions } from '../character/collectRig.js';
import { nodesAbove } from '../character/rigNodes.js';
import { describe, listNames, warnOfUnknown, warnOnce } from '../utils/messages.js';
import { runAll, runInSlices, type Steps } from '../utils/slices.js';
import type { BakeAsyncOptions, BakedCharacter, BakeOptions, RigBake } from './BakeOptions.js';
import { tracks } from './bakeTracks.js';
import { bindClip, MORPHS, STILL } from './channels.js';
import { findUneven, growPartBoxes, moveAlike } from './measureParts.js';
import { type PlannedClip, planClips } from './planClips.js';
import { RigPoser } from './RigPoser.js';

/** How a character is baked and merged. */
export interface BakeCharacterOptions extends BakeOptions, CharacterOptions {}

/** {@link BakeCharacterOptions}, and options for baking in slices. */
export interface BakeCharacterAsyncOptions extends BakeAsyncOptions, CharacterOptions {}

const KNOWN: Record<keyof BakeCharacterAsyncOptions, 1> = {
  encoding: 1,
  clips: 1,
  fps: 1,
  mergeMaterials: 1,
  hiddenParts: 1,
  rootMotion: 1,
  sockets: 1,
  joints: 1,
  morphTargets: 1,
  precision: 1,
  maxError: 1,
  maxTextureSize: 1,
  skipUnsupported: 1,
  onProgress: 1,
  signal: 1,
};

/**
 * Bakes the character under `root`, with all its meshes and materials, for crowds to play: `new SkinnedInstancedMesh(character, count)`.
 * Nothing in the scene is changed. One character serves any number of crowds; call {@link disposeCharacter} when none uses it any more.
 *
 * Matrices are relative to `root`: an instance's matrix takes the place of `root.matrix`.
 *
 * @param root Holds the character's meshes, and the bones of those that have any, e.g. `gltf.scene`.
 * @param clips E.g. `gltf.animations`; without any, the character stands in its rest pose.
 * @throws If there is nothing to bake, a clip cannot be baked, or there is something under `root` that cannot be instanced; the message
 * names the clip and track.
 *
 * @example
 * ```ts
 * const character = bakeCharacter(gltf.scene, gltf.animations, { clips: ['Idle', 'Walk'], hiddenParts: ['Helmet'] });
 * ```
 *
 * @category Bake
 */
export function bakeCharacter(
  root: Object3D,
  clips: readonly AnimationClip[],
  options: BakeCharacterOptions = {},
): Character {
  return runAll(characterSteps(root, clips, options));
}

/**
 * {@link bakeCharacter} in slices of up to 4 milliseconds, so that a page stays responsive meanwhile; merging the meshes at the end is
 * one slice.
 *
 * The scene may be drawn, but must not be posed or edited until the promise settles.
 *
 * @throws What `bakeCharacter` throws, and the signal's reason when it aborts.
 *
 * @category Bake
 */
export async function bakeCharacterAsync(
  root: Object3D,
  clips: readonly AnimationClip[],
  options: BakeCharacterAsyncOptions = {},
): Promise<Character> {
  return runInSlices(characterSteps(root, clips, options), options);
}

function* characterSteps(
  root: Object3D,
  clips: readonly AnimationClip[],
  options: BakeCharacterOptions,
): Steps<Character> {
  refuseUnsupported(root, options);
  const { boneTexture, collected } = yield* bakeSteps(root, clips, options);
  return characterOf(root, collected, boneTexture, options, [boneTexture]);
}

/**
 * Bakes clips alone, for whoever has a geometry of their own: `new SkinnedInstancedMesh(geometry, material, boneTexture, count)`. Options
 * and what is thrown are those of {@link bakeCharacter}.
 *
 * @param root Holds the character's meshes, and the bones of those that have any, e.g. `gltf.scene`.
 * @param clips E.g. `gltf.animations`; without any, the texture holds the rest pose alone.
 *
 * @category Bake
 */
export function bakeBoneTexture(
  root: Object3D,
  clips: readonly AnimationClip[],
  options: BakeOptions = {},
): BoneTexture {
  return runAll(bakeSteps(root, clips, options)).boneTexture;
}

/**
 * {@link bakeBoneTexture} in slices of up to 4 milliseconds, so that a page stays responsive meanwhile.
 *
 * The scene may be drawn, but must not be posed or edited until the promise settles.
 *
 * @throws What `bakeBoneTexture` throws, and the signal's reason when it aborts.
 *
 * @category Bake
 */
export async function bakeBoneTextureAsync(
  root: Object3D,
  clips: readonly AnimationClip[],
  options: BakeAsyncOptions = {},
): Promise<BoneTexture> {
  return (await runInSlices(bakeSteps(root, clips, options), options)).boneTexture;
}

/** The baking itself: reads what it needs from the scene, then the clips. */
function* bakeSteps(
  root: Object3D,
  clips: readonly AnimationClip[],
  options: BakeOptions,
): Steps<{ boneTexture: BoneTexture; collected: CollectedRig }> {
  const planned = yield* planClips(clips, options.clips, options.fps);
  const { baked, collected } = yield* collectCharacter(root, planned, options);
  const data = nameSources(yield* bakeRig(baked, planned, options), planned);
  return { boneTexture: new BoneTexture(data, options.encoding), collected };
}

/** Says of baked clips which ones of the page they were. */
export function nameSources(data: BoneTextureData, planned: readonly PlannedClip[]): BoneTextureData {
  planned.forEach(({ clip: { uuid, tracks } }, i) => {
    data.clips[i].source = { uuid, tracks: tracks.length };
  });
  return data;
}

/** What no rounding adds to a scale. */
const SCALED = 1e-3;

/** Reads from the scene what baking needs of it, and the meshes that make up the character. */
export function* collectCharacter(
  root: Object3D,
  planned: readonly PlannedClip[],
  given: BakeOptions,
): Steps<{ baked: BakedCharacter; collected: CollectedRig }> {
  warnOfUnknown(given, 'bakeCharacter', KNOWN);
  const { sockets, joints = 'all', morphTargets: morphing, encoding = tracks } = given;
  if (encoding.bake === undefined)
    throw new Error(
      `encoding is ${describe(encoding)}; leave it out for tracks, or pass frames, which is imported beside bakeCharacter.`,
    );
  const options: RigOptions = { sockets, joints, morphing };
  let collected = yield* collectRigSteps(root, options);
  const { x, y, z } = root.scale;
  if (Math.abs(x - 1) + Math.abs(y - 1) + Math.abs(z - 1) > SCALED)
    warnOnce(
      `"${root.name || root.type}" is scaled by ${x === y && y === z ? x : [x, y, z]}, which baking leaves out: an instance's matrix takes its place. Scale the instances, or bake new Group().add(root).`,
    );
  const { sharesMorphs, namesakes } = collected;
  const poser = new RigPoser(collected.rig);
  const flips = yield* encoding.findFlips(poser, planned);
  const shareMorphs = !sharesMorphs || (yield* moveAlike(poser, planned));
  // Rarely do clips ask for another rig than the scene alone does.
  const keepNamesakes =
    namesakes.size > 0 &&
    planned.some(({ clip }) => clip.tracks.some(({ name }) => namesakes.has(poser.targetOf(name).node)));
  const isUneven = findUneven(poser, planned);
  const unevenParts = collected.parts.flatMap(({ node, rigid }, part) =>
    !rigid && isUneven(node, false) ? part : [],
  );
  const chosen = { joints, shareMorphs, keepNamesakes };
  if (flips.length > 0 || unevenParts.length > 0 || !shareMorphs || keepNamesakes)
    collected = yield* collectRigSteps(root, { ...options, ...chosen, flips, uneven: unevenParts });

  const { rig, parts } = collected;
  const baked: BakedCharacter = {
    rig,
    boxes: createJointBoxes(rig.jointNames.length),
    flips,
    collected: chosen,
    unevenJoints: [...rig.jointNodes.keys()].filter((joint) => isUneven(rig.jointNodes[joint], true)),
  };
  for (const part of parts) yield* growPartBoxes(baked.boxes, part);
  return { baked, collected };
}

/** Bakes clips for a character, without looking at the scene it is from. */
export function* bakeRig(
  { rig, boxes, ...character }: BakedCharacter,
  planned: readonly PlannedClip[],
  { precision = 'float', maxTextureSize = 4096, maxError = 1e-4, rootMotion, encoding = tracks }: BakeOptions,
): Steps<BoneTextureData> {
  const poser = new RigPoser(rig);
  const clips: RigBake['clips'][number][] = [];
  for (const one of planned) {
    clips.push({ ...one, ...bindClip(poser, one.clip) });
    yield 0;
  }
  warnOfTracks(rig, clips);
  const extractor = rootMotion?.plan(rig, clips) ?? null;
  const morphNames = movesMorphs(rig, clips) ? rig.morphNames : [];
  const bake = { poser, boxes, clips, precision, maxTextureSize, maxError, morphNames, extractor };
  return {
    ...(yield* encoding.bake(bake)),
    ...character,
    encoding: encoding.name,
    precision,
    jointNames: rig.jointNames,
    jointBinds: jointBinds(rig),
    morphNames,
    jointBoxes: boxes,
  };
}

/** Whether any clip gives a morph target of a part that is drawn another influence than it has at rest. */
const movesMorphs = ({ morphRest }: Rig, clips: RigBake['clips']): boolean =>
  clips
    .flatMap(({ channels }) =>
      channels.flatMap(({ property, tracks }) => (property === MORPHS ? tracks : [])),
    )
    .some(({ track, target: { first, size }, curve }) => {
      return curve !== STILL || track.values.some((value, i) => value !== morphRest[first + (i % size)]);
    });

/** Warns of what clips move that is not there, not baked, or not seen. */
export function warnOfTracks({ nodes, parents, parts, jointNodes }: Rig, clips: RigBake['clips']): void {
  const label = nodes[0].name || nodes[0].type;
  const missing = new Set(clips.flatMap((clip) => clip.missing));
  if (missing.size > 0)
    console.warn(`Tracks skipped, since "${label}" has no such nodes: ${listNames([...missing])}.`);
  const unsupported = new Set(clips.flatMap((clip) => clip.unsupported));
  if (unsupported.size > 0)
    console.warn(
      `Tracks skipped, since only position, rotation and scale, and morph targets of what is drawn, are baked: ${listNames([...unsupported])}.`,
    );
  // Loaders of VRM, and some exporters, keep a second skeleton beside the one that vertices follow.
  const needed = nodesAbove(parents, [...jointNodes, ...parts.map(({ node }) => node)]);
  const still = clips.filter(
    ({ channels }) =>
      channels.length > 0 && channels.every(({ node, property }) => property !== MORPHS && !needed.has(node)),
  );
  if (still.length === 0) return;
  warnOnce(
    `Nothing that is drawn under "${label}" hangs on the nodes that these clips move: ${listNames(still.map(({ name }) => name))}; ` +
      'retarget them to the bones that vertices follow, or leave them out with options.clips.',
  );
}
