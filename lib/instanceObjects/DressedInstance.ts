import { Color, type Object3D, type Skeleton, type Vector3 } from 'three';
import type { LookAtOptions } from '../crowd/editJoints.js';
import type { UniformValue } from '../instances/uniformTypes.js';
import { describe } from '../utils/describe.js';
import { AnimatedInstance } from './AnimatedInstance.js';
import { copyLooks } from './copyLooks.js';
import { ObservedColor } from './ObservedColor.js';

const _color = /*@__PURE__*/ new Color();

/** An object that says how an instance of a crowd looks, as a material of its own would. */
export abstract class DressedInstance extends AnimatedInstance {
  private ownColor: ObservedColor | null = null;
  private ownEmissive: ObservedColor | null = null;

  /**
   * Multiplies the colour of the material, as `setColorAt`. What is set takes effect when the crowd's `updateMatrixWorld` runs,
   * which renderers call.
   */
  get color(): Color {
    const { crowd } = this;
    this.ownColor ??= this.observe(
      crowd.instanceColor === null ? _color.set(1, 1, 1) : crowd.getColorAt(this.index, _color),
      (index, color) => {
        crowd.setColorAt(index, color);
        if (crowd.instanceColor) crowd.instanceColor.needsUpdate = true;
      },
    );
    return this.ownColor;
  }

  /** Is added to what the material emits, as `setEmissiveAt`. Takes effect as `color` does. */
  get emissive(): Color {
    const { crowd } = this;
    this.ownEmissive ??= this.observe(crowd.getEmissiveAt(this.index, _color), (index, color) => {
      crowd.setEmissiveAt(index, color);
    });
    return this.ownEmissive;
  }

  /** Multiplies the material's opacity, as `setOpacityAt`. @default 1 */
  get opacity(): number {
    return this.crowd.getOpacityAt(this.index);
  }

  /** Shows only as the material lets it: with `transparent`, `alphaHash` or `alphaTest`. */
  set opacity(value: number) {
    this.crowd.setOpacityAt(this.index, value);
  }

  /** In the place of the material's; null for that. */
  get roughness(): number | null {
    return this.crowd.getRoughnessAt(this.index);
  }

  /** As `setRoughnessAt`. */
  set roughness(value: number | null) {
    this.crowd.setRoughnessAt(this.index, value);
  }

  /** In the place of the material's; null for that. */
  get metalness(): number | null {
    return this.crowd.getMetalnessAt(this.index);
  }

  /** As `setMetalnessAt`. */
  set metalness(value: number | null) {
    this.crowd.setMetalnessAt(this.index, value);
  }

  /** Which layer of the material's `map` it shows, where that is an array of textures. @default 0 */
  get mapLayer(): number {
    return this.crowd.getMapLayerAt(this.index);
  }

  /** As `setMapLayerAt`. */
  set mapLayer(value: number) {
    this.crowd.setMapLayerAt(this.index, value);
  }

  /** Gives it the value of a uniform of the crowd's option `uniforms`, as `setUniformAt`. */
  setUniform(name: string, value: UniformValue): this {
    this.crowd.setUniformAt(this.index, name, value);
    return this;
  }

  /** Shows or hides a part, as `setPartVisibleAt`. */
  setPartVisible(part: string | number, visible: boolean): this {
    this.crowd.setPartVisibleAt(this.index, part, visible);
    return this;
  }

  /** Whether any mesh of a part is shown. */
  getPartVisible(part: string | number): boolean {
    return this.crowd.getPartVisibleAt(this.index, part);
  }

  /** Multiplies the colour of a part, as `setPartColorAt`. */
  setPartColor(part: string | number, color: Color): this {
    this.crowd.setPartColorAt(this.index, part, color);
    return this;
  }

  /** Takes the pose of objects of the same names in the place of its clips, as `setPoseAt`; null lets the clips come back. */
  setPose(pose: Object3D | Skeleton | null, options?: { fade?: number }): this {
    this.crowd.setPoseAt(this.index, pose, options);
    return this;
  }

  /**
   * Turns a joint towards a place, as `lookAtJointAt`; null ends that.
   *
   * @param target In the space of the crowd.
   */
  lookAtJoint(joint: string | number, target: Vector3 | null, options?: LookAtOptions): this {
    this.crowd.lookAtJointAt(this.index, joint, target, options);
    return this;
  }

  /**
   * As that of `Object3D`; between instances of one crowd also colours, uniforms and what the material has, parts and morph
   * influences. What it plays, joints that were moved by hand and listeners stay as they are.
   */
  override copy(source: this, recursive?: boolean): this {
    if (!source?.isObject3D) {
      throw new Error(
        `SkinnedInstance.copy: ${describe(source)} is no instance; pass what crowd.createInstance() returned.`,
      );
    }
    super.copy(source, recursive);
    if (source.crowd === this.crowd && source !== this) {
      this.home.objects.looks.flush();
      copyLooks(this.crowd, source.index, this.index);
      // They are read anew when they are asked for.
      this.ownColor = this.ownEmissive = null;
    }
    return this;
  }

  /**
   * A further instance of the crowd, placed and dressed alike, with clones of the children. It plays nothing, as the clone of a
   * `SkinnedMesh` has no mixer, and begins as a child of the crowd.
   *
   * @throws If it was disposed, or the crowd's `count` has left it out.
   */
  override clone(recursive?: boolean): this {
    const { crowd, index } = this;
    const { count } = crowd.visibility;
    if (index >= count) {
      // The clone would be given its place.
      throw new Error(
        `SkinnedInstance.clone: "${this.name}" is instance ${index}, which the crowd's count of ${count} leaves out; raise count first.`,
      );
    }
    const Class = this.constructor as new (crowd: this['crowd']) => this;
    return new Class(crowd).copy(this, recursive);
  }

  /** The index by which the crowd knows it. @throws If it stands for no instance any more. */
  protected get index(): number {
    if (this.instanceId >= 0) return this.instanceId;
    throw new Error(
      `SkinnedInstance: "${this.name}" was disposed, and is no instance any more; make another one by crowd.createInstance().`,
    );
  }

  private observe(color: Color, apply: (index: number, color: Color) => void): ObservedColor {
    const { looks } = this.home.objects;
    const observed = new ObservedColor(color, () => {
      if (this.index >= 0) looks.add(change);
    });
    const change = {
      isQueued: false,
      apply: () => {
        if (this.instanceId >= 0) apply(this.instanceId, observed);
      },
    };
    return observed;
  }
}
