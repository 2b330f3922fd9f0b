import { type BufferGeometry, DataTexture, FloatType, type Mesh, RedFormat } from 'three';
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
   */
  override setMorphAt(index: number, object: Mesh): this {
    this.checkIndex(index, 'setMorphAt');
    const targets = this.geometry.morphAttributes.position?.length ?? 0;
    if (object.morphTargetInfluences?.length !== targets) {
      throw new Error(
        `${NAME}.setMorphAt: the object has ${object.morphTargetInfluences?.length ?? 'no'} morph target influences, the geometry ${targets} targets.`,
      );
    }
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
    const targets = geometry.morphAttributes.position?.length ?? 0;
    if (targets > 0 && this.morphTargetInfluences?.length !== targets) {
      this.morphTargetInfluences = new Array(targets).fill(0);
    }
    if (this.morphTexture !== null && this.morphTexture.image.width !== targets + 1) {
      this.morphTexture.dispose();
      this.morphTexture = null;
    }
  }

  /** Gives instances the influences that another texture has for them, as far as there is room. */
  protected takeMorphs(from: DataTexture | null): void {
    this.morphTexture = null;
    if (from === null) return;
    const { data, width } = this.needMorphTexture().image;
    const rows = Math.min(this.capacity, from.image.height);
    (data as Float32Array).set((from.image.data as Float32Array).subarray(0, rows * width));
  }

  /** Gives every instance influences of its own, to begin with those that all share. */
  private needMorphTexture(): DataTexture {
    const shared = this.morphTargetInfluences ?? [];
    const width = shared.length + 1;
    if (this.morphTexture?.image.width === width) return this.morphTexture;
    const weights = new Float32Array(width * this.capacity);
    for (let i = 0; i < this.capacity; i++) weights.set([1, ...shared], i * width);
    const texture = new DataTexture(weights, width, this.capacity, RedFormat, FloatType);
    texture.needsUpdate = true;
    this.morphTexture = texture;
    return texture;
  }
}
