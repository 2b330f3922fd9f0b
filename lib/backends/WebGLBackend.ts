import type { Material, WebGLProgramParametersWithUniforms, WebGLRenderer } from 'three';
import { Material as MaterialBase } from 'three';
import { skinVertexGLSL } from '../../shaders/skinVertex.glsl.js';
import { PARAM_SHADOW_VARIANT, PARAM_VARIANT } from '../constants.js';
import { warnOnce } from '../utils/warnOnce.js';

type CompileHook = (parameters: WebGLProgramParametersWithUniforms, renderer: WebGLRenderer) => void;

/** Whether a material colours the mesh or fills its shadow maps: each pass may use its own number of influences. */
export type PatchRole = 'color' | 'shadow';

interface Patch {
  role: PatchRole;
  codes: number[];
  userCompile: CompileHook;
  userKey: (() => string) | null;
}

const patches = /*@__PURE__*/ new WeakMap<Material, Patch>();

const MARK = 'mat3x4 crowdSkin';

/**
 * Teaches a material of WebGLRenderer to pose crowds.
 *
 * The material's `onBeforeCompile` and `customProgramCacheKey` become accessors: what the user had set, or sets later,
 * still runs, before ours. The code added is compiled in for objects of ours alone, so other meshes that share the
 * material do not notice.
 *
 * @param code The shader variant to draw with (`variantCode`). A material drawn with several keeps them all.
 */
export function patchMaterial(material: Material, role: PatchRole, code: number): void {
  const known = patches.get(material);
  if (known !== undefined) {
    if (!known.codes.includes(code)) {
      known.codes.push(code);
      known.codes.sort((a, b) => a - b);
      material.needsUpdate = true;
    }
    return;
  }

  const patch: Patch = {
    role,
    codes: [code],
    userCompile: material.onBeforeCompile,
    userKey: Object.hasOwn(material, 'customProgramCacheKey') ? material.customProgramCacheKey : null,
  };
  if (patch.userKey === null && material.customProgramCacheKey !== MaterialBase.prototype.customProgramCacheKey) {
    patch.userKey = material.customProgramCacheKey;
  }
  patches.set(material, patch);

  // Each hook set gets a composition of its own: one that wraps an earlier composition must not meet itself again.
  const compose = (user: CompileHook): CompileHook => (parameters, renderer) => {
    user.call(material, parameters, renderer);
    compileCrowd(material, patch, parameters);
  };
  let compile = compose(patch.userCompile);
  const key = () => {
    const own = patch.userKey ? patch.userKey.call(material) : patch.userCompile.toString();
    return `skinned-instanced-mesh ${patch.role} ${patch.codes.join()}|${own}`;
  };

  Object.defineProperty(material, 'onBeforeCompile', {
    configurable: true,
    get: () => compile,
    set: (hook: CompileHook) => {
      if (hook === compile) return;
      patch.userCompile = hook;
      compile = compose(hook);
    },
  });
  Object.defineProperty(material, 'customProgramCacheKey', {
    configurable: true,
    get: () => key,
    set: (hook: () => string) => {
      if (hook !== key) patch.userKey = hook;
    },
  });
}

function compileCrowd(material: Material, patch: Patch, parameters: WebGLProgramParametersWithUniforms): void {
  // A hook that the user wrapped around ours has been here already.
  if (parameters.vertexShader.includes(MARK)) return;

  const variantParameter = patch.role === 'shadow' ? PARAM_SHADOW_VARIANT : PARAM_VARIANT;
  const shader = skinVertexGLSL(parameters.vertexShader, patch.codes, variantParameter);
  if (shader === null) {
    warnOnce(
      `SkinnedInstancedMesh: the vertex shader of ${material.type} "${material.name}" lacks three.js's skinning chunks, so the crowd stands still; ` +
        'include <skinning_pars_vertex>, <skinbase_vertex> and <skinning_vertex>.',
    );
    return;
  }
  parameters.vertexShader = shader;
}

/** Forgets a variant that a crowd no longer draws with; another crowd that does brings it back when it is drawn. */
export function releaseVariant(material: Material, code: number): void {
  const patch = patches.get(material);
  if (patch === undefined || !patch.codes.includes(code)) return;
  patch.codes = patch.codes.filter((other) => other !== code);
  material.needsUpdate = true;
}
