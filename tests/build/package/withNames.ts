import * as three from 'three';
import * as files from '../../../lib/files.js';
import * as library from '../../../lib/index.js';

const MODULES = {
  three: Object.keys(three),
  'skinned-instanced-mesh': Object.keys(library),
  'skinned-instanced-mesh/files': Object.keys(files),
  'skinned-instanced-mesh/vertex-textures': ['bakeVertexCharacter'],
  'skinned-instanced-mesh/occlusion': ['Occlusion'],
  'skinned-instanced-mesh/webgpu': [
    'GPUInstances',
    'NeighbourGrid',
    'instanceUniform',
    'skinnedInstancePosition',
  ],
  'three/webgpu': ['MeshBasicNodeMaterial', 'MeshStandardNodeMaterial', 'StorageInstancedBufferAttribute'],
  'three/tsl': ['color', 'mix', 'varying'],
};
const THREE = "import('three')";
const OURS = "import('skinned-instanced-mesh')";

/** What snippets take for granted, by type. */
const GIVEN = {
  [`${OURS}.SkinnedInstancedMesh`]: ['crowd', 'grass', 'trees', 'rabbits', 'frogs'],
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
  "import('three/addons/loaders/GLTFLoader.js').GLTF": ['gltf', 'far'],
  "import('three/addons/loaders/GLTFLoader.js').GLTFLoader": ['loader'],
  "import('three/webgpu').WebGPURenderer": ['renderer'],
  "typeof import('three/addons/utils/SkeletonUtils.js')": ['SkeletonUtils'],
  [`${THREE}.Material`]: ['material', 'swordMaterial', 'otherMaterial'],
  [`${THREE}.Matrix4`]: ['matrix', 'offsetMatrix'],
  [`${THREE}.Plane`]: ['ground'],
  [`${THREE}.Vector3`]: ['target'],
  [`${THREE}.Quaternion`]: ['lean', 'turned'],
  [`${THREE}.Quaternion[]`]: ['aims'],
  [`${THREE}.Object3D`]: ['root', 'coarseRoot', 'farRoot', 'ragdoll', 'houses'],
  [`${THREE}.BufferGeometry`]: [
    'farGeometry',
    'swordGeometry',
    'coarseSwordGeometry',
    'nameplate',
    'coarse',
    'coarseBody',
    'coarserBody',
    'coarseSword',
  ],
  [`${OURS}.JointAttachment`]: ['sword'],
  [`${OURS}.PlaybackJSON`]: ['saved'],
  [`${THREE}.MeshStandardMaterial`]: ['skin'],
  [`${THREE}.HSL`]: ['hsl'],
  [`${THREE}.Mesh`]: ['cape'],
  [`${THREE}.BufferAttribute`]: ['looseness'],
  [`${THREE}.PerspectiveCamera`]: ['camera'],
  [`${THREE}.Timer`]: ['timer'],
  Float32Array: ['speeds'],
  any: ['source', 'hop', 'agents', 'near', 'place', 'yours', 'fish', 'bend'],
  [`${THREE}.AnimationClip[]`]: ['clips'],
  [`${THREE}.Scene`]: ['scene'],
  [`${THREE}.Texture`]: ['leaves', 'texture'],
  [`${THREE}.Raycaster`]: ['raycaster'],
  '(index: number) => void': ['strike'],
  number: ['delta', 'count'],
};

/** A snippet with what it takes for granted: values by their usual names, and imports of what it uses. */
export function withNames(code: string): string {
  const isMissing = (name: string) =>
    new RegExp(`\\b${name}\\b`).test(code) && !new RegExp(`(const|let|class|function) ${name}\\b`).test(code);
  const imports = Object.entries(MODULES).map(([module, names]) => {
    const used = names.filter(isMissing);
    return `import { ${used.join(', ')} } from '${module}';`;
  });
  const values = Object.entries(GIVEN).flatMap(([type, names]) =>
    names.filter(isMissing).map((name) => `declare const ${name}: ${type};`),
  );
  return [...imports, ...values, code, 'export {};'].join('\n');
}
