/** A snippet with what it takes for granted. */
export function withNames(code: string): string {
  const declared = {
    crowd: 'SkinnedInstancedMesh',
    material: 'Material',
    matrix: 'Matrix4',
    boneTexture: 'BoneTexture',
    character: 'BakedCharacter',
    target: 'Vector3',
    knight: 'SkinnedInstance',
    edits: 'JointEdits',
    levels: 'CrowdLevels',
    morphs: 'InstanceMorphs',
    parts: 'InstanceParts',
    farGeometry: 'BufferGeometry',
    lean: 'Quaternion',
    aims: 'Quaternion[]',
    ragdoll: 'Object3D',
    MeshoptEncoder: "import('skinned-instanced-mesh/files').MeshoptEncoderLike",
    MeshoptSimplifier: "import('skinned-instanced-mesh').Simplifier & { ready: Promise<void> }",
  };
  const names = Object.entries(declared)
    .filter(([name]) => !new RegExp(`const ${name}\\b`).test(code))
    .map(([name, type]) => `declare const ${name}: ${type};\nvoid ${name};`);
  return `
import { type AnimationAction, AnimationClip, AnimationMixer, AnimationUtils, type BufferGeometry, Color, InterpolateLinear,
  type KeyframeTrack, LoopOnce, type Material, Matrix4, Mesh, MeshDepthMaterial, MeshStandardMaterial, type Object3D,
  PropertyBinding, type Quaternion, type Raycaster, RGBADepthPacking, type Scene, ShaderMaterial, SkeletonHelper, type SkinnedMesh, type Texture, Vector2,
  Vector3 } from 'three';
import * as SkeletonUtils from 'three/addons/utils/SkeletonUtils.js';
import type { GLTF } from 'three/addons/loaders/GLTFLoader.js';
import { AnimationLayers, CrowdLevels, extractRootMotion, InstanceMorphs, InstanceParts, JointAttachment, SkinnedInstance, applyRootMotion, assembleCharacter, bakeBoneTexture, bakeCharacter, bakeCharacterAsync, type Character as BakedCharacter, createLevel, disposeCharacter, mergeMaterials, simplifyGeometry, BoneTexture, getSkinningMatrix, getSocketMatrix, getVertexPosition, getViewInfo, InstanceUniforms, JointEdits, loadPlayback, readViewInfo, savePlayback, SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import { bakedCharactersOf, readBoneTexture, writeBoneTexture } from 'skinned-instanced-mesh/files';
declare const gltf: GLTF, root: Object3D, coarseRoot: Object3D, farRoot: Object3D, clips: AnimationClip[], delta: number, scene: Scene;
declare const offsetMatrix: Matrix4, swordGeometry: BufferGeometry, coarseSwordGeometry: BufferGeometry, nameplate: BufferGeometry, swordMaterial: Material, otherMaterial: Material, leaves: Texture, raycaster: Raycaster;
declare function strike(index: number): void;
type Named = [AnimationAction, KeyframeTrack, Quaternion, SkinnedMesh];
void [AnimationLayers, CrowdLevels, extractRootMotion, InstanceMorphs, InstanceParts, JointAttachment, SkinnedInstance, assembleCharacter, bakeBoneTexture, bakeCharacter, bakeCharacterAsync, createLevel, disposeCharacter, mergeMaterials, simplifyGeometry, getViewInfo, InstanceUniforms, JointEdits, readViewInfo, loadPlayback, savePlayback, applyRootMotion, getSkinningMatrix, getSocketMatrix, getVertexPosition, bakedCharactersOf, readBoneTexture, writeBoneTexture, Mesh, nameplate, AnimationClip, AnimationMixer, AnimationUtils, Color, InterpolateLinear, LoopOnce, Matrix4, PropertyBinding, Vector3, {} as Named, MeshDepthMaterial, MeshStandardMaterial, RGBADepthPacking, ShaderMaterial, SkeletonHelper,
  Vector2, SkeletonUtils, BoneTexture, SkinnedInstancedMesh, gltf, root, coarseRoot, farRoot, coarseSwordGeometry, clips, delta, scene, offsetMatrix,
  swordGeometry, swordMaterial, otherMaterial, leaves, raycaster, strike];
${names.join('\n')}
${code}
export {};
`;
}
