import type { AnimationClip, BufferGeometry, Material, Mesh, Object3D } from 'three';
import type { BakeOptions } from '../baking/BakeOptions.js';
import { findUnsupported, type ScenePart } from '../baking/collectParts.js';
import { collectRig, type RigOptions } from '../baking/collectRig.js';
import { type MergeMaterialsOptions, mergingOf } from '../character/mergeMaterials.js';
import { mergeParts } from '../character/mergeParts.js';
import type { MeshCheck } from '../format/LoadedCharacter.js';
import type { Rig } from '../poses/Rig.js';
import { BoneTexture } from '../texture/BoneTexture.js';
import { checkIsBoneTexture } from './checks.js';
import type { SkinnedInstancedMeshOptions } from './crowdTypes.js';

/** Options of {@link SkinnedInstancedMesh.from}: how the character is merged, baked and drawn. */
export interface FromOptions extends SkinnedInstancedMeshOptions, BakeOptions {
  /** A bone texture baked before from the same character. The clips and bake options are then not used. */
  boneTexture?: BoneTexture;
  /** Leave out points, lines, sprites and instanced meshes under the root in place of an error. @default false */
  skipUnsupported?: boolean;
  /**
   * Whether materials become one that differ only in colour, roughness, metalness, emission and in textures, so that the character
   * is one draw call in place of one for each. Those it makes are the crowd's; nothing is changed in the ones merged.
   * @default false
   */
  mergeMaterials?: boolean | MergeMaterialsOptions;
  /** Names of parts that no instance shows to begin with, see `setPartVisibleAt`. @default [] */
  hiddenParts?: readonly string[];
}

/** The same with what files add. */
export interface CharacterOptions extends FromOptions {
  check?: MeshCheck;
}

/** What is known of the morph targets that clips move. */
interface MorphRig {
  jointInverses?: Float64Array;
  morphNames: readonly string[];
  morphRest: ArrayLike<number>;
}

/** What a crowd of a character is made of. */
export interface Character {
  geometry: BufferGeometry;
  material: Material | Material[];
  boneTexture: BoneTexture;
  /** Materials and textures that were made for the crowd, and are to be disposed with it. */
  owned: { dispose(): void }[];
  /** For each part of the character the names it is known by. */
  partPaths: string[][];
  /** Takes over what the character's own meshes say of drawing and morph targets. */
  dress(crowd: Mesh): void;
}

/**
 * Bakes and merges the character under `root`.
 *
 * @throws What `BoneTexture.bake` throws, and if there is something under `root` that cannot be instanced.
 */
export function createCharacter(
  root: Object3D,
  clips: readonly AnimationClip[],
  count: number,
  options: CharacterOptions,
  caller: string,
): Character {
  if (options.skipUnsupported !== true) refuseUnsupported(root, caller);
  const boneTexture = options.boneTexture ?? BoneTexture.bake(root, clips, bakeOptions(options, count));
  checkIsBoneTexture(boneTexture);
  const collected = collect(root, boneTexture, options, caller);
  options.check?.(root, collected, boneTexture, caller);
  const { rig, parts } = collected;
  const { geometry, material, owned } = mergeParts(
    parts,
    rig.morphNames,
    mergingOf(options.mergeMaterials ?? false),
  );
  return {
    geometry,
    material,
    boneTexture,
    owned: options.boneTexture === undefined ? [...owned, boneTexture] : owned,
    partPaths: parts.map((part) => namesUp(part.mesh, root)),
    dress(crowd) {
      if (geometry !== parts[0].geometry) geometry.dispose();
      crowd.name = root.name;
      dressLike(crowd, parts, rig);
    },
  };
}

/** The meshes under the root, for a bone texture that is to pose them. */
function collect(
  root: Object3D,
  { binding, data: { flips, morphNames: morphs }, jointNames }: BoneTexture,
  { joints, morphTargets: morphing }: FromOptions,
  caller: string,
): { rig: MorphRig; parts: ScenePart[] } {
  // Morph targets are in the vertices already.
  if (binding !== null)
    return { rig: { morphNames: [], morphRest: [] }, parts: binding.collect(root, caller) };
  const options: RigOptions = { joints, morphing, flips };
  let collected = collectRig(root, options);
  // One that was baked before does not say which joints it has.
  if (joints === undefined && !isSameRig(collected.rig, jointNames)) {
    const used = collectRig(root, { ...options, joints: 'used' });
    if (isSameRig(used.rig, jointNames)) {
      collected = used;
      options.joints = 'used';
    }
  }
  // Its clips may move meshes apart that would share morph targets.
  if (
    collected.sharedMorphs !== null &&
    morphs.length > 0 &&
    morphs.length !== collected.rig.morphNames.length
  )
    collected = collectRig(root, { ...options, shareMorphs: false });
  checkSameRig(collected.rig, jointNames, caller);
  return collected;
}

/** Layers need tracks, so that these are what `'auto'` means with them. */
function bakeOptions(options: FromOptions, instances: number): BakeOptions {
  const { layers, encoding = 'auto' } = options;
  const isLayered = (layers ?? []).length > 0 && encoding === 'auto';
  return { instances, ...options, encoding: isLayered ? 'tracks' : encoding };
}

function dressLike(crowd: Mesh, parts: readonly ScenePart[], { morphNames, morphRest }: MorphRig): void {
  const [{ mesh }] = parts;
  crowd.castShadow = parts.some((part) => part.mesh.castShadow);
  crowd.receiveShadow = parts.some((part) => part.mesh.receiveShadow);
  crowd.frustumCulled = mesh.frustumCulled;
  crowd.renderOrder = mesh.renderOrder;
  crowd.layers.mask = mesh.layers.mask;
  if (morphNames.length === 0) return;
  crowd.morphTargetInfluences = Array.from(morphRest);
  crowd.morphTargetDictionary = Object.fromEntries(morphNames.map((name, i) => [name, i]));
}

/** @throws If a bone texture was baked from another character. */
function checkSameRig(rig: Rig, names: readonly string[], caller: string): void {
  if (isSameRig(rig, names)) return;
  const { jointNames } = rig;
  const first = jointNames.findIndex((name, i) => !isNamed(name, i, names));
  throw new Error(
    `${caller}: the bone texture was baked for another skeleton (of ${names.length} joints, not ${jointNames.length}: ` +
      `joint ${first} is ${quoted(names[first])}, not "${jointNames[first]}"); bake one from this root.`,
  );
}

const quoted = (name: string | undefined) => (name === undefined ? 'not there' : `"${name}"`);

/** Whether these are the joints of a character. Behind them there may be sockets. */
const isSameRig = ({ jointNames }: Rig, names: readonly string[]): boolean =>
  names.length >= jointNames.length && jointNames.every((name, i) => isNamed(name, i, names));

/**
 * Whether it is the name at a place, or that with the number behind it that GLTFLoader adds where another node of the file has it too.
 * A name that stands at another place means that one.
 */
const isNamed = (name: string, place: number, names: readonly string[]): boolean =>
  name === names[place] || (!names.includes(name) && name.replace(/_\d+$/, '') === names[place]);

function refuseUnsupported(root: Object3D, caller: string): void {
  // What is no object at all, baking names.
  const [first] = root?.isObject3D ? findUnsupported(root) : [];
  if (first === undefined) return;
  throw new Error(
    `${caller}: "${first.name}" (${first.type}) cannot be drawn as part of a character; remove or hide it, or pass skipUnsupported: true.`,
  );
}

/** Names of an object and those above it, below the root. */
function namesUp(object: Object3D, root: Object3D): string[] {
  const names: string[] = [];
  for (let node: Object3D | null = object; node !== null && node !== root; node = node.parent) {
    names.push(node.name);
  }
  return names.length === 0 ? [object.name] : names;
}
