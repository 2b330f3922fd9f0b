import type { AnimationClip, BufferGeometry, Material, Matrix4, Object3D } from 'three';
import { Crowd } from '../crowd/Crowd.js';
import type { LoadedCharacter, LoadedFile } from '../format/LoadedCharacter.js';
import { checkLayers } from '../playback/LayerTable.js';
import type { BoneTexture } from '../texture/BoneTexture.js';
import { checkAreOptions } from '../utils/checkOptions.js';
import { checkCount, checkIsBoneTexture, checkMaterial, checkPalette } from './checks.js';
import { type CharacterOptions, createCharacter, type FromOptions } from './createCharacter.js';
import type { SkinnedInstancedMeshOptions } from './crowdTypes.js';
import { bakedCharacterOf, optionsOf } from './fromFile.js';
import { JointAttachment } from './JointAttachment.js';
import { LeveledMesh } from './LeveledMesh.js';
import { addLevelsOf } from './levelsOfFile.js';
import { OwnedResources } from './OwnedResources.js';

const NAME = 'SkinnedInstancedMesh';

/**
 * A crowd of animated characters in one draw call per material: an `InstancedMesh` whose instances play clips of a
 * {@link BoneTexture}, each its own at its own time, posed on the GPU.
 *
 * An instance with matrix M playing clip C at time t looks like a clone of the baked root with `matrix` M whose
 * `AnimationMixer` plays C at t. Instances that play nothing stand in the rest pose. M must not mirror, see
 * {@link SkinnedInstancedMesh.setMatrixAt}.
 *
 * Materials passed in gain an `onBeforeCompile` that other meshes do not notice; one set by the user still runs. The
 * geometry is copied; change `mesh.geometry`, not the one passed in.
 *
 * ```ts
 * const crowd = SkinnedInstancedMesh.from(gltf.scene, gltf.animations, 10_000);
 * scene.add(crowd);
 * crowd.setMatrixAt(0, matrix);
 * crowd.play(0, 'Run', { timeScale: 1.1 });
 * renderer.setAnimationLoop(() => {
 *   timer.update();
 *   crowd.update(timer.getDelta());
 *   renderer.render(scene, camera);
 * });
 * ```
 */
export class SkinnedInstancedMesh extends LeveledMesh {
  override readonly type: string = 'SkinnedInstancedMesh';
  /** For type testing. */
  readonly isSkinnedInstancedMesh = true;

  /** What was made for this crowd, and for those that it is a copy of, whatever it draws with now. */
  private readonly owned = new Set<OwnedResources>();

  /**
   * @param geometry Geometry of a skinned mesh, with `skinIndex` and `skinWeight`. It is copied.
   * @param material One material, or one for each group of the geometry.
   * @param boneTexture Baked from the skinned mesh's character.
   * @param count Number of instances, and the most there can be.
   * @throws If the geometry and the bone texture do not fit together, or layers cannot lie over the character, or a
   * uniform is of no type.
   */
  constructor(
    geometry: BufferGeometry,
    material: Material | Material[],
    boneTexture: BoneTexture,
    count: number,
    options: SkinnedInstancedMeshOptions = {},
  ) {
    checkIsBoneTexture(boneTexture);
    checkCount(count);
    checkAreOptions(options, NAME);
    checkMaterial(material ?? null, NAME);
    const layers = options.layers ?? [];
    checkLayers(layers, NAME);
    const crowd = new Crowd(boneTexture, count, layers, checkPalette(options.palette));
    crowd.playback.layers.check(boneTexture.data.tracks, NAME);
    super(geometry, material, crowd, options);
    if (options.uniforms) this.uniforms.declare(options.uniforms, NAME);
  }

  /**
   * A crowd of the character in a file. One that was baked into it, see the entry `skinned-instanced-mesh/files`, is taken from there, with
   * its levels of detail, and its bone texture is not disposed with the crowd. Any other file is baked.
   *
   * @param file The result of `GLTFLoader`, or one of its `bakedCharacters`.
   * @throws What baking throws, and if what was baked into the file, or levels in it, do not fit its meshes.
   */
  static from(file: LoadedFile | LoadedCharacter, count: number, options?: FromOptions): SkinnedInstancedMesh;
  /**
   * A crowd of `count` instances of the character under `root`, with all its meshes and materials.
   *
   * @param root E.g. `gltf.scene`; nothing in it is changed but for the materials, see the class.
   * @param clips E.g. `gltf.animations`; without any, the crowd stands in its rest pose.
   * @throws What {@link BoneTexture.bake} throws, and if there is something under `root` that cannot be instanced.
   */
  static from(
    root: Object3D,
    clips: readonly AnimationClip[],
    count: number,
    options?: FromOptions,
  ): SkinnedInstancedMesh;
  static from(
    source: Object3D | LoadedFile | LoadedCharacter,
    clips: readonly AnimationClip[] | number,
    count?: number | FromOptions,
    options: FromOptions = {},
  ): SkinnedInstancedMesh {
    const caller = `${NAME}.from`;
    const { create } = SkinnedInstancedMesh;
    if (typeof clips !== 'number') return create(source as Object3D, clips, count as number, options, caller);
    const file = source as LoadedFile | LoadedCharacter;
    const given = (count ?? {}) as FromOptions;
    const baked = bakedCharacterOf(file, caller);
    if (baked === null) return create(file.scene, file.animations, clips, given, caller);
    const crowd = create(baked.scene, [], clips, optionsOf(baked, given), caller);
    addLevelsOf(baked, crowd, caller);
    return crowd;
  }

  private static create(
    root: Object3D,
    clips: readonly AnimationClip[],
    count: number,
    options: CharacterOptions,
    caller: string,
  ): SkinnedInstancedMesh {
    // What cannot be drawn is refused before the time is spent on baking.
    checkCount(count);
    checkAreOptions(options, caller);
    checkLayers(options.layers ?? [], caller);
    const character = createCharacter(root, clips, count, options, caller);
    const { geometry, material, boneTexture } = character;
    const crowd = new SkinnedInstancedMesh(geometry, material, boneTexture, count, options);
    character.dress(crowd);
    crowd.owned.add(new OwnedResources(character.owned).retain());
    crowd.wardrobe.paths = character.partPaths;
    crowd.wardrobe.hideAtFirst(options.hiddenParts ?? [], caller);
    return crowd;
  }

  override attachToJoint(
    joint: string | number,
    geometry: BufferGeometry,
    material: Material | Material[],
    offset?: Matrix4,
  ): JointAttachment {
    return JointAttachment.create(this, joint, geometry, material, offset, `${NAME}.attachToJoint`);
  }

  /** A crowd of its own with the same instances, playing on from here. Materials and bone texture are shared. */
  override clone(recursive?: boolean): this {
    const { geometry, material, boneTexture, capacity, influences, shadowInfluences, interpolate, palette } =
      this;
    const { options: layers } = this.playback.layers;
    const options = { influences, shadowInfluences, interpolate, layers, palette };
    const Class = this.constructor as typeof SkinnedInstancedMesh;
    return new Class(geometry, material, boneTexture, capacity, options).copy(this, recursive) as this;
  }

  override copy(source: this, recursive?: boolean): this {
    super.copy(source, recursive);
    for (const resources of source.owned) if (!this.owned.has(resources)) this.owned.add(resources.retain());
    return this;
  }

  /**
   * Frees what the crowd allocated: instance buffers, its copy of the geometry, its shadow materials, and the bone
   * texture and merged materials that {@link SkinnedInstancedMesh.from} made, unless copies of the crowd still draw with them:
   * the last one frees them. Materials, and a bone texture passed in, belong to the user.
   */
  override dispose(): this {
    super.dispose();
    this.crowd.dispose();
    for (const resources of this.owned) resources.release();
    this.owned.clear();
    return this;
  }
}
