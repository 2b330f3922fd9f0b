import { type BufferGeometry, DataTexture, FloatType, type InstancedMesh, type Mesh, RedFormat } from 'three';
import type { MorphRange } from '../poses/jointBoxes.js';
import { checkFinite } from '../utils/checkFinite.js';
import { swapItems } from '../utils/swapItems.js';
import type { InstanceData } from './InstanceData.js';

/** How much farther than an influence asks for its range grows. */
const HEADROOM = 1.25;

/**
 * The `morphTexture` of a mesh: influences that instances have of their own. There is none until an instance is given
 * some; until then all have the mesh's `morphTargetInfluences`.
 */
export class InstanceMorphs implements InstanceData, MorphRange {
  /** For each target the least and the greatest influence that instances have had. They only grow. */
  readonly least: number[] = [];
  readonly most: number[] = [];
  /** Goes up when one of these changes. */
  reachVersion = 0;

  constructor(private readonly mesh: InstancedMesh & { readonly clipsMorph: boolean }) {}

  /**
   * Makes sure that an object's influences can be set on an instance, and that there is a texture for them.
   *
   * @throws If the object has more or fewer influences than the geometry has targets, or one is not finite.
   */
  prepare(object: Mesh): void {
    const targets = this.mesh.geometry.morphAttributes.position?.length ?? 0;
    const { morphTargetInfluences } = object ?? {};
    if (morphTargetInfluences?.length !== targets) {
      throw new Error(
        `The object has ${morphTargetInfluences?.length ?? 'no'} morph target influences, and the geometry ${targets} targets.`,
      );
    }
    morphTargetInfluences.forEach((influence, i) => {
      checkFinite(influence, `morphTargetInfluences[${i}]`);
    });
    this.growByShared();
    morphTargetInfluences.forEach((influence, i) => this.growBy(i, influence));
    this.needTexture();
  }

  /**
   * Gives an instance an influence of its own; with null it has the shared one again. Where several meshes of a character have a target of
   * that name, as heads and teeth have a smile, it is that of all of them.
   *
   * @throws If there is no such target, or the influence is not finite.
   */
  set(index: number, name: string, influence: number | null): void {
    const { geometry, morphTargetDictionary = {}, morphTargetInfluences = [] } = this.mesh;
    const { position = [] } = geometry.morphAttributes;
    if (!(name in morphTargetDictionary)) {
      const names = Object.keys(morphTargetDictionary).map((one) => `"${one}"`);
      throw new Error(`There is no morph target "${name}"; there are ${names.join(', ') || 'none'}.`);
    }
    if (influence !== null) checkFinite(influence, name);
    const texture = this.needTexture();
    const { data, width } = texture.image;
    this.growByShared();
    for (let target = 0; target < morphTargetInfluences.length; target++) {
      if (target !== morphTargetDictionary[name] && position[target]?.name !== name) continue;
      const own = influence ?? morphTargetInfluences[target];
      (data as Float32Array)[index * width + 1 + target] = own;
      this.growBy(target, own);
    }
    texture.needsUpdate = true;
  }

  /**
   * Lets go of influences that are for another geometry. three.js draws morph targets only of objects that have
   * influences, so the mesh gets some.
   */
  fitGeometry({ morphAttributes }: BufferGeometry): void {
    const { mesh } = this;
    const targets = morphAttributes.position ?? [];
    if (targets.length > 0 && mesh.morphTargetInfluences?.length !== targets.length) {
      mesh.morphTargetInfluences = targets.map(() => 0);
      mesh.morphTargetDictionary = Object.fromEntries(targets.map(({ name }, i) => [name || String(i), i]));
    }
    if (mesh.morphTexture !== null && mesh.morphTexture.image.width !== targets.length + 1) this.remove();
  }

  /** Grows by the influences that all instances share, which users write into an array of three.js. */
  growByShared(): void {
    const { morphTargetInfluences: shared } = this.mesh;
    if (shared === undefined) return;
    const { least, most } = this;
    if (most.length !== shared.length) {
      // Boxes hold influences from 0 to 1 anyway. What clips add to the shared ones comes on top, which boxes hold tightly at first.
      const { clipsMorph } = this.mesh;
      for (let target = 0; target < shared.length; target++) {
        // What is no number would stay so for ever: nothing is less or greater.
        const influence = Number.isNaN(shared[target]) ? 0 : shared[target];
        least[target] = clipsMorph || influence < 0 ? influence : 0;
        most[target] = clipsMorph || influence > 1 ? influence : 1;
      }
      least.length = most.length = shared.length;
      this.reachVersion++;
    }
    for (let target = 0; target < shared.length; target++) this.growBy(target, shared[target]);
  }

  /** Grows by an influence: by more than it asks for, so that bounds are not computed at each step of one that moves on. */
  private growBy(target: number, influence: number): void {
    const { least, most } = this;
    if (!(influence < least[target] || influence > most[target])) return;
    for (let i = 0; i < most.length; i++) {
      least[i] = Math.min(least[i], 0);
      most[i] = Math.max(most[i], 1);
    }
    if (influence < 0) least[target] = Math.min(least[target], influence * HEADROOM);
    if (influence > 1) most[target] = Math.max(most[target], influence * HEADROOM);
    this.reachVersion++;
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
    const { morphTexture, morphTargetInfluences } = this.mesh;
    if (morphTexture === null) return;
    const { data, width } = morphTexture.image;
    (data as Float32Array).set([1, ...(morphTargetInfluences ?? [])], index * width);
    morphTexture.needsUpdate = true;
  }

  copy({ mesh: { morphTexture }, least, most }: InstanceMorphs): void {
    this.growByShared();
    for (let target = 0; target < Math.min(most.length, this.most.length); target++) {
      this.growBy(target, least[target]);
      this.growBy(target, most[target]);
    }
    if (morphTexture === null) this.remove();
    else this.take(morphTexture);
  }

  /** `InstancedMesh.dispose` frees the texture. */
  dispose(): void {}

  private remove(): void {
    this.mesh.morphTexture?.dispose();
    this.mesh.morphTexture = null;
  }

  /** Gives instances the influences that a texture has for them, as far as there is room, and the others the shared ones. */
  private take(from: DataTexture): void {
    const { data, width, height } = from.image;
    const { capacity } = this;
    const weights = this.sharedWeights();
    weights.set((data as Float32Array).subarray(0, Math.min(capacity, height) * width));
    const texture = this.needTexture();
    // With another image it must be sent as if it were new. The object stays, since builds of node materials hold it.
    texture.dispose();
    texture.image = { data: weights, width, height: capacity };
    texture.needsUpdate = true;
  }

  private needTexture(): DataTexture {
    const { mesh } = this;
    const width = (mesh.morphTargetInfluences?.length ?? 0) + 1;
    if (mesh.morphTexture?.image.width === width) return mesh.morphTexture;
    mesh.morphTexture?.dispose();
    const texture = new DataTexture(this.sharedWeights(), width, this.capacity, RedFormat, FloatType);
    texture.needsUpdate = true;
    mesh.morphTexture = texture;
    return texture;
  }

  /** For each instance 1, the share of the base, and then the influences that all instances share. */
  private sharedWeights(): Float32Array<ArrayBuffer> {
    const shared = this.mesh.morphTargetInfluences ?? [];
    const width = shared.length + 1;
    const weights = new Float32Array(width * this.capacity);
    for (let i = 0; i < this.capacity; i++) weights.set([1, ...shared], i * width);
    return weights;
  }

  private get capacity(): number {
    return this.mesh.instanceMatrix.count;
  }
}
