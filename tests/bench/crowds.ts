import { createInstancedMesh2From, type InstancedMesh2 } from '@three.ez/instanced-mesh';
import { BoneTexture, type FromOptions, SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import {
  type AnimationClip,
  AnimationMixer,
  InstancedMesh,
  Matrix4,
  type Mesh,
  type Object3D,
  type SkinnedMesh,
  type WebGLRenderer,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';

/** One way to draw a crowd. */
export interface Contender {
  name: string;
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

function place(index: number): Matrix4 {
  return _matrix.makeTranslation((index % 100) * 2, 0, -Math.floor(index / 100) * 2);
}

/** What can not be beaten: the same geometry, instanced, standing still. */
export function createFloor({ mesh }: Source, count: number): Contender {
  const floor = new InstancedMesh(mesh.geometry, mesh.material, count);
  for (let i = 0; i < count; i++) floor.setMatrixAt(i, place(i));
  return {
    name: 'InstancedMesh, still (floor)',
    object: floor,
    update: () => {},
    dispose: () => floor.dispose(),
  };
}

export function createSkinned({ root, clips }: Source, count: number): Contender {
  const group = SkeletonUtils.clone(root).clone(false);
  const mixers: AnimationMixer[] = [];
  for (let i = 0; i < count; i++) {
    const clone = SkeletonUtils.clone(root);
    clone.position.setFromMatrixPosition(place(i));
    const mixer = new AnimationMixer(clone);
    mixer.clipAction(clips[i % clips.length]).play().time = i % 7;
    mixers.push(mixer);
    group.add(clone);
  }
  return {
    name: 'SkinnedMesh + AnimationMixer',
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
    instance.position.setFromMatrixPosition(place(i));
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
  return { name: 'InstancedMesh2 with skeleton', object: crowd, update, dispose: () => crowd.dispose() };
}

const baked = new Map<string, BoneTexture>();

export function createOurs(
  source: Source,
  count: number,
  options: FromOptions = {},
  name?: string,
): Contender {
  const { encoding = 'auto', precision = 'float' } = options;
  const key = `${source.root.uuid} ${encoding} ${precision}`;
  const boneTexture = baked.get(key) ?? BoneTexture.bake(source.root, source.clips, { encoding, precision });
  baked.set(key, boneTexture);

  const { geometry, material } = source.mesh as Mesh;
  // A material of its own: one that is shared by crowds of other encodings compiles to a shader that holds them all.
  const own = Array.isArray(material) ? material.map((one) => one.clone()) : material.clone();
  const crowd = new SkinnedInstancedMesh(geometry, own, boneTexture, count, options);
  for (let i = 0; i < count; i++) {
    crowd.setMatrixAt(i, place(i));
    crowd.play(i, i % source.clips.length, { time: i % 7 });
  }
  return {
    name: name ?? 'SkinnedInstancedMesh',
    object: crowd,
    update: (delta) => crowd.update(delta),
    dispose: () => crowd.dispose(),
  };
}
