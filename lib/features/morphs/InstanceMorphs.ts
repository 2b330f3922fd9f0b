import { DataTexture, FloatType, type Mesh, RedFormat } from 'three';
import { addMeshFeature, dropMeshFeature, type MeshFeature } from '../../core/CrowdFeature.js';
import type { CrowdMesh } from '../../crowd/CrowdMesh.js';
import { checkIndex, forEachInstance, type Instances } from '../../instances/instanceRange.js';
import { swapItems } from '../../utils/attributes.js';
import { checkFinite, listNames } from '../../utils/messages.js';

/**
 * Gives single instances of a mesh influences of morph targets of their own, to which clips that morph add theirs: bodies and
 * faces of one's own. It keeps the `morphTexture` of the mesh, which it has once an instance was given an influence. Until then
 * all instances have the mesh's `morphTargetInfluences`.
 *
 * ```ts
 * const morphs = new InstanceMorphs(crowd);
 * morphs.setInfluenceAt(3, 'Fat', 0.6);
 * ```
 *
 * With it, `crowd.setMorphAt(index, object)` and `crowd.getMorphAt(index, object)` are what `InstancedMesh` has. What is attached to joints
 * has influences by itself: `new InstanceMorphs(hat)`.
 *
 * Meshes of a character whose targets have the same names and influences, such as head, teeth and lashes of a face, share them, unless
 * clips move them apart: to move one eye alone, give its targets names of their own before baking.
 *
 * @category Dress and attach
 */
export class InstanceMorphs implements MeshFeature {
  /**
   * @param mesh A crowd, or what is attached to one.
   * @throws If it has some already.
   */
  constructor(private readonly mesh: CrowdMesh) {
    addMeshFeature(mesh, this);
    mesh.morphs.ofInstances = this;
  }

  /**
   * Gives instances an influence of their own by the name of the target. Where several meshes of a character have a target of
   * that name, as heads and teeth have a smile, it is for all of them.
   *
   * @param influence Null for the one that all instances share.
   * @throws If there is no such instance or target, or the influence is not finite.
   */
  setInfluenceAt(instances: Instances, name: string, influence: number | null): this {
    const targets = this.targetsOf(name);
    if (influence !== null) checkFinite(influence, name);
    const { mesh } = this;
    const { morphTargetInfluences: shared = [], morphs } = mesh;
    const texture = this.needTexture();
    const { data, width } = texture.image;
    morphs.growByShared();
    for (const target of targets) {
      const own = influence ?? shared[target];
      morphs.growBy(target, own);
      forEachInstance(instances, mesh.visibility, (index) => {
        (data as Float32Array)[index * width + 1 + target] = own;
      });
    }
    texture.needsUpdate = true;
    return this;
  }

  /**
   * The influence that an instance has of a target, without what clips add.
   *
   * @throws If there is no such instance or target.
   */
  getInfluenceAt(index: number, name: string): number {
    const { mesh } = this;
    checkIndex(index, mesh.visibility);
    const [target] = this.targetsOf(name);
    if (mesh.morphTexture === null) return mesh.morphTargetInfluences?.[target] ?? 0;
    const { data, width } = mesh.morphTexture.image;
    return (data as Float32Array)[index * width + 1 + target];
  }

  /** Gives an instance the influences that another one has. */
  copyAt(from: number, to: number): this {
    const { morphTexture } = this.mesh;
    if (morphTexture === null) return this;
    const { data, width } = morphTexture.image;
    (data as Float32Array).copyWithin(to * width, from * width, (from + 1) * width);
    morphTexture.needsUpdate = true;
    return this;
  }

  /**
   * Makes sure that an object's influences can be set on an instance, and that there is a texture for them.
   *
   * @throws If the geometry has no targets, the object has more or fewer influences than the geometry has targets, or one is not finite.
   * @internal
   */
  prepare(object: Mesh): void {
    const { geometry, morphs } = this.mesh;
    const targets = geometry.morphAttributes.position?.length ?? 0;
    const { morphTargetInfluences } = object ?? {};
    if (!targets || morphTargetInfluences?.length !== targets) {
      throw new Error(
        `The object has ${morphTargetInfluences?.length ?? 'no'} morph target influences, and the geometry ${targets || 'no'} targets.`,
      );
    }
    morphTargetInfluences.forEach((influence, i) => {
      checkFinite(influence, `morphTargetInfluences[${i}]`);
    });
    morphs.growByShared();
    morphTargetInfluences.forEach((influence, i) => {
      morphs.growBy(i, influence);
    });
    this.needTexture();
  }

  /** Lets go of influences that are for another geometry. @internal */
  geometryReplaced(): void {
    if (this.mesh.morphTexture !== null && this.mesh.morphTexture.image.width !== this.width) this.remove();
  }

  resize(capacity: number): void {
    const { morphTexture } = this.mesh;
    if (morphTexture !== null && morphTexture.image.height !== capacity) this.take(morphTexture);
  }

  swap(i: number, j: number): void {
    const { morphTexture } = this.mesh;
    if (morphTexture === null) return;
    swapItems(morphTexture.image.data as Float32Array, i, j, morphTexture.image.width);
    morphTexture.needsUpdate = true;
  }

  reset(index: number): void {
    const { morphTexture } = this.mesh;
    if (morphTexture === null) return;
    (morphTexture.image.data as Float32Array).set(this.shared, index * this.width);
    morphTexture.needsUpdate = true;
  }

  copy({ mesh: { morphTexture, morphs } }: InstanceMorphs): void {
    this.mesh.morphs.grow(morphs);
    if (morphTexture === null) this.remove();
    else this.take(morphTexture);
  }

  cloneForMesh(mesh: object): InstanceMorphs {
    return new InstanceMorphs(mesh as CrowdMesh);
  }

  /** Instances have the influences that all share. */
  dispose(): void {
    const { mesh } = this;
    if (mesh.morphs.ofInstances !== this) return;
    mesh.morphs.ofInstances = null;
    dropMeshFeature(mesh, this);
    this.remove();
    mesh.prepareDraw();
  }

  private remove(): void {
    this.mesh.morphTexture?.dispose();
    this.mesh.morphTexture = null;
  }

  /** Gives instances the influences that a texture has for them, as far as there is room, and the others the shared ones. */
  private take(from: DataTexture): void {
    const { data, width, height } = from.image;
    const { capacity } = this.mesh;
    const weights = this.sharedWeights();
    weights.set((data as Float32Array).subarray(0, Math.min(capacity, height) * width));
    const texture = this.needTexture();
    // With another image it must be sent as if it were new. The object stays, since builds of node materials hold it.
    texture.dispose();
    texture.image = { data: weights, width, height: capacity };
    texture.needsUpdate = true;
  }

  private needTexture(): DataTexture {
    const { mesh, width } = this;
    if (mesh.morphTexture?.image.width === width) return mesh.morphTexture;
    mesh.morphTexture?.dispose();
    const texture = new DataTexture(this.sharedWeights(), width, mesh.capacity, RedFormat, FloatType);
    texture.needsUpdate = true;
    mesh.morphTexture = texture;
    return texture;
  }

  private sharedWeights(): Float32Array<ArrayBuffer> {
    const { width } = this;
    const { capacity } = this.mesh;
    const weights = new Float32Array(width * capacity);
    for (let i = 0; i < capacity; i++) weights.set(this.shared, i * width);
    return weights;
  }

  /** Numbers of an instance. */
  private get width(): number {
    return (this.mesh.geometry.morphAttributes.position?.length ?? 0) + 1;
  }

  /** Numbers of an instance that has none of its own: 1, the share of the base, and then the influences that all share. */
  private get shared(): number[] {
    return [1, ...(this.mesh.morphTargetInfluences ?? []).slice(0, this.width - 1)];
  }

  /** @throws If there is no target of that name. */
  private targetsOf(name: string): number[] {
    const { geometry, morphTargetDictionary = {}, morphTargetInfluences = [] } = this.mesh;
    if (!(name in morphTargetDictionary))
      throw new Error(
        `There is no morph target "${name}"; there are ${listNames(Object.keys(morphTargetDictionary), name)}.`,
      );
    const { position = [] } = geometry.morphAttributes;
    return [...morphTargetInfluences.keys()].filter(
      (target) => target === morphTargetDictionary[name] || position[target]?.name === name,
    );
  }
}
