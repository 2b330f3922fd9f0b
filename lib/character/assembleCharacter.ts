import type { BufferGeometry, Material, Object3D } from 'three';
import type { BoneTexture } from '../animation/BoneTexture.js';
import type { Rig, ScenePart } from '../animation/Rig.js';
import { describe, listNames, warnOnce } from '../utils/messages.js';
import { drawnObjects, unsupportedKind } from './collectParts.js';
import { bareName, collectRig, type RigOptions, shadingJoints } from './collectRig.js';
import type { CharacterPart } from './crowdGeometry.js';
import { type MaterialMerger, mergeParts } from './mergeParts.js';

/**
 * What a crowd plays: `bakeCharacter` makes one, a worker or a file. Plain things, which may be changed before a crowd is made of them.
 * One character serves any number of crowds, which share its material and bone texture and copy its geometry.
 */
export interface Character {
  /** Of the root. */
  name: string;
  /** All meshes in one, with a group for each material. */
  geometry: BufferGeometry;
  /** One, or one for each group. */
  material: Material | Material[];
  /** The baked clips. */
  boneTexture: BoneTexture;
  /** In the order of the geometry's attribute `partIndex`. */
  parts: readonly CharacterPart[];
  /**
   * As three.js has it of any object: what the character's meshes say, crowds take over. Where meshes differ, it is true, and the
   * groups of those that cast no shadow are left out of shadow maps; `receiveShadow` likewise.
   */
  castShadow: boolean;
  /** See `castShadow`. */
  receiveShadow: boolean;
  /** See `castShadow`. */
  frustumCulled: boolean;
  /** See `castShadow`. */
  renderOrder: number;
  /** The mask of its `Layers`. */
  layers: number;
  /** Influences of morph targets at rest; undefined without morph targets. */
  morphTargetInfluences?: number[];
  /** Indices of morph targets by name. */
  morphTargetDictionary?: { [name: string]: number };
  /** What was made with it and {@link disposeCharacter} frees. */
  made: {
    /** Frees it. */
    dispose(): void;
  }[];
}

/** How the meshes of a character become one. */
export interface CharacterOptions {
  /** Leave out points, lines, sprites and instanced meshes under the root in place of an error. @default false */
  skipUnsupported?: boolean;
  /**
   * `mergeMaterials()` makes one material of those that differ only in colour, roughness, metalness, emission and in textures, so that
   * the character is one draw call in place of one for each. Nothing is changed in the ones merged.
   */
  mergeMaterials?: MaterialMerger;
  /** Names of parts that `InstanceParts` hides to begin with. Without it all parts are drawn. @default [] */
  hiddenParts?: readonly string[];
}

/** What has to be as it was when the bone texture was baked, or is smaller. */
export interface AssembleCharacterOptions extends CharacterOptions, Pick<RigOptions, 'joints'> {
  /** Whether to keep morph targets. @default true */
  morphTargets?: boolean;
}

/**
 * A character of the meshes under `root` for a bone texture that was baked before from the same skeleton. The bone texture stays the
 * caller's.
 *
 * @throws If the bone texture was baked from another skeleton, or there is something under `root` that cannot be instanced.
 *
 * @category Bake
 */
export function assembleCharacter(
  root: Object3D,
  boneTexture: BoneTexture,
  options: AssembleCharacterOptions = {},
): Character {
  refuseUnsupported(root, options);
  const { binding, data, jointNames } = boneTexture;
  if (binding !== null) {
    // Morph targets are in the vertices already.
    const rig = { morphNames: [], morphRest: new Float64Array() };
    const parts = binding.place(collectRig(root, {}).parts);
    return characterOf(root, { rig, parts }, boneTexture, options);
  }
  const { joints, morphTargets: morphing } = options;
  const { flips, collected: chosen } = data;
  const collected = collectRig(root, { ...chosen, ...(joints && { joints }), morphing, flips });
  checkSkeleton(collected.rig, jointNames);
  return characterOf(root, collected, boneTexture, options);
}

/**
 * Frees a character's geometry, its bone texture if that was baked with it, and materials and textures that were made by merging.
 *
 * @category Bake
 */
export function disposeCharacter({ made }: Pick<Character, 'made'>): void {
  for (const one of made) one.dispose();
}

/**
 * Merges meshes that were collected.
 *
 * @param made What was made for the character already.
 */
export function characterOf(
  root: Object3D,
  { rig, parts }: { rig: Pick<Rig, 'morphNames' | 'morphRest'>; parts: readonly ScenePart[] },
  boneTexture: BoneTexture,
  { mergeMaterials, hiddenParts = [] }: CharacterOptions,
  made: { dispose(): void }[] = [],
): Character {
  const { morphNames, morphRest } = rig;
  const shading = shadingJoints(parts, parts.keys(), boneTexture.data);
  const { geometry, material, shares, owned } = mergeParts(parts, shading, morphNames, mergeMaterials);
  const names = parts.map(({ mesh }) => namesUp(mesh, root));
  for (const part of hiddenParts) {
    if (names.some((known) => known.includes(part))) continue;
    throw new Error(
      `hiddenParts: no part ${describe(part)}; the character has ${listNames(
        names.map(([name]) => name),
        part,
      )}.`,
    );
  }
  const [{ mesh, geometry: first }] = parts;
  const character: Character = {
    name: root.name,
    geometry,
    material,
    boneTexture,
    parts: names.map((known, i) => ({
      names: known,
      hidden: hiddenParts.some((part) => known.includes(part)),
      materials: [...new Set([parts[i].material].flat())].map((one) => shares?.[i]?.get(one) ?? one),
    })),
    castShadow: parts.some((part) => part.mesh.castShadow),
    receiveShadow: parts.some((part) => part.mesh.receiveShadow),
    frustumCulled: parts.every((part) => part.mesh.frustumCulled),
    renderOrder: Math.max(...parts.map((part) => part.mesh.renderOrder)),
    layers: mesh.layers.mask,
    made: [...made, ...owned, ...(geometry === first ? [] : [geometry])],
  };
  warnOfLost(root, parts, { ...character });
  if (morphNames.length > 0) {
    character.morphTargetInfluences = Array.from(morphRest);
    character.morphTargetDictionary = Object.fromEntries(morphNames.map((name, i) => [name, i]));
  }
  return character;
}

/** @throws If these are not the joints of a character. Behind them there may be sockets. */
function checkSkeleton({ jointNames }: Rig, names: readonly string[]): void {
  const first = jointNames.findIndex(
    (name, i) => !(i in names) || !isNamed(name, names[i], names, jointNames),
  );
  if (first < 0) return;
  const found = first in names ? `"${names[first]}"` : 'not there';
  throw new Error(
    `The bone texture was baked for another skeleton (of ${names.length} joints, not ${jointNames.length}: ` +
      `joint ${first} is ${found}, not "${jointNames[first]}"); bake this character.`,
  );
}

/** Whether a joint is that of a name, but for numbers of GLTFLoader's. A name that stands at another place means that one. */
const isNamed = (name: string, other: string, names: readonly string[], own: readonly string[]): boolean =>
  name === other ||
  (!names.includes(name) && bareName(name) === other) ||
  (!own.includes(other) && bareName(other) === name);

/** @throws If there is something under the root that would not be drawn, unless options say to leave it out. */
export function refuseUnsupported(root: Object3D, { skipUnsupported = false }: CharacterOptions): void {
  // What is no object at all, collecting names.
  if (skipUnsupported || !root?.isObject3D) return;
  const first = drawnObjects(root).find(unsupportedKind);
  if (first === undefined) return;
  throw new Error(
    `"${first.name}" (${unsupportedKind(first)}) cannot be drawn as part of a character; remove or hide it, or pass skipUnsupported: true.`,
  );
}

const ONE_FOR_ALL = ['layers', 'customDepthMaterial', 'customDistanceMaterial'];

/** Warns of lights and cameras under the root, and of what meshes have that the character has not. */
function warnOfLost(root: Object3D, parts: readonly ScenePart[], character: Record<string, unknown>): void {
  const nodes = drawnObjects(root).filter((node) => 'isLight' in node || 'isCamera' in node);
  const lost = nodes.map(({ name, type }) => name || type);
  for (const { mesh } of parts) {
    const own: Record<string, unknown> = { ...mesh, layers: mesh.layers.mask };
    const differ = ONE_FOR_ALL.filter((key) => own[key] !== character[key]);
    lost.push(...differ.map((key) => `${key} of ${mesh.name || mesh.type}`));
  }
  if (lost.length > 0)
    warnOnce(
      `A crowd is one mesh and has no ${listNames(lost)}: set it on the crowd, for all meshes; bake what differs as another character; ` +
        'add lights and cameras to the scene.',
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
