import type { Material, Object3D, Scene } from 'three';
import { VARIANT_CODES } from '../../../shaders/ShaderVariant.js';
import { PARAM_SHADOW_VARIANT, PARAM_VARIANT } from '../../constants.js';
import { InstanceMatrices } from '../../instances/InstanceMatrices.js';
import { warnOnce } from '../../utils/warnOnce.js';
import type { NodeBackend } from '../nodeBackend.js';
import { checkTextureSizes, type NodeRenderer, needsMatrixTexels } from './checkLimits.js';
import type { NodeCrowd } from './NodeCrowd.js';
import { runPosePass } from './nodePoses.js';
import { checkVertexNode, patchNodeMaterial } from './patchNodeMaterial.js';

export { skinnedInstanceNormal, skinnedInstancePosition } from './poseCrowd.js';

/** What a crowd was drawn with the last time. */
interface Drawn {
  /** The build key, for each material. */
  keys: WeakMap<Material, number>;
  morphTexture: object | null;
  /** How many influences' textures it has had: builds hold the texture itself. */
  generation: number;
}

const drawn = /*@__PURE__*/ new WeakMap<Object3D, Drawn>();

/** Generations that build keys tell apart. */
const GENERATIONS = 64;

interface Renderer extends NodeRenderer {
  library: { getMaterialNodeClass(type: string): unknown };
}

/**
 * Poses crowds under WebGPURenderer, on WebGPU and on WebGL 2, by a `setupPosition` of the materials' own that asks
 * whose object is being built. Nothing global is changed, and other meshes of the material are built as ever.
 */
export const webGPUBackend: NodeBackend = {
  prepare(target: object, object: Object3D, scene: Scene, material: Material): void {
    const crowd = object as NodeCrowd;
    const renderer = target as Renderer;
    checkTextureSizes(renderer, crowd);
    prepareMatrices(renderer, crowd);
    const override = scene.overrideMaterial;
    const last = override !== null && material.allowOverride ? override : material;
    crowd.isSkinnedMesh = isPosable(renderer, last);

    if (crowd.boneTexture.encoding === 'tracks') runPosePass(renderer, crowd);
    const key = keyOf(crowd);
    crowd.skeleton.bones.length = key;
    patch(crowd, material, key);
    if (override) patch(crowd, override, key);
  },
};

/**
 * Part of the key by which builds are shared: crowds of other variants, and plain meshes, get builds of their own; so
 * does a crowd once its instances have colours or influences, which the renderer looks for only when it builds.
 */
function keyOf(crowd: NodeCrowd): number {
  const { elements } = crowd.bindMatrix;
  let key = elements[PARAM_VARIANT] * VARIANT_CODES + elements[PARAM_SHADOW_VARIANT];
  key = key * 2 + (crowd.boneTexture.precision === 'half' ? 1 : 0);
  key = key * 2 + (crowd.instanceColor === null ? 0 : 1);
  key = key * 2 + (crowd.morphTexture === null ? 0 : 1);
  key = key * 2 + (crowd.matrices === null ? 0 : 1);
  return key * GENERATIONS + generationOf(crowd) + 1;
}

function drawnOf(crowd: NodeCrowd): Drawn {
  let last = drawn.get(crowd);
  if (last === undefined) {
    last = { keys: new WeakMap(), morphTexture: crowd.morphTexture, generation: 0 };
    drawn.set(crowd, last);
  }
  return last;
}

function generationOf(crowd: NodeCrowd): number {
  const last = drawnOf(crowd);
  if (last.morphTexture !== crowd.morphTexture) {
    last.morphTexture = crowd.morphTexture;
    last.generation = (last.generation + 1) % GENERATIONS;
  }
  return last.generation;
}

/** Keeps matrices and colours as texels once there is no room for them among the vertex attributes. */
function prepareMatrices(renderer: Renderer, crowd: NodeCrowd): void {
  const { instanceMatrix, instanceColor } = crowd;
  if (crowd.matrices === null && !needsMatrixTexels(renderer, crowd)) return;
  if (crowd.matrices?.capacity !== instanceMatrix.count) {
    crowd.matrices?.dispose();
    crowd.matrices = new InstanceMatrices(instanceMatrix.count, true);
  }
  const { matrices } = crowd;
  // A renderer forgets the ranges of attributes that it has sent; these it will not send.
  if (matrices.update(instanceMatrix)) instanceMatrix.clearUpdateRanges();
  if (instanceColor !== null && matrices.updateColors(instanceColor)) instanceColor.clearUpdateRanges();
  matrices.prepare(renderer);
}

/**
 * Whether three.js has a node material for a material. It draws others in a plain one that no crowd can be posed in, and
 * says so in an error.
 */
function isPosable(renderer: Renderer, material: Material): boolean {
  if ((material as { isNodeMaterial?: boolean }).isNodeMaterial === true) return true;
  if (renderer.library.getMaterialNodeClass(material.type) !== null) return true;
  warnOnce(
    `SkinnedInstancedMesh: WebGPURenderer has no node material for ${material.type} "${material.name}", in which the crowd therefore stands still; use a NodeMaterial.`,
  );
  return false;
}

function patch(crowd: NodeCrowd, material: Material, key: number): void {
  checkVertexNode(material);
  patchNodeMaterial(material);
  const { keys } = drawnOf(crowd);
  const last = keys.get(material);
  if (last === key) return;
  // The renderer looks at keys of what it has built only when the material's version has moved.
  if (last !== undefined) material.needsUpdate = true;
  keys.set(material, key);
}
