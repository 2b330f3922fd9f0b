import { getVertexPosition } from 'skinned-instanced-mesh';
import { type AnimationClip, AnimationMixer, LoopOnce, Matrix4, type Object3D, Vector3 } from 'three';
import type { BoneTexture } from '../animation/BoneTexture.js';
import type { BakedClip } from '../animation/ClipTable.js';
import { bakeCharacterAsync } from '../baking/bakeCharacter.js';
import { bindClip } from '../baking/channels.js';
import { RigPoser } from '../baking/RigPoser.js';
import type { Character } from '../character/assembleCharacter.js';
import { collectRig } from '../character/collectRig.js';
import { SkinnedInstancedMesh } from '../crowd/SkinnedInstancedMesh.js';
import { bakedCharactersOf, type LoadedCharacter } from '../files/SkinnedInstancedMeshExtension.js';
import { type DocumentOfFile, type StoredLevel, storedIn } from '../files/StoredCharacter.js';
import {
  bytesByKind,
  describeCharacter,
  describeJoints,
  formatBytes,
  formatNumber,
  formatTable,
  type LevelReport,
  levelLines,
  warningLines,
} from './formatText.js';
import { attempt, collectWarnings, inputError, type Progress, type Result } from './messages.js';
import { INSPECT_HELP, parseOptions } from './options.js';
import { readSource, type SourceFile, sceneOf } from './readSource.js';

/** What `inspect` tells of a file, with `--json` as it is. */
export type InspectReport = Awaited<ReturnType<typeof inspectFile>>;

/**
 * Says what is in a file: what was baked into it, or what baking would make of it, and how near that is to the source.
 *
 * @throws A CommandError if the command line or the file is wrong.
 */
export async function inspectCommand(args: string[], progress: Progress): Promise<Result> {
  const json = await inspectFile(args, progress);
  return { json, text: inspectText(json) };
}

async function inspectFile(args: string[], progress: Progress) {
  const { file, isGiven } = parseOptions('inspect', INSPECT_HELP, args);
  const warnings: string[] = [];
  progress.begin(`reading ${file}`);
  const source = await readSource('inspect', file, isGiven('outside'));
  const { json, bytes, content } = source;
  const work = () => inspectCharacters(source, !isGiven('no-errors'), progress);
  const characters = await collectWarnings(warnings, work);
  const images = (json.images ?? []).map(({ uri = '' }) => content.resources[uri]?.byteLength ?? 0);
  const beside = images.reduce((sum, size) => sum + size, 0);
  /** Of the extension `SIM_baked_animation`; null if the file has not been baked. */
  const version = [...storedIn(json as DocumentOfFile).values()][0]?.version ?? null;
  return { file, bytes, bytesByKind: bytesByKind(json, beside), version, characters, warnings };
}

async function inspectCharacters(source: SourceFile, compares: boolean, progress: Progress) {
  const hasScene = (source.json.scenes ?? []).length > 0;
  if (!hasScene) throw inputError(`inspect: ${source.file} has neither a scene nor a baked character`);
  const gltf = await sceneOf(source, true);
  const { scene, animations } = gltf;
  const stored = await attempt('inspect', () => bakedCharactersOf(gltf));
  const characters: (Character & Partial<LoadedCharacter>)[] = [...stored];
  const baked = stored.length > 0;
  if (!baked) {
    const options = { skipUnsupported: true };
    characters.push(await attempt('inspect', () => bakeCharacterAsync(scene, animations, options)));
  }
  const compare = () => clipErrors(scene, animations, characters[0], progress);
  // Of tracks without a target the mixer warns too, which the report lists as dropped.
  const errors = baked || !compares ? [] : await collectWarnings([], compare);
  const tracks = baked ? [] : trackCounts(scene, animations);
  return characters.map((character) => {
    const { clips, ...report } = describeCharacter(character);
    return {
      ...report,
      /** False if the file has not been baked: then this is what baking would make of it. */
      baked,
      levels: (character.levels ?? []).map(describeLevel),
      clips: clips.map((clip, i) => ({
        ...clip,
        /** How many of the source are stored, and which baking leaves out; null if the file is baked. */
        tracks: tracks[i] ?? null,
        /** How far it is from the source; null if that was not compared. */
        error: errors[i] ?? null,
      })),
    };
  });
}

const describeLevel = ({ start, options, error, indices }: StoredLevel): LevelReport => ({
  triangles: (indices?.length ?? 0) / 3,
  error,
  ...(typeof start === 'number' ? { distance: start } : start),
  hysteresis: options.hysteresis,
  influences: options.influences,
});

/** The report in words. */
function inspectText(report: InspectReport): string {
  const { file, bytes, bytesByKind, version, characters, warnings } = report;
  const state =
    version === null ? 'not baked; this is what `bake` would make of it' : `baked, version ${version}`;
  const kinds = Object.entries(bytesByKind).filter(([, size]) => size > 0);
  const sizes = kinds.map(([kind, size]) => [kind, formatBytes(size)]);
  const lines = [`${file}: ${formatBytes(bytes)}, ${state}`, '', ...formatTable(['part', 'size'], sizes)];
  for (const character of characters) lines.push('', ...characterLines(character));
  return [...lines, ...(warnings.length > 0 ? [''] : []), ...warningLines(warnings)].join('\n');
}

function characterLines(character: InspectReport['characters'][number]): string[] {
  const { name, morphTargets, clips, levels, textureBytes } = character;
  const morphs = morphTargets.length === 0 ? '' : `, ${morphTargets.length} morph targets`;
  const lines = [
    `${name || 'Character'}: ${clips.length} clips${morphs}, ${describeJoints(character)}, ${formatBytes(textureBytes)} on the GPU`,
    '',
    ...formatTable(
      ['clip', 'seconds', 'frames', 'fps', 'size', 'tracks', 'dropped', 'worst error', 'at', 'more'],
      clips.map(({ name, duration, frames, fps, textureBytes, tracks, error, rootMotion, markers }) => [
        name,
        duration.toFixed(2),
        String(frames),
        formatNumber(fps),
        formatBytes(textureBytes),
        tracks === null ? '–' : String(tracks.stored),
        tracks === null ? '–' : String(tracks.dropped.length),
        error === null ? '–' : error.worst.toExponential(1),
        error === null ? '–' : `${error.time.toFixed(2)} s`,
        [...(rootMotion ? ['root motion'] : []), ...markers.map((marker) => marker.name)].join(', '),
      ]),
    ),
  ];
  if (clips.some(({ error }) => error !== null))
    lines.push('', 'Errors: how far vertices are from where an AnimationMixer puts them, of the height.');
  return [...lines, ...levelLines(levels)];
}

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
function clipErrors(
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
function trackCounts(root: Object3D, clips: readonly AnimationClip[]) {
  const poser = new RigPoser(collectRig(root, { morphing: true }).rig);
  return clips.map((clip) => {
    const { missing, unsupported } = bindClip(poser, clip);
    const dropped = [...missing, ...unsupported];
    return { stored: clip.tracks.length - dropped.length, dropped };
  });
}
