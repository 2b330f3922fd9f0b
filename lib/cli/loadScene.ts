import { MeshoptDecoder } from 'meshoptimizer';
import { Loader, LoadingManager, type Mesh, type Object3D, PropertyBinding, Texture } from 'three';
import { type GLTF, GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { frames } from '../baking/frames.js';
import { buildGlb, parseGlb } from '../files/glb.js';
import { SkinnedInstancedMeshExtension } from '../files/SkinnedInstancedMeshExtension.js';
import { VertexTexture } from '../vertexTextures/VertexTexture.js';
import { attempt, inputError } from './CommandError.js';
import { readBytes, readSource, type SourceFile } from './readSource.js';

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
