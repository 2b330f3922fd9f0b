import type { Color } from 'three';
import type { Instances } from '../instances/instanceRange.js';
import { LOOKS, type Look, type UniformPlace } from '../instances/UniformLayout.js';
import { numbersOf, readValue, type UniformValue } from '../instances/uniformTypes.js';
import { warnWithoutLook } from './checkLooks.js';
import { MovedMesh } from './MovedMesh.js';

const NAME = 'SkinnedInstancedMesh';

const _numbers: number[] = [];

/**
 * A mesh of a crowd whose instances each have something of their own in the place of the material's: as clones of a character
 * have whose materials are clones too, but in one draw call. What is attached to joints has it too, until it is given some of
 * its own.
 */
export abstract class ShadedMesh extends MovedMesh {
  /**
   * Lets instances emit light of a colour: it is added to what the material emits. A clone would have it as `emissive`, where the
   * material's is black. For materials that know `emissive`: Lambert, Phong, toon, standard, physical.
   *
   * @param color Components may be above 1. Black, which instances begin with, adds nothing.
   * @throws If there is no such instance, or the colour is not of finite numbers.
   */
  setEmissiveAt(instances: Instances, color: Color): this {
    return this.setLook(instances, 'emissive', color, `${NAME}.setEmissiveAt`);
  }

  /** What is added to the emission of an instance. */
  getEmissiveAt(index: number, target: Color): Color {
    return this.look(index, 'emissive', target, `${NAME}.getEmissiveAt`) as Color;
  }

  /**
   * Multiplies the material's opacity. It shows as the material lets it: blended where that is `transparent`, as noise with
   * `alphaHash`, cut off with `alphaTest`; not at all in opaque materials. Shadows are those of three.js, which do not fade.
   *
   * @param opacity 1, which instances begin with, changes nothing.
   * @throws If there is no such instance, or the number is not finite.
   */
  setOpacityAt(instances: Instances, opacity: number): this {
    return this.setLook(instances, 'opacity', opacity, `${NAME}.setOpacityAt`);
  }

  /** What multiplies the opacity of an instance. */
  getOpacityAt(index: number): number {
    return this.look(index, 'opacity', undefined, `${NAME}.getOpacityAt`) as number;
  }

  /**
   * Takes the place of the material's `roughness`, for standard and physical materials. A `roughnessMap` still multiplies it.
   *
   * @param roughness From 0, or null for the material's own, which instances begin with.
   * @throws If there is no such instance, or the number is below 0 or not finite.
   */
  setRoughnessAt(instances: Instances, roughness: number | null): this {
    return this.setSurface(instances, 'roughness', roughness, `${NAME}.setRoughnessAt`);
  }

  /** The roughness of an instance; null if it is the material's own. */
  getRoughnessAt(index: number): number | null {
    return this.surface(index, 'roughness', `${NAME}.getRoughnessAt`);
  }

  /**
   * Takes the place of the material's `metalness`, for standard and physical materials. A `metalnessMap` still multiplies it.
   *
   * @param metalness From 0, or null for the material's own, which instances begin with.
   * @throws If there is no such instance, or the number is below 0 or not finite.
   */
  setMetalnessAt(instances: Instances, metalness: number | null): this {
    return this.setSurface(instances, 'metalness', metalness, `${NAME}.setMetalnessAt`);
  }

  /** The metalness of an instance; null if it is the material's own. */
  getMetalnessAt(index: number): number | null {
    return this.surface(index, 'metalness', `${NAME}.getMetalnessAt`);
  }

  /**
   * Which layer of the material's `map` instances show, where that is a `DataArrayTexture` or a `CompressedArrayTexture`: as
   * clones have whose materials have different maps.
   *
   * @param layer A whole number from 0, which instances begin with. The last layer is shown for those beyond it.
   * @throws If there is no such instance, or no such number of a layer.
   */
  setMapLayerAt(instances: Instances, layer: number): this {
    if (!(Number.isInteger(layer) && layer >= 0)) {
      throw new Error(`${NAME}.setMapLayerAt: layer is ${layer}; use a whole number from 0.`);
    }
    return this.setLook(instances, 'mapLayer', layer, `${NAME}.setMapLayerAt`);
  }

  /** The layer of the material's `map` that an instance shows. */
  getMapLayerAt(index: number): number {
    return this.look(index, 'mapLayer', undefined, `${NAME}.getMapLayerAt`) as number;
  }

  /**
   * Gives instances the value of a uniform that was declared by the option `uniforms`, for shaders of your own: GLSL reads it as
   * `instanceUniform_NAME`, TSL by `instanceUniform('NAME', type)`, in vertices and fragments. Zero to begin with.
   *
   * @param value A number for a float; a vector or a `Color` for the others.
   * @throws If there is no such instance or uniform, or the value is of another type or not finite.
   */
  setUniformAt(instances: Instances, name: string, value: UniformValue): this {
    const caller = `${NAME}.setUniformAt`;
    return this.setNumbers(instances, this.uniforms.placeOf(name, caller), value, caller);
  }

  /** The number of a uniform of type `'float'`. */
  getUniformAt(index: number, name: string): number;
  /** The value of a uniform, in `target`: a vector, or a `Color`. */
  getUniformAt<T extends UniformValue>(index: number, name: string, target: T): T;
  getUniformAt<T extends UniformValue>(index: number, name: string, target?: T): number | T {
    const caller = `${NAME}.getUniformAt`;
    const place = this.uniforms.placeOf(name, caller);
    const { numbers, at } = this.uniforms.get(index, name, caller);
    return readValue(numbers, at, place, target, caller) as number | T;
  }

  private setSurface(
    instances: Instances,
    look: 'roughness' | 'metalness',
    value: number | null,
    caller: string,
  ): this {
    if (value !== null && !(value >= 0)) {
      throw new Error(`${caller}: ${look} is ${value}; use a number from 0, or null for the material's own.`);
    }
    return this.setLook(instances, look, value ?? LOOKS[look].initial[0], caller);
  }

  private surface(index: number, look: 'roughness' | 'metalness', caller: string): number | null {
    const value = this.look(index, look, undefined, caller) as number;
    return value < 0 ? null : value;
  }

  private setLook(instances: Instances, look: Look, value: UniformValue, caller: string): this {
    warnWithoutLook(look, this.material, caller);
    return this.setNumbers(instances, this.uniforms.placeOf(look, caller), value, caller);
  }

  private look(
    index: number,
    look: Look,
    target: Color | undefined,
    caller: string,
  ): number | Color | undefined {
    const { numbers, at } = this.uniforms.get(index, look, caller);
    return readValue(numbers, at, this.uniforms.placeOf(look, caller), target, caller);
  }

  private setNumbers(instances: Instances, place: UniformPlace, value: UniformValue, caller: string): this {
    numbersOf(value, place, _numbers, caller);
    this.uniforms.set(instances, place, _numbers, caller);
    return this;
  }
}
