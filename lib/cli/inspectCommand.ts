import { MeshoptDecoder } from 'meshoptimizer';
import type { AnimationClip, Object3D } from 'three';
import type { GLTF } from 'three/addons/loaders/GLTFLoader.js';
import { bakeBoneTextureAsync } from '../baking/bakeBoneTexture.js';
import type { CharacterJSON } from '../format/bakedJSON.js';
import { parseGlb } from '../format/glb.js';
import { charactersOf, readTexture } from '../format/readCharacters.js';
import { frames } from '../frames/frames.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import { VertexTexture } from '../vertexTextures/VertexTexture.js';
import { extensionOf } from './bakedParts.js';
import { bytesByKind } from './bytesByKind.js';
import { inputError } from './CommandError.js';
import { checkVersion } from './checkVersion.js';
import { clipErrors } from './clipErrors.js';
import { collectWarnings } from './collectWarnings.js';
import { describeTexture } from './describeTexture.js';
import { createIO } from './gltfIO.js';
import type { InspectedCharacter, InspectedClip, InspectReport } from './inspectReport.js';
import { loadScene } from './loadScene.js';
import { type OptionTable, onlyFile, parseOptions } from './options.js';
import type { Progress } from './Progress.js';
import { mergeBuffers, unpackDraco } from './prepareDocument.js';
import { openDocument, readSource, type SourceFile } from './readSource.js';
import { reasonOf } from './reasonOf.js';
import { trackCounts } from './trackCounts.js';

export const INSPECT_OPTIONS = {
  'no-errors': { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies OptionTable;

/**
 * Says what is in a file: what was baked into it, or what baking would make of it, and how near that is to the source.
 *
 * @throws A CommandError if the command line or the file is wrong.
 */
export async function inspectCommand(args: string[], progress: Progress): Promise<InspectReport> {
  const parsed = parseOptions('inspect', INSPECT_OPTIONS, args);
  const file = onlyFile(parsed, 'inspect');
  const warnings: string[] = [];
  progress.begin(`reading ${file}`);
  const source = await readSource('inspect', file);
  checkVersion(source, 'or inspect the file that this one was made from');
  const { json, bytes } = source;
  const external = externalImages(source);

  const work = () => inspectCharacters(source, !parsed.flag('no-errors'), progress, warnings);
  const characters = await collectWarnings(warnings, work);
  return {
    file,
    bytes,
    bytesByKind: bytesByKind(json, external),
    version: extensionOf(json)?.version ?? null,
    characters,
    warnings,
  };
}

async function inspectCharacters(
  source: SourceFile,
  errors: boolean,
  progress: Progress,
  warnings: string[],
): Promise<InspectedCharacter[]> {
  const glb = source.glb ?? (await asGlb(source, warnings));
  const gltf = (source.json.scenes ?? []).length > 0 ? await load(source, glb) : null;
  // Of a .gltf the views have other numbers where it has been written as a .glb.
  const { json } = parseGlb(glb);
  const inspected: InspectedCharacter[] = [];
  for (const [index, character] of baked(json).entries()) {
    const boneTexture = await read(source, glb, character, index);
    const root = gltf === null ? null : rootOf(gltf, character);
    const clips = await inspectClips(root, gltf?.animations ?? [], boneTexture, errors, progress);
    inspected.push(
      describe(character.name ?? root?.name ?? '', boneTexture, clips, levelsOf(character), true),
    );
  }
  if (inspected.length > 0) return inspected;

  const root = gltf?.scene ?? null;
  if (root === null || gltf === null)
    throw inputError(`inspect: ${source.file} has neither a scene nor a baked animation`);
  const boneTexture = await bake(root, gltf.animations);
  const clips = await inspectClips(root, gltf.animations, boneTexture, errors, progress);
  return [describe(root.name, boneTexture, clips, [], false)];
}

async function asGlb(source: SourceFile, warnings: string[]): Promise<Uint8Array> {
  const document = await openDocument(source, warnings);
  mergeBuffers(document);
  unpackDraco(document);
  return (await createIO(warnings, false)).writeBinary(document);
}

async function load({ file }: SourceFile, glb: Uint8Array): Promise<GLTF> {
  try {
    return await loadScene(glb);
  } catch (error) {
    throw inputError(`inspect: three.js cannot load ${file}: ${reasonOf(error)}`, error);
  }
}

function baked(json: Record<string, unknown>): CharacterJSON[] {
  try {
    return (charactersOf(json) ?? []) as unknown as CharacterJSON[];
  } catch (error) {
    throw inputError(`inspect: ${reasonOf(error)}`, error);
  }
}

async function read({ file }: SourceFile, glb: Uint8Array, character: CharacterJSON, index: number) {
  const { json, binary } = parseGlb(glb);
  const source = {
    json,
    buffer: async () => binary,
    meshoptDecoder: MeshoptDecoder,
    vertexTextures: VertexTexture,
    frames,
  };
  try {
    return await readTexture(source, character as unknown as Record<string, unknown>, index);
  } catch (error) {
    throw inputError(`inspect: ${file}: ${reasonOf(error)}`, error);
  }
}

async function bake(root: Object3D, clips: AnimationClip[]): Promise<BoneTexture> {
  try {
    return await bakeBoneTextureAsync(root, clips);
  } catch (error) {
    throw inputError(`inspect: ${(error as Error).message}`, error);
  }
}

/** What a character's clips play in. */
function rootOf({ scene, scenes, parser }: GLTF, { scene: index, node }: CharacterJSON): Object3D {
  if (node === undefined) return (index === undefined ? null : scenes[index]) ?? scene;
  for (const [object, { nodes }] of parser.associations) if (nodes === node) return object as Object3D;
  return scene;
}

async function inspectClips(
  root: Object3D | null,
  clips: readonly AnimationClip[],
  boneTexture: BoneTexture,
  errors: boolean,
  progress: Progress,
): Promise<InspectedClip[]> {
  const counts = root === null ? [] : trackCounts(root, clips, true);
  const worst = new Map<number, InspectedClip['error']>();
  if (errors && root !== null && clips.length > 0) {
    progress.begin(`comparing ${boneTexture.clips.length} clips with the source`);
    // Of tracks without a target the mixer warns too, which the report lists as dropped.
    await collectWarnings([], () => {
      for (const { error, time } of clipErrors(root, clips, boneTexture)) {
        worst.set(worst.size, error === null ? null : { worst: error, time });
        progress.share(worst.size / boneTexture.clips.length);
      }
    });
  }
  return boneTexture.clips.map(({ name, duration, count, fps, rootMotion, markers }, i) => ({
    name,
    duration,
    frames: count,
    fps,
    rootMotion: rootMotion !== null,
    markers,
    tracks: counts[clips.findIndex((clip) => clip.name === name)] ?? null,
    error: worst.get(i) ?? null,
  }));
}

function describe(
  name: string,
  boneTexture: BoneTexture,
  clips: InspectedClip[],
  levels: InspectedCharacter['levels'],
  isBaked: boolean,
): InspectedCharacter {
  return {
    name,
    baked: isBaked,
    ...describeTexture(boneTexture),
    clips,
    levels,
  };
}

function levelsOf({ levels }: CharacterJSON): InspectedCharacter['levels'] {
  return (levels?.list ?? []).map(({ indices, distance, screenShare, hysteresis, influences, error }) => {
    const corners = indices === undefined ? 0 : (levels?.arrays[indices].length ?? 0);
    return { triangles: corners / 3, error, distance, screenShare, hysteresis, influences };
  });
}

/** Bytes of images in files of their own. */
function externalImages({ json: { images = [] }, content: { resources } }: SourceFile): number {
  return images.reduce(
    (sum, { uri }) => sum + (uri === undefined ? 0 : (resources[uri]?.byteLength ?? 0)),
    0,
  );
}
