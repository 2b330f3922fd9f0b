import { type BufferGeometry, DataTexture, FloatType, type Mesh, RedFormat } from 'three';
import { checkFinite } from '../playback/PlayOptions.js';
import { swapItems } from '../utils/swapItems.js';
import { PartedInstancedMesh } from './PartedInstancedMesh.js';

const NAME = 'SkinnedInstancedMesh';

/** A parted mesh with morph targets: those that its clips move, and influences that instances have of their own. */
export abstract class MorphedInstancedMesh extends PartedInstancedMesh {
  /** Whether clips move the geometry's morph targets. */
  get clipsMorph(): boolean {
    const { morphNames } = this.boneTexture;
    return morphNames.length > 0 && morphNames.length === this.geometry.morphAttributes.position?.length;
  }

  /**
   * As `InstancedMesh.setMorphAt`: gives an instance influences of its own, to which its clips add theirs. Instances that
   * were never given any have those of the character as it was baked.
   *
   * @param object Has as many `morphTargetInfluences` as the crowd, whose `morphTargetDictionary` names them.
   * @throws If there is no such instance, or there are more or fewer influences, or one is not finite.
   */
  override setMorphAt(index: number, object: Mesh): this {
    this.checkIndex(index, 'setMorphAt');
    const targets = this.geometry.morphAttributes.position?.length ?? 0;
    if (object.morphTargetInfluences?.length !== targets) {
      throw new Error(
        `${NAME}.setMorphAt: the object has ${object.morphTargetInfluences?.length ?? 'no'} morph target influences, the geometry ${targets} targets.`,
      );
    }
    object.morphTargetInfluences.forEach((influence, i) => {
      checkFinite(influence, `morphTargetInfluences[${i}]`, `${NAME}.setMorphAt`);
    });
    this.needMorphTexture();
    super.setMorphAt(index, object);
    return this;
  }

  protected override swapLooks(i: number, j: number): void {
    super.swapLooks(i, j);
    const { morphTexture } = this;
    if (morphTexture === null) return;
    swapItems(morphTexture.image.data as Float32Array, i, j, morphTexture.image.width);
    morphTexture.needsUpdate = true;
  }

  /** Lets go of influences that are for another geometry; three.js draws morph targets only of objects that have some. */
  protected adoptMorphs(geometry: BufferGeometry): void {
    const targets = geometry.morphAttributes.position ?? [];
    if (targets.length > 0 && this.morphTargetInfluences?.length !== targets.length) {
      this.morphTargetInfluences = targets.map(() => 0);
      this.morphTargetDictionary = Object.fromEntries(targets.map(({ name }, i) => [name || String(i), i]));
    }
    if (this.morphTexture !== null && this.morphTexture.image.width !== targets.length + 1) {
      this.morphTexture.dispose();
      this.morphTexture = null;
    }
  }

  protected override resizeLooks(): void {
    super.resizeLooks();
    const { morphTexture } = this;
    if (morphTexture !== null && morphTexture.image.height !== this.capacity) this.takeMorphs(morphTexture);
  }

  /** Gives instances the influences that a texture has for them, as far as there is room, and others those all share. */
  protected takeMorphs(from: DataTexture | null): void {
    if (from === null) {
      this.morphTexture?.dispose();
      this.morphTexture = null;
      return;
    }
    const { data, width, height } = from.image;
    const weights = this.sharedWeights();
    weights.set((data as Float32Array).subarray(0, Math.min(this.capacity, height) * width));
    const texture = this.needMorphTexture();
    // With another image it must be sent as if it were new; the object stays, since builds of node materials know it.
    texture.dispose();
    texture.image = { data: weights, width, height: this.capacity };
    texture.needsUpdate = true;
  }

  /** Gives every instance influences of its own, to begin with those that all share. */
  private needMorphTexture(): DataTexture {
    const width = (this.morphTargetInfluences?.length ?? 0) + 1;
    if (this.morphTexture?.image.width === width) return this.morphTexture;
    this.morphTexture?.dispose();
    const texture = new DataTexture(this.sharedWeights(), width, this.capacity, RedFormat, FloatType);
    texture.needsUpdate = true;
    this.morphTexture = texture;
    return texture;
  }

  /** For each instance 1, the base's influence, and those that all instances share. */
  private sharedWeights(): Float32Array<ArrayBuffer> {
    const shared = this.morphTargetInfluences ?? [];
    const width = shared.length + 1;
    const weights = new Float32Array(width * this.capacity);
    for (let i = 0; i < this.capacity; i++) weights.set([1, ...shared], i * width);
    return weights;
  }
}
