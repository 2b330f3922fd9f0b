import type { Material, WebGLProgramParametersWithUniforms, WebGLRenderer } from 'three';
import { Material as MaterialBase } from 'three';
import type { levelDissolveGLSL } from '../../../shaders/levelDissolve.glsl.js';
import { isPlaceable, placeVertexGLSL } from '../../../shaders/placeVertex.glsl.js';
import { type ShaderVariant, variantOf } from '../../../shaders/ShaderVariant.js';
import type { SourceGLSL } from '../../../shaders/SourceGLSL.js';
import { type SurfaceGLSL, skinVertexGLSL } from '../../../shaders/skinVertex.glsl.js';
import { PARAM_SHADOW_VARIANT, PARAM_VARIANT } from '../../constants.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import type { Draw } from '../../core/CrowdSkeleton.js';
import type { CrowdMesh } from '../../crowd/CrowdMesh.js';
import { warnOnce } from '../../utils/messages.js';
import { compileAhead } from './compileAhead.js';
import { glslOfNumber } from './glslSources.js';
import { isDepth } from './syncShadowMaterial.js';

type CompileHook = (parameters: WebGLProgramParametersWithUniforms, renderer: WebGLRenderer) => void;

type KeyHook = () => string;

/** A hook that calls the user's. */
type OwnHook<T> = T & { userHook: T };

/** What a shader has that was made for crowds. */
const MARK = 'CROWD_VARIANT';

/** Whether a material colours the mesh or fills its shadow maps: each pass may use its own number of influences. */
export type PatchRole = 'color' | 'shadow';

/** What the shaders of a patched material are made for. */
export interface Patch {
  role: PatchRole;
  codes: number[];
  /** The hooks that the material has while the user sets none. */
  compile: CompileHook | null;
  key: KeyHook | null;
  /** Whether its shaders know lists, so far as is known. */
  lists: boolean;
  /** What the material's textures ask for, see `SurfaceGLSL.mapsOf`. */
  maps: number;
  /** Of the crowds that it drew, see `CrowdProgram.uneven`. */
  uneven: number;
  /** The crowd that it was last patched for; null if it was drawn since. */
  newest: WeakRef<DrawnCrowd> | null;
}

const patches = /*@__PURE__*/ new WeakMap<Material, Patch>();

const surfaces: SurfaceGLSL[] = [];

/** Lets materials of WebGLRenderer show what instances have of their own, and what they were merged of. */
export function registerSurfaceGLSL(glsl: SurfaceGLSL): void {
  if (!surfaces.includes(glsl)) surfaces.push(glsl);
}

/** Draws levels of detail. */
export interface LevelGLSL {
  /** Lets materials show levels that fade. */
  readonly fade: typeof levelDissolveGLSL;
  /** Called when a frame begins. */
  begin(owner: CrowdMesh): void;
  /** Called after each draw of the owner's. */
  draw(owner: CrowdMesh, draw: Draw): void;
}

export let levelGLSL: LevelGLSL | null = null;

/** Lets WebGLRenderer draw levels of detail. */
export function registerLevelGLSL(glsl: LevelGLSL): void {
  levelGLSL = glsl;
}

function mapsOf(material: Material): number {
  let maps = 0;
  for (let i = 0; i < surfaces.length; i++) maps += surfaces[i].mapsOf?.(material) ?? 0;
  return maps;
}

const glslOf = ({ source }: ShaderVariant): SourceGLSL => glslOfNumber(source);

/**
 * Patches a material of WebGLRenderer so that it poses crowds.
 *
 * What the user had set as the material's `onBeforeCompile` and `customProgramCacheKey`, or sets later, still runs, before ours:
 * call this before each draw. The code is added to programs of our objects alone, so other meshes that share the material
 * do not notice.
 *
 * @param code The shader variant to draw with (`variantCode`). A material drawn with several keeps them all.
 * @returns What the shaders of the material are made for now; null for node materials, which are not patched.
 */
export function patchMaterial(material: Material, role: PatchRole, code: number, uneven = 0): Patch | null {
  // Node materials are compiled another way.
  if ((material as { isNodeMaterial?: boolean }).isNodeMaterial === true) return null;
  const known = patches.get(material);
  const maps = mapsOf(material);
  if (known !== undefined) {
    const isNew = !known.codes.includes(code);
    if (isNew) {
      known.codes.push(code);
      known.codes.sort((a, b) => a - b);
    }
    putHooks(material, known);
    if ((uneven & ~known.uneven) > 0) {
      known.uneven |= uneven;
      material.needsUpdate = true;
    }
    if (known.maps !== maps) {
      known.maps = maps;
      material.needsUpdate = true;
    }
    if (isNew) {
      material.needsUpdate = true;
    }
    return known;
  }

  return addPatch(material, role, code, maps, uneven);
}

/**
 * A function apart from `patchMaterial`, which is called in each draw: V8 allocates a context for the variables that closures use when
 * the function is entered, also where it returns before it makes them.
 */
function addPatch(material: Material, role: PatchRole, code: number, maps: number, uneven: number): Patch {
  const lists = knowsLists(material);
  const patch: Patch = {
    role,
    codes: [code],
    compile: null,
    key: null,
    lists,
    maps,
    uneven,
    newest: null,
  };
  patches.set(material, patch);

  putHooks(material, patch);
  return patch;
}

/**
 * Puts ours in the place of the material's hooks where the user has set others since: those are called by ours. Code that wraps a
 * hook wraps ours, which then does no more than call the hook that it was made for; if ours is set again, as when someone removes a wrapper,
 * it stands for that hook, and is not composed twice.
 */
function putHooks(material: Material, patch: Patch): void {
  const { compile, key } = patch;
  if (material.onBeforeCompile === compile && material.customProgramCacheKey === key) return;
  // Programs that were compiled ahead in between are without crowds.
  if (compile !== null) material.needsUpdate = true;
  material.onBeforeCompile = patch.compile = compileHook(material, patch);
  material.customProgramCacheKey = patch.key = keyHook(material, patch);
}

function compileHook(material: Material, patch: Patch): OwnHook<CompileHook> {
  const user = userOf(material.onBeforeCompile);
  const hook: CompileHook = (parameters, renderer) => {
    const before = parameters.vertexShader;
    user.call(material, parameters, renderer);
    // One that a hook of the user's wraps leaves it to the one around that.
    if (hook !== patch.compile) return;
    const isOwn = 'isShaderMaterial' in material || parameters.vertexShader !== before;
    compileCrowd(material, patch, parameters, isOwn);
    const crowd = patch.newest?.deref();
    patch.newest = null;
    if (crowd !== undefined) compileAhead(renderer, crowd, parameters);
  };
  return Object.assign(hook, { userHook: user });
}

function keyHook(material: Material, patch: Patch): OwnHook<KeyHook> {
  const user = userOf(material.customProgramCacheKey);
  // The default key is the text of `onBeforeCompile`, which is ours by now and the same for every material.
  const isDefault = user === MaterialBase.prototype.customProgramCacheKey;
  const hook: KeyHook = () => {
    const own = isDefault ? userOf(material.onBeforeCompile).toString() : user.call(material);
    // Where a program is made before ours is put back, it has another key: it is without crowds.
    const isOurs = material.onBeforeCompile === patch.compile;
    return `skinned-instanced-mesh ${isOurs} ${patch.role} ${patch.codes.join()} ${patch.maps} ${patch.uneven}|${own}`;
  };
  return Object.assign(hook, { userHook: user });
}

/** The hook of the user's that a hook was made for. Others ask for it too, see `hasUserHook`. */
const userOf = <T extends object>(hook: T & { userHook?: T }): T => hook.userHook ?? hook;

function compileCrowd(
  material: Material,
  patch: Patch,
  parameters: WebGLProgramParametersWithUniforms,
  isOwn: boolean,
): void {
  for (const surface of surfaces) surface.uniforms?.(material, parameters.uniforms);
  // Objects that are instanced and skinned at once are ours; three.js itself has none, and libraries that skin
  // instances by defines of their own keep these flags down.
  if (!parameters.instancing || !parameters.skinning) return;
  // A hook of the user's may call that of another material.
  if (parameters.vertexShader.includes(MARK)) return;
  const variantParameter = patch.role === 'shadow' ? PARAM_SHADOW_VARIANT : PARAM_VARIANT;
  const { codes, maps } = patch;
  const program = {
    codes,
    variantParameter,
    sourceOf: glslOf,
    maps,
    surfaces,
    uneven: patch.uneven,
    isOwn,
    displaced: parameters.displacementMap,
    // Depth has no colours.
    colored: parameters.instancingColor && (isOwn || !isDepth(material)),
  };
  const fade = codes.some((code) => variantOf(code).fades) ? levelGLSL?.fade : null;
  const vertexShader = fade?.vertex(parameters.vertexShader) ?? parameters.vertexShader;
  const posed = skinVertexGLSL(vertexShader, program);
  if (posed === null) {
    warnOnce(
      `SkinnedInstancedMesh: the vertex shader of ${material.type} "${material.name}" lacks three.js's skinning chunks, so the crowd stands still; ` +
        'include <skinning_pars_vertex>, <skinbase_vertex> and <skinning_vertex>.',
    );
  }
  const placed = posed === null && isListable(material, vertexShader);
  patch.lists = posed !== null || placed;
  if (posed !== null) parameters.vertexShader = posed;
  if (posed !== null) {
    const shown = { codes, shadow: patch.role === 'shadow', maps };
    for (const surface of surfaces) {
      if (surface.fragment === undefined) continue;
      parameters.fragmentShader = surface.fragment(parameters.fragmentShader, shown, (look, chunk) => {
        // Shadow maps show none of it, nor do materials that do not know it, nor shaders that are the user's as a whole.
        if (
          patch.role === 'shadow' ||
          'isShaderMaterial' in material ||
          !(look in material || look === 'mapLayer')
        )
          return;
        warnOnce(
          `SkinnedInstancedMesh: the material ${material.type} "${material.name}" does not show ${look} of instances, since its onBeforeCompile takes <${chunk}> out of the fragment shader; leave that in, or read instanceUniform_${look} in its place.`,
        );
      });
    }
  } else if (placed) {
    parameters.vertexShader = placeVertexGLSL(vertexShader, variantParameter, program.colored);
  }
  if (fade && patch.lists) parameters.fragmentShader = fade.fragment(parameters.fragmentShader);
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

/** Forgets a variant that a crowd no longer draws with; another crowd that does brings it back when it is drawn. */
export function releaseVariant(material: Material, code: number): void {
  const patch = patches.get(material);
  if (patch === undefined || !patch.codes.includes(code)) return;
  patch.codes = patch.codes.filter((other) => other !== code);
  material.needsUpdate = true;
}
