import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { compileFunction } from 'node:vm';
import { type GLTF as Document, type JSONDocument, Logger, NodeIO, VertexLayout } from '@gltf-transform/core';
import { ALL_EXTENSIONS, EXTMeshoptCompression, KHRDracoMeshCompression } from '@gltf-transform/extensions';
import { MeshoptDecoder } from 'meshoptimizer';
import { Loader, LoadingManager, type Mesh, type Object3D, PropertyBinding, Texture } from 'three';
import { type GLTF, GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { frames } from '../baking/frames.js';
import { buildGlb, parseGlb } from '../files/glb.js';
import { SkinnedInstancedMeshExtension } from '../files/SkinnedInstancedMeshExtension.js';
import { EXTENSION as BAKED } from '../files/StoredCharacter.js';
import { VertexTexture } from '../vertexTextures/VertexTexture.js';
import { attempt, inputError, reasonOf } from './messages.js';

/** Draco's name among the extensions of glTF. */
export const DRACO = KHRDracoMeshCompression.EXTENSION_NAME;

/** What reads glTF files in whatever way they are packed. @param draco Whether by Draco, whose decoder takes a while to load. */
async function createIO(draco: boolean): Promise<NodeIO> {
  await MeshoptDecoder.ready;
  return new NodeIO()
    .setLogger(new Logger(Logger.Verbosity.SILENT))
    .setVertexLayout(VertexLayout.SEPARATE)
    .registerExtensions(ALL_EXTENSIONS)
    .registerDependencies({
      'meshopt.decoder': MeshoptDecoder,
      ...(draco && { 'draco3d.decoder': await createDracoDecoder() }),
    });
}

/** What three.js's own copy of Draco calls itself. */
type DracoModule = (options: { wasmBinary: Uint8Array }) => Promise<unknown>;

/**
 * The Draco decoder that three.js brings along for browsers. Our own would make the package a third of a megabyte larger for
 * something that every user has already.
 */
async function createDracoDecoder(): Promise<unknown> {
  const require = createRequire(import.meta.url);
  const read = (file: string) => readFileSync(require.resolve(`three/addons/libs/draco/${file}`));
  // A plain script, which a package of ES modules cannot have imported; in Node it asks for modules by `require`.
  const script = `${read('draco_wasm_wrapper.js').toString('utf8')};return DracoDecoderModule`;
  const create = compileFunction(script, ['require', '__dirname'])(require, '') as DracoModule;
  return create({ wasmBinary: read('draco_decoder.wasm') });
}

/** A glTF file that has been read, but not taken apart yet. */
export interface SourceFile {
  command: string;
  file: string;
  /** Its JSON, and its buffers and images. */
  content: JSONDocument;
  /** As it is in the content. */
  json: Document.IGLTF;
  /** Bytes of the file, and of those beside it that it consists of. */
  bytes: number;
  /** A .glb that needs no other file. */
  glb: Uint8Array;
}

/** @throws If there is no such file. */
export function readBytes(command: string, file: string): Buffer {
  if (!existsSync(file)) throw inputError(`${command}: there is no file ${file}`);
  if (!statSync(file).isFile()) throw inputError(`${command}: ${file} is no file`);
  return readFileSync(file);
}

/**
 * Reads a .glb, or a .gltf with the files beside it.
 *
 * @param outside Whether it may name files outside its folder.
 * @throws If it is not there, no glTF file, or names other files than it may.
 */
export async function readSource(command: string, file: string, outside: boolean): Promise<SourceFile> {
  const bytes = readBytes(command, file);
  const io = await createIO(false);
  try {
    const isBinary = bytes.subarray(0, 4).toString('latin1') === 'glTF';
    checkUris(isBinary ? parseGlb(bytes).json : JSON.parse(bytes.toString('utf8')), dirname(file), outside);
    const content = await io.readAsJSON(file);
    const { json } = content;
    const version = json?.asset?.version;
    if (typeof version !== 'string') throw new Error('it says no version of glTF');
    if (!version.startsWith('2.')) throw new Error(`it is of glTF ${version}, and 2.0 is needed`);
    // Draco is unpacked here, since three.js's loader does that in workers of browsers.
    const isWhole = isBinary && urisOf(json).length === 0 && !isDraco(json);
    const glb = isWhole ? new Uint8Array(bytes) : await unpacked(content);
    return { command, file, content, json, bytes: io.lastReadBytes, glb };
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && path !== undefined) {
      throw inputError(`${command}: ${file} needs the file ${path}, which is not there`);
    }
    const why =
      error instanceof SyntaxError ? 'its JSON is broken, or it is a file of another kind' : reasonOf(error);
    throw inputError(`${command}: ${file} is no glTF file that can be read: ${why}`);
  }
}

const isDraco = ({ extensionsUsed = [] }: Document.IGLTF): boolean => extensionsUsed.includes(DRACO);

/** A .glb, packed by nothing, of a file and those beside it. */
async function unpacked(content: JSONDocument): Promise<Uint8Array> {
  const io = await createIO(isDraco(content.json));
  const document = await io.readJSON(content);
  for (const used of document.getRoot().listExtensionsUsed())
    if (used instanceof KHRDracoMeshCompression || used instanceof EXTMeshoptCompression) used.dispose();
  const [first = document.createBuffer(), ...others] = document.getRoot().listBuffers();
  for (const accessor of document.getRoot().listAccessors()) accessor.setBuffer(first);
  for (const buffer of others) buffer.dispose();
  return io.writeBinary(document);
}

/**
 * Looks at the extensions of a file.
 *
 * @param warnings Gets what is lost.
 * @throws If it cannot be read without one that is not known here.
 */
export function checkExtensions({ command, file, json }: SourceFile, warnings: string[]): void {
  const { extensionsUsed = [], extensionsRequired = [] } = json;
  const known = [...ALL_EXTENSIONS.map(({ EXTENSION_NAME }) => EXTENSION_NAME), BAKED];
  const needed = extensionsRequired.filter((name) => !known.includes(name)).join(', ');
  if (needed !== '')
    throw inputError(
      `${command}: ${file} cannot be read without ${needed}, which this command does not know; export it without`,
    );
  for (const name of extensionsUsed.filter((one) => !known.includes(one)))
    warnings.push(`The extension ${name} is not known to this command, and is left out.`);
}

/** Names of the files that a file consists of besides itself. */
function urisOf({ buffers = [], images = [] }: Document.IGLTF): string[] {
  return [...buffers, ...images].flatMap(({ uri = 'data:' }) => (uri.startsWith('data:') ? [] : uri));
}

/** @throws If a file names one that is outside its folder and may not be, or one without an end, such as a device. */
function checkUris(json: Document.IGLTF, folder: string, outside: boolean): void {
  for (const uri of urisOf(json)) {
    const path = resolve(folder, decodeURIComponent(uri));
    if (!existsSync(path)) continue;
    if (!statSync(path).isFile()) throw new Error(`it names ${uri}, which is no file`);
    const way = relative(realpathSync(folder), realpathSync(path));
    if (!outside && (way.startsWith('..') || isAbsolute(way)))
      throw new Error(`it names ${uri}, outside its folder; pass --outside if you trust it`);
  }
}

/**
 * The scene that three.js's own loader makes of a file in a page, so that nodes have the names and the order that they have
 * there. Textures are empty: images are for browsers, and baking does not look at them.
 *
 * @param glb A .glb that needs no other file and no Draco.
 * @param baked Whether what was baked into it is read.
 */
export async function loadScene(glb: Uint8Array, baked = false): Promise<GLTF> {
  const loader = new GLTFLoader().setMeshoptDecoder(MeshoptDecoder);
  loader.register(() => ({ name: 'SIM_empty_textures', loadTexture: async () => new Texture() }));
  const options = { frames, vertexTextures: VertexTexture };
  if (baked) loader.register((parser) => new SkinnedInstancedMeshExtension(parser, options));
  const gltf = await loader.parseAsync(withoutImages(glb), '');
  gltf.scene?.updateMatrixWorld(true);
  return gltf;
}

/** What is baked, and what clips are taken from. */
export type Loaded = Pick<GLTF, 'animations'> & { scene: Object3D };

/**
 * A model that clips are taken from: also of an .fbx, which may be bones alone.
 *
 * @param outside Whether a .gltf may name files outside its folder.
 * @throws A CommandError if it cannot be loaded.
 */
export async function loadModel(file: string, outside: boolean): Promise<Loaded> {
  if (!/\.fbx$/i.test(file)) return sceneOf(await readSource('bake', file, outside));
  const { buffer } = new Uint8Array(readBytes('bake', file));
  const { FBXLoader } = await import('three/addons/loaders/FBXLoader.js');
  const textures = Object.assign(new Loader(), { load: () => new Texture() });
  const manager = new LoadingManager().addHandler(/^/, textures);
  return attempt(`bake: three.js cannot load ${file}`, () => {
    const scene = new FBXLoader(manager).parse(buffer, '');
    scene.updateMatrixWorld(true);
    return { scene, animations: scene.animations };
  });
}

/** {@link loadScene} of what a file is. @throws A CommandError if it cannot be loaded. */
export const sceneOf = ({ command, file, glb }: SourceFile, baked = false): Promise<GLTF> =>
  attempt(`${command}: three.js cannot load ${file}`, () => loadScene(glb, baked));

/** Numbers of textures stay, since materials name them, but not what they are stored as. */
function withoutImages(glb: Uint8Array): ArrayBuffer {
  const { json, binary } = parseGlb(glb);
  const textures = (json.textures as object[] | undefined)?.map(() => ({}));
  return buildGlb({ ...json, textures, images: undefined }, binary).buffer as ArrayBuffer;
}

/**
 * Takes meshes out of a scene. What hangs on them stays, since clips and joints may name it.
 *
 * @param names As three.js or the file has them, of the nodes or of their meshes.
 */
export function removeParts({ scene, parser }: GLTF, names: readonly string[]): void {
  const { nodes, meshes } = parser.json as Record<string, { name?: string }[]>;
  const parts: { mesh: Mesh; own: string[] }[] = [];
  scene.traverse((object) => {
    if (!(object as Mesh).isMesh) return;
    // The primitives of a mesh have a node together.
    const own = parser.associations.get(object);
    const node = own?.nodes ?? parser.associations.get(object.parent as Object3D)?.nodes;
    const stored = [nodes[node ?? -1]?.name, meshes[own?.meshes ?? -1]?.name, object.name].filter(
      (name) => name !== undefined,
    );
    parts.push({ mesh: object as Mesh, own: [...stored, ...stored.map(PropertyBinding.sanitizeNodeName)] });
  });
  for (const name of names) {
    const found = parts.filter(({ own }) => own.includes(name));
    if (found.length === 0) {
      const all = [...new Set(parts.map(({ own }) => `"${own[0]}"`))].join(', ');
      throw inputError(`bake: --drop-parts names "${name}", but there is no such part; there are ${all}`);
    }
    // The node stays where it was: joints are numbered in the order of nodes.
    for (const { mesh } of found) Object.assign(mesh, { isMesh: false, isSkinnedMesh: false });
  }
}
