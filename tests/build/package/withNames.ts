import * as three from 'three';
import * as files from '../../../lib/files.js';
import * as library from '../../../lib/index.js';

const MODULES = { three, 'skinned-instanced-mesh': library, 'skinned-instanced-mesh/files': files };
const THREE = "import('three')";
const OURS = "import('skinned-instanced-mesh')";

/** What snippets take for granted, by type. */
const GIVEN = {
  [`${OURS}.SkinnedInstancedMesh`]: ['crowd'],
  [`${OURS}.BoneTexture`]: ['boneTexture'],
  [`${OURS}.Character`]: ['character'],
  [`${OURS}.SkinnedInstance`]: ['knight'],
  [`${OURS}.JointEdits`]: ['edits'],
  [`${OURS}.CrowdLevels`]: ['levels'],
  [`${OURS}.CrowdKinds`]: ['kinds'],
  [`${OURS}.KindMesh`]: ['rogue'],
  "import('skinned-instanced-mesh/webgpu').GPUInstances": ['gpu'],
  [`${OURS}.InstanceMorphs`]: ['morphs'],
  [`${OURS}.InstanceParts`]: ['parts'],
  [`${OURS}.Simplifier & { ready: Promise<void> }`]: ['MeshoptSimplifier'],
  "import('skinned-instanced-mesh/files').MeshoptEncoderLike": ['MeshoptEncoder'],
  "import('three/addons/loaders/GLTFLoader.js').GLTF": ['gltf'],
  "typeof import('three/addons/utils/SkeletonUtils.js')": ['SkeletonUtils'],
  [`${THREE}.Material`]: ['material', 'swordMaterial', 'otherMaterial'],
  [`${THREE}.Matrix4`]: ['matrix', 'offsetMatrix'],
  [`${THREE}.Plane`]: ['ground'],
  [`${THREE}.Vector3`]: ['target'],
  [`${THREE}.Quaternion`]: ['lean'],
  [`${THREE}.Quaternion[]`]: ['aims'],
  [`${THREE}.Object3D`]: ['root', 'coarseRoot', 'farRoot', 'ragdoll'],
  [`${THREE}.BufferGeometry`]: ['farGeometry', 'swordGeometry', 'coarseSwordGeometry', 'nameplate'],
  [`${THREE}.AnimationClip[]`]: ['clips'],
  [`${THREE}.Scene`]: ['scene'],
  [`${THREE}.Texture`]: ['leaves'],
  [`${THREE}.Raycaster`]: ['raycaster'],
  '(index: number) => void': ['strike'],
  number: ['delta'],
};

/** A snippet with what it takes for granted: values by their usual names, and imports of what it uses. */
export function withNames(code: string): string {
  const isMissing = (name: string) =>
    new RegExp(`\\b${name}\\b`).test(code) && !new RegExp(`(const|let|class|function) ${name}\\b`).test(code);
  const imports = Object.entries(MODULES).map(([module, names]) => {
    const used = Object.keys(names).filter(isMissing);
    return `import { ${used.join(', ')} } from '${module}';`;
  });
  const values = Object.entries(GIVEN).flatMap(([type, names]) =>
    names.filter(isMissing).map((name) => `declare const ${name}: ${type};`),
  );
  return [...imports, ...values, code, 'export {};'].join('\n');
}
