import type { Document } from '@gltf-transform/core';
import type { AnimationClip } from 'three';
import type { GLTF } from 'three/addons/loaders/GLTFLoader.js';
import { buildGlb, parseGlb } from '../format/glb.js';
import { inputError } from './CommandError.js';
import { createIO } from './gltfIO.js';
import { loadScene, renameTracks } from './loadScene.js';
import { mergeBuffers, removeAnimations, unpackDraco } from './prepareDocument.js';
import { openDocument, type SourceFile } from './readSource.js';
import { reasonOf } from './reasonOf.js';

/** The file that what is baked is added to, and the scene that a page has of it. */
export interface Container {
  glb: Uint8Array;
  gltf: GLTF;
  /** The source's clips, for that scene. */
  clips: AnimationClip[];
}

/**
 * Makes one .glb of a file. One that is a .glb already stays as it is, byte for byte, with everything that its JSON and its buffer
 * have, known here or not. All others are written anew by glTF-Transform.
 *
 * @param drop Whether the source's own clips are left out.
 * @param warnings Gets what is lost.
 * @throws If there is nothing in it to be baked.
 */
export async function containerOf(source: SourceFile, drop: boolean, warnings: string[]): Promise<Container> {
  const { command, file, json } = source;
  if ((json.scenes ?? []).length === 0)
    throw inputError(`${command}: ${file} has no scene; export it with one`);
  if ((json.animations ?? []).length === 0) {
    throw inputError(`${command}: ${file} has no animations; export it with some`);
  }
  if (source.glb !== null && !drop) {
    const gltf = await sceneOf(source, source.glb);
    return { glb: source.glb, gltf, clips: gltf.animations };
  }

  const document = await openDocument(source, warnings);
  mergeBuffers(document);
  if (unpackDraco(document)) {
    warnings.push(
      'The file was packed by Draco, and is written without, since this command has only the decoder.',
    );
  }
  const glb = withChunksOf(source, await write(document, warnings));
  const gltf = await sceneOf(source, glb);
  const clips = gltf.animations;
  if (!drop) return { glb, gltf, clips };

  removeAnimations(document);
  const stripped = withChunksOf(source, await write(document, warnings));
  const still = await sceneOf(source, stripped);
  renameTracks(clips, gltf.scene, still.scene);
  return { glb: stripped, gltf: still, clips };
}

/** A .glb with what the source has besides its JSON and its buffer, which glTF-Transform does not keep. */
function withChunksOf(source: SourceFile, glb: Uint8Array): Uint8Array {
  const chunks = source.glb === null ? [] : parseGlb(source.glb).chunks;
  if (chunks.length === 0) return glb;
  const { json, binary } = parseGlb(glb);
  return buildGlb(json, binary, chunks);
}

async function sceneOf({ command, file }: SourceFile, glb: Uint8Array): Promise<GLTF> {
  try {
    return await loadScene(glb);
  } catch (error) {
    throw inputError(`${command}: three.js cannot load ${file}: ${reasonOf(error)}`, error);
  }
}

async function write(document: Document, warnings: string[]): Promise<Uint8Array> {
  return (await createIO(warnings, false)).writeBinary(document);
}
