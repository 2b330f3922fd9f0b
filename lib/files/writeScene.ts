import { type AnimationClip, DataUtils, InterpolateDiscrete, Matrix4, PropertyBinding } from 'three';
import type { BoneTextureData } from '../animation/BoneTextureData.js';
import type { PoseTracks } from '../animation/PoseTracks.js';
import { TRS_SIZE } from '../animation/Rig.js';
import { AFFINE_SIZE } from '../constants.js';
import { affineToMatrix4 } from '../utils/affine.js';
import type { GltfWriter, JSONObject } from './glb.js';
import { EXTENSION, VERSION } from './StoredCharacter.js';

/** A scene with nodes of the joints at rest, if there are any, and the mesh that follows them. */
export function writeScene(
  writer: GltfWriter,
  data: BoneTextureData | null,
  name: string,
  mesh: number,
  animations: readonly AnimationClip[],
): void {
  const node: JSONObject = { name, mesh, extras: { [EXTENSION]: VERSION } };
  const roots: number[] = [];
  if (data !== null) {
    const first = writer.count('nodes');
    const { nodes, parents, joints, inverses } =
      data.tracks === null ? restOfFrames(data) : restOfTracks(data.tracks);
    nodes.forEach((one, i) => {
      const children = parents.flatMap((parent, k) => (parent === i ? [first + k] : []));
      writer.add('nodes', { ...one, ...(children.length > 0 && { children }) });
      if (parents[i] < 0) roots.push(first + i);
    });
    writeAnimations(writer, animations, nodes, first);
    const inverseBindMatrices = writer.accessor(Float32Array.from(inverses), 16, 'matrices');
    node.skin = writer.add('skins', { joints: joints.map((joint) => first + joint), inverseBindMatrices });
  }
  writer.add('scenes', { name, nodes: [...roots, writer.add('nodes', node)] });
}

/** Nodes at rest, the parent of each, and which of them the joints are, with their inverse bind matrices. */
function restOfTracks({ names, parents, rest, fixed, jointNodes, inverses }: PoseTracks) {
  const nodes: JSONObject[] = names.map((name, i) => {
    // The root's own transform is left out.
    if (i === 0) return { name };
    const at = i * AFFINE_SIZE;
    if (!Number.isNaN(fixed[at])) return { name, matrix: matrix4(fixed, at) };
    const trs = Array.from(rest.subarray(i * TRS_SIZE, (i + 1) * TRS_SIZE), short);
    return { name, translation: trs.slice(0, 3), rotation: trs.slice(3, 7), scale: trs.slice(7) };
  });
  const up = [...parents];
  // A skin has each node once.
  const joints = Array.from(jointNodes, (node, i) => {
    if (jointNodes.indexOf(node) === i) return node;
    up.push(node);
    return nodes.push({ name: names[node] }) - 1;
  });
  return {
    nodes,
    parents: up,
    joints,
    inverses: joints.flatMap((_, i) => matrix4(inverses, i * AFFINE_SIZE)),
  };
}

/** The same of frames, which know joints by what they make of vertices: the first frame is the rest pose. */
function restOfFrames({ jointNames, texels }: BoneTextureData): ReturnType<typeof restOfTracks> {
  const first = texels.subarray(0, jointNames.length * AFFINE_SIZE);
  const rest = first instanceof Uint16Array ? Array.from(first, DataUtils.fromHalfFloat) : first;
  return {
    nodes: jointNames.map((name, i) => ({ name, matrix: matrix4(rest, i * AFFINE_SIZE) })),
    parents: jointNames.map(() => -1),
    joints: [...jointNames.keys()],
    inverses: jointNames.flatMap(() => new Matrix4().elements),
  };
}

/** A number as viewers need it: what crowds play is stored elsewhere. */
const short = (value: number): number => Number(value.toPrecision(7));

/** Twelve numbers row by row as glTF's sixteen. */
const matrix4 = (affine: ArrayLike<number>, at: number): number[] =>
  affineToMatrix4(affine, at, new Matrix4()).elements;

const PATHS: Record<string, string> = { position: 'translation', quaternion: 'rotation', scale: 'scale' };

/**
 * Adds clips that viewers play: crowds have their own.
 *
 * @param nodes Those that clips may move, by their names.
 * @param first Number of the first of them in the document.
 */
function writeAnimations(
  writer: GltfWriter,
  clips: readonly AnimationClip[],
  nodes: readonly JSONObject[],
  first: number,
): void {
  const known = new Map<string, number>();
  const store = (values: ArrayLike<number>, size: number, use: 'times' | 'keys') => {
    const key = [size, ...Array.from(values)].join();
    const at = known.get(key) ?? writer.accessor(Float32Array.from(values), size, use);
    known.set(key, at);
    return at;
  };
  for (const { name, tracks } of clips) {
    const samplers: JSONObject[] = [];
    const channels = tracks.flatMap((track) => {
      const { nodeName, propertyName } = PropertyBinding.parseTrackName(track.name);
      const path = PATHS[propertyName];
      const node = nodes.findIndex((one, i) => i > 0 && one.name === nodeName && one.matrix === undefined);
      if (path === undefined || node < 0) return [];
      const input = store(track.times, 1, 'times');
      const output = store(track.values, path === 'rotation' ? 4 : 3, 'keys');
      const { createInterpolant } = track as { createInterpolant?: object };
      const isCubic = 'isInterpolantFactoryMethodGLTFCubicSpline' in (createInterpolant ?? {});
      const isStepped = track.getInterpolation() === InterpolateDiscrete;
      const interpolation = isCubic ? 'CUBICSPLINE' : isStepped ? 'STEP' : 'LINEAR';
      samplers.push({ input, output, interpolation });
      return { sampler: samplers.length - 1, target: { node: first + node, path } };
    });
    if (channels.length > 0) writer.add('animations', { name, samplers, channels });
  }
}
