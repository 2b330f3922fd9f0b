import { getVertexPosition } from 'skinned-instanced-mesh';
import { type AnimationClip, AnimationMixer, LoopOnce, Matrix4, type Object3D, Vector3 } from 'three';
import type { BoneTexture } from '../animation/BoneTexture.js';
import type { BakedClip } from '../animation/ClipTable.js';
import { bindClip } from '../baking/channels.js';
import { RigPoser } from '../baking/RigPoser.js';
import type { Character } from '../character/assembleCharacter.js';
import { collectRig } from '../character/collectRig.js';
import { SkinnedInstancedMesh } from '../crowd/SkinnedInstancedMesh.js';
import type { Progress } from './messages.js';

/** How far a baked clip is from where three.js's mixer puts the character. */
interface ClipError {
  /** Largest distance of a vertex, as a share of the height. */
  worst: number;
  /** Seconds into the clip where that is. */
  time: number;
}

/** Times of each clip that are looked at: as many on frames as between them. */
const SAMPLES = 8;
/** Vertices that are looked at, spread over all parts. */
const MOST_VERTICES = 240;

const _expected = /*@__PURE__*/ new Vector3();
const _baked = /*@__PURE__*/ new Vector3();
const _toRoot = /*@__PURE__*/ new Matrix4();

/**
 * Compares baked clips with an AnimationMixer and three.js's own skinning, vertex by vertex. The scene is at rest again
 * afterwards.
 */
export function clipErrors(
  root: Object3D,
  clips: readonly AnimationClip[],
  character: Character,
  progress: Progress,
): ClipError[] {
  progress.begin(`comparing ${clips.length} clips with the source`);
  const { boneTexture } = character;
  const crowd = new SkinnedInstancedMesh(character, 1);
  crowd.setMatrixAt(0, _toRoot.identity());
  const samples = samplesOf(root);
  const height = heightOf(boneTexture);
  const mixer = new AnimationMixer(root);
  const errors: ClipError[] = [];

  for (const [index, baked] of boneTexture.clips.entries()) {
    const found: ClipError = { worst: 0, time: 0 };
    for (const time of timesOf(baked)) {
      const action = mixer.clipAction(clips[index]).reset().setLoop(LoopOnce, 1).play();
      action.clampWhenFinished = true;
      mixer.setTime(time);
      root.updateMatrixWorld(true);
      _toRoot.copy(root.matrixWorld).invert();
      crowd.play(0, index, { loop: LoopOnce, clampWhenFinished: true, timeScale: 0, time });
      for (const { vertex, mesh, own } of samples) {
        mesh.getVertexPosition(own, _expected).applyMatrix4(mesh.matrixWorld).applyMatrix4(_toRoot);
        getVertexPosition(crowd, 0, vertex, _baked);
        const error = _expected.distanceTo(_baked) / height;
        if (error > found.worst) Object.assign(found, { worst: error, time });
      }
      mixer.stopAllAction();
    }
    errors.push(found);
    progress.share(errors.length / clips.length);
  }
  mixer.uncacheRoot(root);
  root.updateMatrixWorld(true);
  crowd.dispose();
  return errors;
}

/** Frames in even steps through a clip, and after each the middle between it and the next. */
function timesOf({ count, duration }: BakedClip): number[] {
  if (count < 2) return [0];
  const frames = Array.from({ length: SAMPLES }, (_, i) => Math.floor((i / SAMPLES) * (count - 1)));
  return [...new Set(frames)]
    .flatMap((frame) => [frame, frame + 0.5])
    .map((at) => (at / (count - 1)) * duration);
}

/** Vertices of all parts, in the order in which a crowd's geometry has them, and where each is from. */
function samplesOf(root: Object3D) {
  const vertices = collectRig(root, {}).parts.flatMap(({ mesh, geometry }) =>
    Array.from({ length: geometry.getAttribute('position').count }, (_, own) => ({ mesh, own })),
  );
  const step = Math.max(1, Math.floor(vertices.length / MOST_VERTICES));
  return vertices.map((one, vertex) => ({ ...one, vertex })).filter(({ vertex }) => vertex % step === 0);
}

/** Height of the character at rest, in scene units; its longest side if it has none. */
function heightOf({ data: { restBounds } }: BoneTexture): number {
  const [width, height, depth] = [0, 1, 2].map((axis) => restBounds[axis + 3] - restBounds[axis]);
  return height || Math.max(width, depth) || 1;
}

/**
 * How many tracks of each clip are baked, and the names of those that are left out: their node is not there, or they move something that is
 * not baked.
 */
export function trackCounts(root: Object3D, clips: readonly AnimationClip[]) {
  const poser = new RigPoser(collectRig(root, { morphing: true }).rig);
  return clips.map((clip) => {
    const { missing, unsupported } = bindClip(poser, clip);
    const dropped = [...missing, ...unsupported];
    return { stored: clip.tracks.length - dropped.length, dropped };
  });
}
