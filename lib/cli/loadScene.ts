import type { Accessor, Animation, Document, Mesh } from '@gltf-transform/core';
import { MeshoptDecoder } from 'meshoptimizer';
import { type AnimationClip, type Object3D, PropertyBinding, Texture } from 'three';
import { type GLTF, GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { buildGlb, parseGlb } from '../files/glb.js';
import { attempt, inputError } from './CommandError.js';
import { compressMeshes } from './compressMeshes.js';
import type { BakeRequest } from './options.js';
import { createIO, createPlainIO, DRACO, openDocument, type SourceFile } from './readSource.js';

/**
 * The scene that three.js's own loader makes of a file in a page, so that nodes have the names and the order that they have
 * there. Textures are empty: images are for browsers, and baking does not look at them.
 *
 * @param glb A .glb that needs no other file.
 */
export async function loadScene(glb: Uint8Array): Promise<GLTF> {
  const loader = new GLTFLoader().setMeshoptDecoder(MeshoptDecoder);
  loader.register(() => ({ name: 'SIM_empty_textures', loadTexture: async () => new Texture() }));
  const gltf = await loader.parseAsync(withoutImages(await withoutDraco(glb)), '');
  gltf.scene.updateMatrixWorld(true);
  return gltf;
}

/** Numbers of textures stay, since materials name them, but not what they are stored as. */
function withoutImages(glb: Uint8Array): ArrayBuffer {
  const { json, binary } = parseGlb(glb);
  const textures = (json.textures as object[] | undefined)?.map(() => ({}));
  return buildGlb({ ...json, textures, images: undefined }, binary).buffer as ArrayBuffer;
}

/** three.js's loader unpacks Draco in workers of browsers, so that here it is done before. */
async function withoutDraco(glb: Uint8Array): Promise<Uint8Array> {
  const { extensionsUsed } = parseGlb(glb).json as { extensionsUsed?: string[] };
  if (extensionsUsed?.includes(DRACO) !== true) return glb;
  const io = await createIO([], true);
  return createPlainIO().writeBinary(await io.readBinary(glb));
}

/**
 * Renames the tracks of one scene's clips, so that they play in another of the same structure. The loader numbers nodes of one
 * name in the order in which it meets them, which is another one when the file has no animations.
 */
function renameTracks(clips: readonly AnimationClip[], from: Object3D, to: Object3D): void {
  const targets = new Map<string, string>();
  const nodes = nodesOf(to);
  for (const [i, node] of nodesOf(from).entries()) {
    targets.set(node.name || node.uuid, nodes[i].name || nodes[i].uuid);
  }
  for (const track of clips.flatMap(({ tracks }) => tracks)) {
    const dot = track.name.lastIndexOf('.');
    const target = targets.get(track.name.slice(0, dot));
    if (target !== undefined) track.name = target + track.name.slice(dot);
  }
}

function nodesOf(root: Object3D): Object3D[] {
  const nodes: Object3D[] = [];
  root.traverse((node) => nodes.push(node));
  return nodes;
}

/** Makes all of a document lie in one buffer, which a .glb asks for. */
export function mergeBuffers(document: Document): void {
  const root = document.getRoot();
  const [first = document.createBuffer(), ...others] = root.listBuffers();
  first.setURI('');
  for (const accessor of root.listAccessors()) accessor.setBuffer(first);
  for (const buffer of others) buffer.dispose();
}

/** Has a document written without Draco, whose encoder is not here. @returns Whether it was packed by it. */
export function unpackDraco(document: Document): boolean {
  const draco = extensionNamed(document, DRACO);
  draco?.dispose();
  return draco !== undefined;
}

/** Removes the source's own clips, and the keys that nothing else uses. */
function removeAnimations(document: Document): void {
  for (const animation of document.getRoot().listAnimations()) {
    const accessors = keysOf(animation);
    for (const channel of animation.listChannels()) channel.dispose();
    for (const sampler of animation.listSamplers()) sampler.dispose();
    animation.dispose();
    disposeUnused(accessors);
  }
}

/**
 * Removes the meshes of nodes, and the vertices that nothing else uses. The nodes stay, since clips and joints may name them.
 *
 * @param names As three.js or the file has them, of the nodes or of their meshes.
 */
function removeParts(document: Document, names: readonly string[]): void {
  const parts = document
    .getRoot()
    .listNodes()
    .flatMap((node) => {
      const mesh = node.getMesh();
      const own = [node.getName(), mesh?.getName() ?? ''];
      return mesh === null
        ? []
        : [{ node, mesh, own: [...own, ...own.map(PropertyBinding.sanitizeNodeName)] }];
    });
  for (const name of names) {
    const found = parts.filter(({ own }) => own.includes(name));
    if (found.length === 0) {
      const all = parts.map(({ node }) => `"${node.getName()}"`).join(', ');
      throw inputError(`bake: --drop-parts names "${name}", but there is no such part; there are ${all}`);
    }
    for (const { node } of found) node.setMesh(null);
  }
  const left = new Set(parts.flatMap(({ node }) => node.getMesh() ?? []));
  for (const mesh of new Set(parts.map((part) => part.mesh))) if (!left.has(mesh)) removeMesh(mesh);
}

function removeMesh(mesh: Mesh): void {
  for (const primitive of mesh.listPrimitives()) {
    const targets = primitive.listTargets();
    const accessors = [primitive, ...targets].flatMap((one) => one.listAttributes());
    const indices = primitive.getIndices();
    for (const one of [...targets, primitive]) one.dispose();
    disposeUnused(indices === null ? accessors : [...accessors, indices]);
  }
  mesh.dispose();
}

function extensionNamed(document: Document, name: string) {
  return document
    .getRoot()
    .listExtensionsUsed()
    .find(({ extensionName }) => extensionName === name);
}

function keysOf(animation: Animation): Accessor[] {
  return animation
    .listSamplers()
    .flatMap((sampler) => [sampler.getInput(), sampler.getOutput()])
    .filter((accessor) => accessor !== null);
}

/** Disposes accessors that only the list of all accessors still knows. */
function disposeUnused(accessors: readonly Accessor[]): void {
  for (const accessor of new Set(accessors)) {
    const isUsed = accessor.listParents().some(({ propertyType }) => propertyType !== 'Root');
    if (!isUsed && !accessor.isDisposed()) accessor.dispose();
  }
}

/**
 * Makes one .glb of a file. One that is a .glb already stays as it is, byte for byte, with everything that its JSON and its buffer
 * have, known here or not. All others are written anew by glTF-Transform.
 *
 * @param drop What is left out: the source's own clips, and parts; and whether meshes are compressed.
 * @param warnings Gets what is lost.
 * @returns The file that what is baked is added to, the scene that a page has of it, and the source's clips, for that scene.
 * @throws If there is nothing in it to be baked.
 */
export async function containerOf(
  source: SourceFile,
  drop: Pick<BakeRequest, 'dropSourceAnimations' | 'dropParts' | 'compressMeshes'>,
  warnings: string[],
): Promise<{ glb: Uint8Array; gltf: GLTF; clips: AnimationClip[] }> {
  const { command, file, json } = source;
  if ((json.scenes ?? []).length === 0)
    throw inputError(`${command}: ${file} has no scene; export it with one`);
  if ((json.animations ?? []).length === 0) {
    throw inputError(`${command}: ${file} has no animations; export it with some`);
  }
  const isKept = !drop.dropSourceAnimations && drop.dropParts.length === 0 && !drop.compressMeshes;
  if (source.glb !== null && isKept) {
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
  removeParts(document, drop.dropParts);
  if (drop.compressMeshes) compressMeshes(document);
  const glb = withChunksOf(source, await write(document, warnings));
  const gltf = await sceneOf(source, glb);
  const clips = gltf.animations;
  if (!drop.dropSourceAnimations) return { glb, gltf, clips };

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

/** {@link loadScene} of what a file is. @throws A CommandError if it cannot be loaded. */
export function sceneOf({ command, file }: SourceFile, glb: Uint8Array): Promise<GLTF> {
  return attempt(`${command}: three.js cannot load ${file}`, () => loadScene(glb));
}

async function write(document: Document, warnings: string[]): Promise<Uint8Array> {
  return (await createIO(warnings, false)).writeBinary(document);
}
