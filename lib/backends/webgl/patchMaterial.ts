import type {
  BufferGeometry,
  Material,
  Texture,
  WebGLProgramParametersWithUniforms,
  WebGLRenderer,
} from 'three';
import { Material as MaterialBase } from 'three';
import { readInstanceSince } from '../../../shaders/instanceIndex.glsl.js';

import { instanceSurfaceGLSL, uniformsOfProgram } from '../../../shaders/instanceUniforms.glsl.js';
import { fadeFragmentGLSL } from '../../../shaders/levelFade.glsl.js';
import { isPlaceable, placeVertexGLSL } from '../../../shaders/placeVertex.glsl.js';
import { type ShaderVariant, variantOf } from '../../../shaders/ShaderVariant.js';

import {
  SLOT_SOURCES,
  type SlotSource,
  type SourceGLSL,
  type TextureCounts,
} from '../../../shaders/SourceGLSL.js';
import { skinVertexGLSL, textureCounts } from '../../../shaders/skinVertex.glsl.js';
import { PARAM_SHADOW_VARIANT, PARAM_VARIANT } from '../../constants.js';
import { sourceOfNumber } from '../../sources/sources.js';
import { warnOnce } from '../../utils/warnOnce.js';
import { hasArrayMap, hasPalette, mergedCode, mergedTable } from '../surfaceMaps.js';
import { ownVertexAttributes } from '../vertexLimits.js';

type CompileHook = (parameters: WebGLProgramParametersWithUniforms, renderer: WebGLRenderer) => void;

type KeyHook = () => string;

/** What a shader has that was made for crowds. */
const MARK = 'CROWD_VARIANT';

/** Whether a material colours the mesh or fills its shadow maps: each pass may use its own number of influences. */
export type PatchRole = 'color' | 'shadow';

/** What the shaders of a patched material are made for. */
export interface Patch {
  role: PatchRole;
  codes: number[];
  slots: SlotSource;
  /** Textures that an object drawn with the material must have bound. */
  textures: TextureCounts;
  userCompile: CompileHook;
  /** Whether its shaders know lists, so far as is known. */
  lists: boolean;
  /** Whether the material's `map` is a texture array. */
  arrayMap: boolean;
  /** What it was merged of, see `mergedCode`. */
  merged: number;
  /** Once it has been merged of several, a uniform of all its programs, which says the textures of each vertex; null until then. */
  table: { value: Texture | null } | null;
}

const patches = /*@__PURE__*/ new WeakMap<Material, Patch>();

const glslOf = ({ source }: ShaderVariant): SourceGLSL => sourceOfNumber(source).glsl;

/**
 * Patches a material of WebGLRenderer so that it poses crowds.
 *
 * The material's `onBeforeCompile` and `customProgramCacheKey` become accessors: what the user had set, or sets later,
 * still runs, before ours. The code is added to programs of our objects alone, so other meshes that share the material
 * do not notice.
 *
 * @param code The shader variant to draw with (`variantCode`). A material drawn with several keeps them all.
 * @param slots Where the crowd would have its shaders read what instances play. A material that must read a texture for
 * one crowd does so for all, since its programs hold the variants of all.
 * @returns What the shaders of the material are made for now; null for node materials, which are not patched.
 */
export function patchMaterial(
  material: Material,
  role: PatchRole,
  code: number,
  slots: SlotSource,
): Readonly<Patch> | null {
  // Node materials are compiled another way.
  if ((material as { isNodeMaterial?: boolean }).isNodeMaterial === true) return null;
  const known = patches.get(material);
  const arrayMap = hasArrayMap(material);
  const merged = mergedCode(material);
  if (known !== undefined) {
    const isNew = !known.codes.includes(code);
    const otherSlots = SLOT_SOURCES.indexOf(slots) > SLOT_SOURCES.indexOf(known.slots);
    if (isNew) {
      known.codes.push(code);
      known.codes.sort((a, b) => a - b);
    }
    if (otherSlots) known.slots = slots;
    noteTable(known, material);
    if (known.arrayMap !== arrayMap || known.merged !== merged) {
      known.arrayMap = arrayMap;
      known.merged = merged;
      material.needsUpdate = true;
    }
    if (isNew || otherSlots) {
      known.textures = texturesOf(known);
      material.needsUpdate = true;
    }
    return known;
  }

  return addPatch(material, role, code, slots, arrayMap, merged);
}

/**
 * A function apart from `patchMaterial`, which is called in each draw: V8 allocates a context for the variables that closures use when
 * the function is entered, also where it returns before it makes them.
 */
function addPatch(
  material: Material,
  role: PatchRole,
  code: number,
  slots: SlotSource,
  arrayMap: boolean,
  merged: number,
): Patch {
  const textures = texturesOf({ codes: [code], slots });
  const lists = knowsLists(material);
  const userCompile = material.onBeforeCompile;
  const patch: Patch = {
    role,
    codes: [code],
    slots,
    textures,
    userCompile,
    lists,
    arrayMap,
    merged,
    table: null,
  };
  noteTable(patch, material);
  patches.set(material, patch);

  hookProperty<CompileHook>(material, 'onBeforeCompile', patch.userCompile, (user) => {
    patch.userCompile = user;
    return (parameters, renderer) => {
      user.call(material, parameters, renderer);
      compileCrowd(material, patch, parameters);
    };
  });
  hookProperty<KeyHook>(material, 'customProgramCacheKey', material.customProgramCacheKey, (user) => {
    // The default key is the text of `onBeforeCompile`, which is ours by now and the same for every material.
    const isDefault = user === MaterialBase.prototype.customProgramCacheKey;
    return () => {
      const own = isDefault ? patch.userCompile.toString() : user.call(material);
      const maps = `${patch.arrayMap ? 'array' : ''} ${hasPalette(material) ? 'palette' : ''} ${patch.merged}`;
      return `skinned-instanced-mesh ${patch.role} ${patch.slots} ${patch.codes.join()} ${maps}|${own}`;
    };
  });
  return patch;
}

function noteTable(patch: Patch, material: Material): void {
  const table = mergedTable(material);
  if (patch.table !== null) patch.table.value = table;
  else if (table !== null) patch.table = { value: table };
}

/**
 * Turns a hook of a material into an accessor: what is read is `compose(hook)`, where `hook` is what was set last.
 *
 * Code that wraps a hook reads it first, and so wraps what we composed. That composition must go on calling the hook that it
 * was made for, not the new one, which would call itself: so each hook that is set gets a composition of its own. If a
 * composition is set again, as when someone removes a wrapper, it stands for its hook, and is not composed twice.
 */
function hookProperty<T extends object>(
  material: Material,
  name: keyof Material,
  initial: T,
  compose: (user: T) => T,
) {
  const users = new WeakMap<T, T>();
  let current: T;
  const set = (hook: T) => {
    if (hook === current) return;
    const user = users.get(hook) ?? hook;
    current = compose(user);
    users.set(current, user);
  };
  set(initial);
  Object.defineProperty(material, name, { configurable: true, get: () => current, set });
}

function compileCrowd(
  material: Material,
  patch: Patch,
  parameters: WebGLProgramParametersWithUniforms,
): void {
  // Of several programs of a material, three.js keeps the uniforms of the one that was compiled last, so that all need it.
  if (patch.table !== null) parameters.uniforms.crowdMergedTable = patch.table;
  // Objects that are instanced and skinned at once are ours; three.js itself has none, and libraries that skin
  // instances by defines of their own keep these flags down.
  if (!parameters.instancing || !parameters.skinning) return;
  // A hook that the user wrapped around ours has been here already, and has changed the shader since.
  if (parameters.vertexShader.includes(MARK)) {
    parameters.vertexShader = readInstanceSince(parameters.vertexShader);
    return;
  }

  const variantParameter = patch.role === 'shadow' ? PARAM_SHADOW_VARIANT : PARAM_VARIANT;
  const { codes, slots, merged } = patch;
  const program = { codes, slots, variantParameter, sourceOf: glslOf, merged: merged > 0 };
  const posed = skinVertexGLSL(parameters.vertexShader, program);
  if (posed === null) {
    warnOnce(
      `SkinnedInstancedMesh: the vertex shader of ${material.type} "${material.name}" lacks three.js's skinning chunks, so the crowd stands still; ` +
        'include <skinning_pars_vertex>, <skinbase_vertex> and <skinning_vertex>.',
    );
  }
  const viewed = codes.some((code) => variantOf(code).view);
  const fades = codes.some((code) => variantOf(code).fades);
  const placed = posed === null && viewed && isListable(material, parameters.vertexShader);
  patch.lists = posed !== null || placed;
  if (posed !== null) {
    parameters.vertexShader = posed;
    parameters.fragmentShader = instanceSurfaceGLSL(
      parameters.fragmentShader,
      {
        uniforms: uniformsOfProgram(codes),
        shadow: patch.role === 'shadow',
        arrayMap: patch.arrayMap,
        palette: hasPalette(material),
        merged,
      },
      (look, chunk) => {
        // Shadow maps show none of it, nor do materials that do not know it, nor shaders that are the user's as a whole.
        if (
          patch.role === 'shadow' ||
          'isShaderMaterial' in material ||
          !(look in material || look === 'mapLayer')
        )
          return;
        warnOnce(
          `SkinnedInstancedMesh: the material ${material.type} "${material.name}" does not show ${look} of instances${merged > 0 ? ' and of what it was merged of' : ''}, since its onBeforeCompile takes <${chunk}> out of the fragment shader; leave that in, or read instanceUniform_${look} in its place.`,
        );
      },
    );
  } else if (placed) {
    const counts = textureCounts(program);
    parameters.vertexShader = placeVertexGLSL(parameters.vertexShader, counts, variantParameter, fades);
  }
  if (fades && patch.lists) parameters.fragmentShader = fadeFragmentGLSL(parameters.fragmentShader);
}

/**
 * Whether the shaders of a material know lists: all but those of raw shader materials, which declare the attributes of instances
 * themselves. These draw the instances as they lie in the buffers.
 */
export function knowsLists(material: Material): boolean {
  const known = patches.get(material);
  if (known !== undefined) return known.lists;
  const { vertexShader } = material as { vertexShader?: string };
  return vertexShader === undefined || isPosable(vertexShader) || isListable(material, vertexShader);
}

/** Whether a vertex shader that poses nothing can be made to read lists. */
const isListable = (material: Material, vertexShader: string): boolean =>
  (material as { isRawShaderMaterial?: boolean }).isRawShaderMaterial !== true && isPlaceable(vertexShader);

const isPosable = (vertexShader: string): boolean => vertexShader.includes('#include <skinning_vertex>');

/** Whether the user set an `onBeforeCompile`. */
export function hasUserHook(material: Material): boolean {
  const hook = patches.get(material)?.userCompile ?? material.onBeforeCompile;
  return hook !== MaterialBase.prototype.onBeforeCompile;
}

/** Forgets a variant that a crowd no longer draws with; another crowd that does brings it back when it is drawn. */
export function releaseVariant(material: Material, code: number): void {
  const patch = patches.get(material);
  if (patch === undefined || !patch.codes.includes(code)) return;
  patch.codes = patch.codes.filter((other) => other !== code);
  if (patch.codes.length > 0) patch.textures = texturesOf(patch);
  material.needsUpdate = true;
}

function texturesOf({ codes, slots }: Pick<Patch, 'codes' | 'slots'>): TextureCounts {
  return textureCounts({ codes, slots, sourceOf: glslOf });
}

/** What three.js keeps of a material's program; there are diagnostics where something was wrong with it. */
interface Compiled {
  currentProgram?: { diagnostics?: { runnable: boolean; programLog: string } };
}

/**
 * Notices, once a material was drawn, that a crowd needs more vertex attributes than the device has.
 *
 * @throws If that is why its program could not be linked.
 */
export function checkAttributes(
  renderer: WebGLRenderer,
  material: Material,
  geometry: BufferGeometry,
  instanceAttributes: number,
): void {
  const { currentProgram } = renderer.properties.get(material) as Compiled;
  const diagnostics = currentProgram?.diagnostics;
  if (diagnostics === undefined || diagnostics.runnable) return;
  const { maxAttributes } = renderer.capabilities as unknown as { maxAttributes: number };
  const needed = ownVertexAttributes(geometry) + instanceAttributes;
  if (needed <= maxAttributes) return;
  throw new Error(
    `SkinnedInstancedMesh: material "${material.name || material.type}" needs up to ${needed} vertex attributes (${Object.keys(geometry.attributes).join(', ')}, and ${instanceAttributes} of instances), ` +
      `this device takes ${maxAttributes}; leave some out of the geometry.`,
  );
}
