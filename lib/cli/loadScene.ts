import { MeshoptDecoder } from 'meshoptimizer';
import { type AnimationClip, type Object3D, Texture } from 'three';
import { type GLTF, GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { buildGlb, parseGlb } from '../format/glb.js';
import { createIO, createPlainIO, DRACO } from './gltfIO.js';

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
export function renameTracks(clips: readonly AnimationClip[], from: Object3D, to: Object3D): void {
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
