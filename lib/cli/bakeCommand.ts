import { MeshoptEncoder } from 'meshoptimizer';
import type { AnimationClip, Object3D } from 'three';
import type { BakeOptions } from '../baking/BakeOptions.js';
import { bakeBoneTextureAsync } from '../baking/bakeBoneTexture.js';
import { extractRootMotion } from '../baking/rootMotion.js';
import { findUnsupported } from '../character/collectParts.js';
import { type WriteOptions, writeBoneTexture } from '../format/writeBoneTexture.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import { bakeVertexTextureAsync } from '../vertexTextures/bakeVertexTexture.js';
import { type BakeReport, bakeReport } from './bakeReport.js';
import { type BakeRequest, bakeRequest } from './bakeRequest.js';
import { inputError } from './CommandError.js';
import { checkVersion } from './checkVersion.js';
import { chooseClips, matching, namesIn } from './chooseClips.js';
import { collectWarnings } from './collectWarnings.js';
import { containerOf } from './containerOf.js';
import { makeLevels } from './makeLevels.js';
import type { Progress } from './Progress.js';
import { readSource } from './readSource.js';
import { reasonOf } from './reasonOf.js';
import { checkOutput, writeWhole } from './writeFile.js';

/**
 * Bakes the clips of a file, and writes it again with what was baked.
 *
 * @throws A CommandError if the command line or the file is wrong.
 */
export async function bakeCommand(args: string[], progress: Progress): Promise<BakeReport> {
  const request = bakeRequest(args);
  const { input, output } = request;
  const warnings: string[] = [];
  progress.begin(`reading ${input}`);
  const source = await readSource('bake', input);
  checkVersion(source, 'or bake the file that this one was made from');
  checkOutput('bake', output, input, request.force);

  return collectWarnings(warnings, async () => {
    const { glb, gltf, clips } = await containerOf(source, request.dropSourceAnimations, warnings);
    warnings.push(...unsupportedIn(gltf.scene));
    const boneTexture = await bake(gltf.scene, clips, request, progress);
    if (request.levels.length > 0) progress.begin(`making ${request.levels.length} levels of detail`);
    const { made, written: levels } = await makeLevels(gltf.scene, boneTexture, request);
    progress.begin(`writing ${output}`);
    await MeshoptEncoder.ready;
    const { clips: _, rootMotion: __, encoding, ...bakeOptions } = request.options;
    const bytes = written(input, boneTexture, {
      into: glb,
      meshoptEncoder: request.compress ? MeshoptEncoder : undefined,
      name: gltf.scene.name || undefined,
      bakeOptions: { ...bakeOptions, encoding: encoding?.name },
      hiddenParts: request.hiddenParts.length > 0 ? request.hiddenParts : undefined,
      mergeMaterials: request.mergeMaterials,
      ...levels,
    });
    writeWhole('bake', output, bytes);
    return bakeReport(request, { input: source.bytes, output: bytes }, boneTexture, made, warnings);
  });
}

function written(input: string, boneTexture: BoneTexture, options: WriteOptions): Uint8Array {
  try {
    return writeBoneTexture(boneTexture, options);
  } catch (error) {
    throw inputError(`bake: ${input} cannot be added to: ${reasonOf(error)}`, error);
  }
}

/** Warnings of what cannot be made part of a crowd. */
function unsupportedIn(scene: Object3D): string[] {
  return findUnsupported(scene).map(
    ({ name, type }) => `"${name}" (${type}) cannot be part of a crowd, and is left out.`,
  );
}

async function bake(
  scene: Object3D,
  clips: readonly AnimationClip[],
  request: BakeRequest,
  progress: Progress,
): Promise<BoneTexture> {
  const chosen = chooseClips(clips, request.clips, request.exclude);
  const moving = matching(clips, '--root-motion-clips', namesIn(clips, request.rootMotionClips));
  const options: BakeOptions = { ...request.options, clips: chosen };
  if (moving.length > 0)
    options.rootMotion = extractRootMotion({ ...options.rootMotion?.options, clips: moving });
  progress.begin(`baking ${chosen.length} ${chosen.length === 1 ? 'clip' : 'clips'}`);
  try {
    const onProgress = (share: number) => progress.share(share);
    if (!request.vat) return await bakeBoneTextureAsync(scene, clips, { ...options, onProgress });
    const { fps, precision, maxTextureSize } = options;
    return await bakeVertexTextureAsync(scene, clips, {
      clips: chosen,
      onProgress,
      // Defaults are not undefined there.
      ...(fps !== undefined && { fps }),
      ...(precision && { precision }),
      ...(maxTextureSize !== undefined && { maxTextureSize }),
    });
  } catch (error) {
    throw inputError(`bake: ${(error as Error).message.replace(/^bakeVertexTexture: /, '')}`, error);
  }
}
