import {
  AnimationLayers,
  type CrowdMesh,
  DrawOrder,
  featureOf,
  InstanceMorphs,
  InstanceParts,
  InstanceUniforms,
  JointEdits,
  type LayerOptions,
  type SkinnedInstancedMesh,
} from './library.js';

// Each makes the feature where the crowd, or the mesh, has none yet.

export const partsOf = (mesh: CrowdMesh): InstanceParts => mesh.instanceParts ?? new InstanceParts(mesh);

export const morphsOf = (mesh: CrowdMesh): InstanceMorphs =>
  (mesh.morphs.ofInstances as InstanceMorphs | null) ?? new InstanceMorphs(mesh);

export const uniformsOf = (mesh: CrowdMesh): InstanceUniforms => mesh.uniforms ?? new InstanceUniforms(mesh);

export const editsOf = (crowd: SkinnedInstancedMesh): JointEdits =>
  featureOf(crowd, JointEdits) ?? new JointEdits(crowd);

export const orderOf = (crowd: CrowdMesh): DrawOrder => featureOf(crowd, DrawOrder) ?? new DrawOrder(crowd);

/** The layers of a crowd that has some. */
export const layersOf = (crowd: SkinnedInstancedMesh): AnimationLayers => featureOf(crowd, AnimationLayers)!;

/** Lays layers over the base of a crowd. */
export function withLayers(
  crowd: SkinnedInstancedMesh,
  layers: readonly LayerOptions[],
): SkinnedInstancedMesh {
  new AnimationLayers(crowd, layers);
  return crowd;
}
