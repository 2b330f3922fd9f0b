import type { LoadedCharacter } from 'skinned-instanced-mesh/files';
import {
  type AnimationClip,
  AnimationMixer,
  BufferGeometry,
  Group,
  type Mesh,
  type MeshStandardMaterial,
  type Object3D,
  SkinnedMesh,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';
import { type Armies, PAINTED } from './battle/Armies.js';

/** The soldiers as three.js has them: a clone of the character and an AnimationMixer for each. */
export class Clones extends Group {
  private readonly mixers: AnimationMixer[] = [];

  private readonly models: Object3D[];

  constructor(
    private readonly armies: Armies,
    private readonly characters: readonly LoadedCharacter[],
    private readonly clips: readonly AnimationClip[],
  ) {
    super();
    this.models = characters.map(inParts);
  }

  get count(): number {
    return this.mixers.length;
  }

  /** So many more of them, in the order of the armies. */
  join(count: number): void {
    for (let made = 0; made < count && this.count < this.armies.count; made++) this.joinOne();
  }

  update(delta: number): void {
    for (const mixer of this.mixers) mixer.update(delta);
  }

  dispose(): void {
    for (const mixer of this.mixers) mixer.stopAllAction();
    this.traverse((node) => {
      (node as SkinnedMesh).skeleton?.dispose();
      if ((node as Mesh).isMesh) ((node as Mesh).material as MeshStandardMaterial).dispose();
    });
    this.removeFromParent();
  }

  private joinOne(): void {
    const team = this.count % 2;
    const index = (this.count - team) / 2;
    const soldier = this.armies.soldiers[team][index];
    const clone = SkeletonUtils.clone(this.models[team]);
    clone.traverse((node) => {
      const mesh = node as Mesh;
      if (!mesh.isMesh) return;
      mesh.visible = soldier.parts.includes(mesh.name);
      mesh.castShadow = mesh.receiveShadow = true;
      // Recoloured textures are the crowd's.
      const material = ([this.characters[team].material].flat()[0] as MeshStandardMaterial).clone();
      material.color.copy(soldier.color);
      if (mesh.name in PAINTED) material.color.multiply(PAINTED[mesh.name]);
      mesh.material = material;
    });
    clone.matrixAutoUpdate = false;
    this.armies.crowds[team].getMatrixAt(index, clone.matrix);
    const mixer = new AnimationMixer(clone);
    const clip = this.clips.find(({ name }) => name === soldier.clip);
    if (clip === undefined) throw new Error(`The file of clips has no ${soldier.clip}.`);
    const action = mixer.clipAction(clip).play();
    action.time = Math.random() * clip.duration;
    this.mixers.push(mixer);
    this.add(clone);
  }
}

/** A baked character with a mesh for each part, as its source had it. */
function inParts({ scene, geometry, parts }: LoadedCharacter): Object3D {
  const model = SkeletonUtils.clone(scene);
  const whole = model.getObjectByProperty('isSkinnedMesh', true) as SkinnedMesh;
  const { index, attributes } = geometry;
  parts.forEach(({ names: [name] }, part) => {
    const own = new BufferGeometry();
    for (const [key, attribute] of Object.entries(attributes)) own.setAttribute(key, attribute);
    own.setIndex(Array.from(index!.array).filter((vertex) => attributes.partIndex.getX(vertex) === part));
    const mesh = Object.assign(new SkinnedMesh(own, whole.material), { name });
    mesh.bind(whole.skeleton, whole.bindMatrix);
    model.add(mesh);
  });
  whole.removeFromParent();
  return model;
}
