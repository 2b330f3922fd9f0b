import { createInstancedMesh2From, type InstancedMesh2 } from '@three.ez/instanced-mesh';
import {
  type BoneTexture,
  bakeBoneTexture,
  type EncodingName,
  frames,
  type Precision,
  SkinnedInstancedMesh,
  type SkinnedInstancedMeshOptions,
} from 'skinned-instanced-mesh';
import {
  type AnimationClip,
  AnimationMixer,
  BatchedMesh,
  type BufferGeometry,
  InstancedMesh,
  type Material,
  Matrix4,
  type Mesh,
  type Object3D,
  type SkinnedMesh,
  type WebGLRenderer,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { placeOf } from '../lib/plan.js';

/** Width of a character with some room around it. */
export const SIZE = 1.3;

/** One way to draw a crowd. */
export interface Contender {
  object: Object3D;
  update(delta: number): void;
  dispose(): void;
}

export interface Source {
  root: Object3D;
  mesh: SkinnedMesh;
  clips: AnimationClip[];
}

const _matrix = new Matrix4();

const place = (index: number) => placeOf(index, SIZE, _matrix);

/** The largest skinned mesh of a character, which stands for it. */
export function sourceOf(name: string, { root, clips }: { root: Object3D; clips: AnimationClip[] }): Source {
  let mesh: SkinnedMesh | undefined;
  root.traverse((node) => {
    const candidate = node as SkinnedMesh;
    if (!candidate.isSkinnedMesh) return;
    const size = (m: Mesh) => m.geometry.getAttribute('position').count;
    if (mesh === undefined || size(candidate) > size(mesh)) mesh = candidate;
  });
  if (mesh === undefined) throw new Error(`${name} has no skinned mesh`);
  return { root, clips, mesh };
}

/** What can not be beaten: the same geometry, instanced, standing still. */
export function createFloor({ mesh }: Source, count: number): Contender {
  const floor = new InstancedMesh(mesh.geometry, mesh.material, count);
  for (let i = 0; i < count; i++) floor.setMatrixAt(i, place(i));
  return {
    object: floor,
    update: () => {},
    dispose: () => floor.dispose(),
  };
}

/** three.js's own for many geometries in one draw call, of which there is one here, standing still. */
export function createBatched({ mesh }: Source, count: number): Contender {
  const { geometry, material } = mesh as SkinnedMesh<BufferGeometry, Material>;
  const corners = geometry.index?.count ?? 0;
  const batch = new BatchedMesh(count, geometry.getAttribute('position').count, corners, material);
  batch.perObjectFrustumCulled = batch.sortObjects = false;
  const id = batch.addGeometry(geometry);
  for (let i = 0; i < count; i++) batch.setMatrixAt(batch.addInstance(id), place(i));
  return { object: batch, update: () => {}, dispose: () => batch.dispose() };
}

export function createSkinned({ root, clips }: Source, count: number): Contender {
  const group = SkeletonUtils.clone(root).clone(false);
  const mixers: AnimationMixer[] = [];
  for (let i = 0; i < count; i++) {
    const clone = SkeletonUtils.clone(root);
    place(i).decompose(clone.position, clone.quaternion, clone.scale);
    const mixer = new AnimationMixer(clone);
    mixer.clipAction(clips[i % clips.length]).play().time = i % 7;
    mixers.push(mixer);
    group.add(clone);
  }
  return {
    object: group,
    update: (delta) => {
      for (const mixer of mixers) mixer.update(delta);
    },
    dispose: () => {
      group.traverse((node) => (node as SkinnedMesh).skeleton?.dispose());
    },
  };
}

/** As its documentation has it: one skeleton, posed and stored for each instance in turn. */
export function createInstancedMesh2(
  { root, mesh, clips }: Source,
  count: number,
  renderer: WebGLRenderer,
): Contender {
  const clone = SkeletonUtils.clone(root);
  const skinned = clone.getObjectByName(mesh.name) as SkinnedMesh;
  const crowd: InstancedMesh2 = createInstancedMesh2From(skinned, { capacity: count, renderer });
  crowd.addInstances(count, (instance, i) => {
    place(i).decompose(instance.position, instance.quaternion, instance.scale);
    instance.updateMatrix();
  });
  crowd.initSkeleton(skinned.skeleton);
  crowd.perObjectFrustumCulled = false;
  const mixer = new AnimationMixer(clone);
  const actions = clips.map((clip) => mixer.clipAction(clip));
  let time = 0;
  const update = (delta: number) => {
    time += delta;
    for (let i = 0; i < count; i++) {
      const action = actions[i % actions.length];
      action.play();
      mixer.setTime(time + (i % 7));
      crowd.setBonesAt(i);
      action.stop();
    }
  };
  update(0);
  return { object: crowd, update, dispose: () => crowd.dispose() };
}

const baked = new Map<string, BoneTexture>();

/** How a crowd is baked and drawn. */
interface OursOptions extends SkinnedInstancedMeshOptions {
  encoding?: EncodingName;
  precision?: Precision;
}

export function createOurs(source: Source, count: number, options: OursOptions = {}): Contender {
  const { encoding = 'tracks', precision = 'float', ...drawn } = options;
  const key = `${source.root.uuid} ${encoding} ${precision}`;
  const boneTexture =
    baked.get(key) ??
    bakeBoneTexture(source.root, source.clips, {
      encoding: encoding === 'frames' ? frames : undefined,
      precision,
    });
  baked.set(key, boneTexture);

  const { geometry, material } = source.mesh as Mesh;
  // A material of its own: one that is shared by crowds of other encodings compiles to a shader that holds them all.
  const own = Array.isArray(material) ? material.map((one) => one.clone()) : material.clone();
  const crowd = new SkinnedInstancedMesh(geometry, own, boneTexture, count, drawn);
  for (let i = 0; i < count; i++) {
    crowd.setMatrixAt(i, place(i));
    crowd.play(i, i % source.clips.length, { time: i % 7 });
  }
  return {
    object: crowd,
    update: (delta) => crowd.update(delta),
    dispose: () => crowd.dispose(),
  };
}

/** What the benchmark compares, in the order of its tables; each under the renderers it works with. */
export const CONTENDERS: Record<string, ContenderKind> = {
  floor: { name: 'InstancedMesh, still (the floor)', renderers: ['webgl', 'webgpu'], create: createFloor },
  batched: { name: 'BatchedMesh, still', renderers: ['webgl', 'webgpu'], create: createBatched },
  skinned: { name: 'SkinnedMesh + AnimationMixer', renderers: ['webgl', 'webgpu'], create: createSkinned },
  instancedMesh2: {
    name: 'InstancedMesh2 with skeleton',
    renderers: ['webgl'],
    create: createInstancedMesh2,
  },
  tracks: ours('tracks', 'float'),
  frames: ours('frames', 'float'),
  framesHalf: ours('frames', 'half'),
  nearest: ours('frames', 'float', false),
};

export interface ContenderKind {
  name: string;
  renderers: string[];
  create(source: Source, count: number, renderer: WebGLRenderer): Contender;
}

function ours(encoding: EncodingName, precision: Precision, interpolate = true): ContenderKind {
  return {
    name: `SkinnedInstancedMesh, ${encoding} ${precision}${interpolate ? '' : ', nearest'}`,
    renderers: ['webgl', 'webgpu'],
    create: (source, count) => createOurs(source, count, { encoding, precision, interpolate }),
  };
}
