import { WebIO } from '@gltf-transform/core';
import { MeshoptEncoder } from 'meshoptimizer';
import { bakeBoneTexture, bakeCharacter, SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import {
  bakedCharactersOf,
  SkinnedInstancedMeshExtension,
  writeBoneTexture,
} from 'skinned-instanced-mesh/files';
import { BakedAnimation } from 'skinned-instanced-mesh/gltf-transform';
import { MeshoptDecoder } from 'three/addons/libs/meshopt_decoder.module.js';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { createCharacter } from '../../demos/character.js';
import { parseGlb } from '../../lib/files/glb.js';
import { animationBytes } from '../support/animationBytes.js';
import { exportGlb } from '../support/exportGlb.js';

/** A file, and the same with its animation baked, as base64 so that another page can load them. */
export interface BenchFiles {
  plain: string;
  baked: string;
  /** Bytes that baking has added, and those of the clips in the source. */
  added: number;
  source: number;
}

const ROUNDS = 5;

async function readSource(model: string): Promise<Uint8Array> {
  if (model !== 'built-in') return new Uint8Array(await (await fetch(`/__models__/${model}`)).arrayBuffer());
  const { root, clips } = createCharacter();
  return new Uint8Array(await exportGlb(root, clips));
}

/** Bakes a file into another, whose clips nobody loads, as those of the command. */
export async function writeFiles(model: string): Promise<BenchFiles> {
  await MeshoptEncoder.ready;
  const source = await readSource(model);
  const gltf = await new GLTFLoader().parseAsync(source.slice().buffer, '');
  const boneTexture = bakeBoneTexture(gltf.scene, gltf.animations, { precision: 'half', maxError: 1e-3 });
  const written = writeBoneTexture(boneTexture, { into: source, meshoptEncoder: MeshoptEncoder });
  const { json } = parseGlb(written);
  const baked = await withoutAnimations(written);
  return {
    plain: toText(source),
    baked: toText(baked),
    added: written.length - source.length,
    source: animationBytes(json as never),
  };
}

/** The file without its own clips and their keys, as the command writes it with --drop-source-animations. */
async function withoutAnimations(file: Uint8Array): Promise<Uint8Array> {
  const io = new WebIO().registerExtensions([BakedAnimation]);
  const document = await io.readBinary(file);
  for (const animation of document.getRoot().listAnimations()) {
    const samplers = animation.listSamplers();
    const keys = samplers.flatMap((sampler) => [sampler.getInput(), sampler.getOutput()]);
    for (const one of [...animation.listChannels(), ...samplers, animation]) one.dispose();
    for (const accessor of keys) {
      if (accessor?.listParents().every(({ propertyType }) => propertyType === 'Root')) accessor.dispose();
    }
  }
  return io.writeBinary(document);
}

/** Milliseconds from the bytes of a file to a crowd, in each of some rounds; the first is a cold start. */
export async function loadFile(text: string): Promise<number[]> {
  await MeshoptDecoder.ready;
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    const loader = new GLTFLoader().setMeshoptDecoder(MeshoptDecoder);
    loader.register((parser) => new SkinnedInstancedMeshExtension(parser));
    const gltf = await loader.parseAsync(bytes.buffer, '');
    const [character = bakeCharacter(gltf.scene, gltf.animations, { precision: 'half', maxError: 1e-3 })] =
      bakedCharactersOf(gltf);
    const crowd = new SkinnedInstancedMesh(character, 100);
    times.push(performance.now() - start);
    crowd.dispose();
  }
  return times;
}

function toText(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
