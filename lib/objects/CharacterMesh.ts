import type {
  BufferGeometry,
  Color,
  JSONMeta,
  Material,
  Mesh,
  Object3D,
  Raycaster,
  Vector2,
  Vector3,
} from 'three';
import { InstancedMesh, Matrix4 } from 'three';
import { followMoves } from '../backends/instancePlaces.js';
import { removePlaybackAttributes } from '../character/crowdGeometry.js';
import { checkColor } from '../instances/InstanceColors.js';
import { checkIndex, type InstanceRange, type Instances } from '../instances/instanceRange.js';
import { skinningMatrixAt, socketMatrixAt, vertexPositionAt } from '../queries/poseQueries.js';
import { raycastCrowd } from '../queries/raycastCrowd.js';
import type { CrowdIntersection } from '../queries/raycastInstance.js';
import { warnOnce } from '../utils/warnOnce.js';
import { checkCapacity, checkMatrix } from './checks.js';
import type { SkinnedInstancedMeshEventMap } from './crowdTypes.js';
import { ShadedMesh } from './ShadedMesh.js';

const NAME = 'SkinnedInstancedMesh';

const _nothing = /*@__PURE__*/ new Matrix4().makeScale(0, 0, 0);

/** A mesh of a crowd whose instances can be placed, dressed and asked where they are, each by itself. */
export abstract class CharacterMesh extends ShadedMesh {
  /** All instances, for methods that take a range; deleted ones are passed over. */
  get all(): InstanceRange {
    return { start: 0, count: this.count };
  }

  /** Names of the parts of the character: those of its meshes. Parts go by the names of nodes above them too. */
  get partNames(): readonly string[] {
    return this.wardrobe.names;
  }

  /**
   * Shows or hides a part of instances. What is hidden costs no pixels, casts no shadow and is not hit by rays.
   *
   * @param part Name of a mesh, or of a node, which stands for all meshes below it; or an index into `partNames`.
   * @throws If there is no such instance or part.
   */
  setPartVisibleAt(instances: Instances, part: string | number, visible: boolean): this {
    this.wardrobe.setVisible(instances, part, visible, `${NAME}.setPartVisibleAt`);
    return this;
  }

  /** Shows these parts of instances and hides all others. */
  setVisiblePartsAt(instances: Instances, visible: readonly (string | number)[]): this {
    this.wardrobe.setVisibleOnly(instances, visible, `${NAME}.setVisiblePartsAt`);
    return this;
  }

  /** Whether any mesh of a part is shown. */
  getPartVisibleAt(index: number, part: string | number): boolean {
    return this.wardrobe.isShown(index, part, `${NAME}.getPartVisibleAt`);
  }

  /**
   * Multiplies the colour of a part of instances; on top of `setColorAt`, which goes for all of an instance. From then on
   * `instanceColor = null` makes that white, and leaves the colours of parts.
   *
   * @throws If there is no such instance or part, or the colour is not of finite numbers.
   */
  setPartColorAt(instances: Instances, part: string | number, color: Color): this {
    this.wardrobe.setColor(instances, part, color, `${NAME}.setPartColorAt`);
    this.colors.need();
    return this;
  }

  /** The colour that multiplies a part; of a part of several meshes that of the first. */
  getPartColorAt(index: number, part: string | number, target: Color): Color {
    return this.wardrobe.getColor(index, part, target, `${NAME}.getPartColorAt`);
  }

  /**
   * Moves the material's `map` for a part of instances, as `Texture.offset` does for all: with an atlas, each wears
   * another skin. Other maps stay. Kept to 1/4096 of the map; whole turns count for nothing.
   *
   * @param offset In uv units, from 0 to 1.
   */
  setPartMapOffsetAt(instances: Instances, part: string | number, offset: Vector2): this {
    this.wardrobe.setMapOffset(instances, part, offset, `${NAME}.setPartMapOffsetAt`);
    return this;
  }

  /** By how much the map of a part is moved; of a part of several meshes that of the first. */
  getPartMapOffsetAt(index: number, part: string | number, target: Vector2): Vector2 {
    return this.wardrobe.getMapOffset(index, part, target, `${NAME}.getPartMapOffsetAt`);
  }

  /**
   * Colours an instance; set `instanceColor.needsUpdate` afterwards, as with `InstancedMesh`.
   *
   * @throws If there is no such instance, or the colour is not of finite numbers.
   */
  override setColorAt(index: number, color: Color): this {
    checkIndex(index, this.visibility, `${NAME}.setColorAt`);
    checkColor(color, `${NAME}.setColorAt`);
    super.setColorAt(index, color);
    return this;
  }

  /**
   * As `InstancedMesh.setMorphAt`: gives an instance influences of its own, to which its clips add theirs. Instances that
   * were never given any have those of the character as it was baked.
   *
   * @param object Has as many `morphTargetInfluences` as the crowd, whose `morphTargetDictionary` names them.
   * @throws If there is no such instance, or there are more or fewer influences, or one is not finite.
   */
  override setMorphAt(index: number, object: Mesh): this {
    checkIndex(index, this.visibility, `${NAME}.setMorphAt`);
    this.morphs.prepare(object, `${NAME}.setMorphAt`);
    super.setMorphAt(index, object);
    return this;
  }

  /**
   * Places an instance; set `instanceMatrix.needsUpdate` afterwards, as with `InstancedMesh`.
   *
   * @param matrix May turn, move and scale, but not mirror: all instances are one draw call, in which the GPU takes
   * triangles for back or front by one rule. Mirrored ones belong in a crowd of their own whose `scale.x` is -1.
   * @throws If there is no such instance, or the matrix is not of finite numbers.
   */
  override setMatrixAt(index: number, matrix: Matrix4): this {
    checkIndex(index, this.visibility, `${NAME}.setMatrixAt`);
    checkMatrix(matrix, `${NAME}.setMatrixAt`);
    super.setMatrixAt(index, matrix);
    return this;
  }

  /**
   * Exchanges two instances: where they stand, what they play, how they look and whether they are hidden, in this mesh and in
   * all that is attached. Each has the other's id then. To remove one and leave all others their ids, call `deleteInstance`.
   *
   * @throws If there is no such instance, or it was deleted.
   */
  swapInstances(i: number, j: number): this {
    checkIndex(i, this.visibility, `${NAME}.swapInstances`);
    checkIndex(j, this.visibility, `${NAME}.swapInstances`);
    this.crowd.swap(i, j);
    return this;
  }

  /**
   * Makes room for more instances, or gives room back. What the instances are and play stays; new ones have the identity
   * matrix and play nothing. Whatever is attached gets as much room. `instanceMatrix` and the like become other objects.
   * Costs an upload of everything, so grow by doubling.
   *
   * @throws If the instances of the crowd would not fit: those below `count`, which `optimize` lowers past deleted ones.
   */
  setCapacity(capacity: number): this {
    checkCapacity(capacity, this.crowd.count, `${NAME}.setCapacity`);
    this.crowd.resize(capacity);
    return this;
  }

  /**
   * Position of a vertex as the instance shows it now, morph targets and instance matrix applied: in the crowd's local
   * space. For the world's, apply `matrixWorld`.
   *
   * @param vertex Index into the attributes of `geometry`.
   * @throws If there is no such instance or vertex.
   */
  getVertexPositionAt(index: number, vertex: number, target: Vector3): Vector3 {
    return vertexPositionAt(this, index, vertex, target, `${NAME}.getVertexPositionAt`);
  }

  /**
   * Skinning matrix of a joint as the instance shows it now: what `Skeleton.boneMatrices` holds, relative to the
   * instance. It carries a vertex from where it was modelled to where it is drawn, before the instance matrix.
   *
   * @param joint Name or index of a joint of the bone texture.
   * @throws If there is no such instance or joint.
   */
  getSkinningMatrixAt(index: number, joint: string | number, target: Matrix4): Matrix4 {
    return skinningMatrixAt(this, index, joint, target, `${NAME}.getSkinningMatrixAt`);
  }

  /** @deprecated The old name of {@link CharacterMesh.getSkinningMatrixAt}. */
  getBoneMatrixAt(index: number, bone: string | number, target: Matrix4): Matrix4 {
    warnOnce(`${NAME}.getBoneMatrixAt is now called getSkinningMatrixAt, which is what it returns.`);
    return skinningMatrixAt(this, index, bone, target, `${NAME}.getBoneMatrixAt`);
  }

  /**
   * Where a joint of an instance is now, as `bone.matrixWorld` would be: in the crowd's local space, instance matrix
   * applied. For the world's, premultiply by `matrixWorld`.
   *
   * @param joint Name or index of a joint, or of a node that was baked with `sockets`.
   * @throws If there is no such instance or joint.
   */
  getSocketMatrixAt(index: number, joint: string | number, target: Matrix4): Matrix4 {
    return socketMatrixAt(this, index, joint, target, `${NAME}.getSocketMatrixAt`);
  }

  /**
   * Lets a geometry follow a joint of every instance, on the GPU: one more draw call, and nothing per instance on the CPU.
   * It becomes a child of this mesh that shares where its instances stand and what they play: show it on some of them only
   * by `setPartVisibleAt(i, 0, false)`, colour it by `setColorAt`. Playback events are dispatched on it too. Its `dispose`
   * lets go of it; this mesh's disposes it too.
   *
   * @param joint Name or index of a joint, or of a node that was baked with `sockets`.
   * @param geometry Is copied.
   * @param offset Place in the joint's own space, as of an object that is added to a bone.
   * @throws If there is no such joint, the geometry has no positions, or the offset is not of finite numbers.
   */
  abstract attachToJoint(
    joint: string | number,
    geometry: BufferGeometry,
    material: Material | Material[],
    offset?: Matrix4,
  ): CharacterMesh;

  /** @deprecated The old name of {@link CharacterMesh.attachToJoint}. */
  attach(
    joint: string | number,
    geometry: BufferGeometry,
    material: Material | Material[],
    offset?: Matrix4,
  ): CharacterMesh;
  /** As `Object3D.attach`: adds an object where it stands in the world. */
  attach(object: Object3D): this;
  override attach(
    joint: Object3D | string | number,
    geometry?: BufferGeometry,
    material?: Material | Material[],
    offset?: Matrix4,
  ): this | CharacterMesh {
    if ((joint as Object3D | null)?.isObject3D) return super.attach(joint as Object3D);
    warnOnce(`${NAME}.attach with a joint is now called attachToJoint.`);
    return this.attachToJoint(joint as string, geometry as BufferGeometry, material as Material, offset);
  }

  /** Box around every pose that any instance may take, at the place where it stands. */
  override computeBoundingBox(): void {
    this.bounds.computeBox();
  }

  /** Sphere around every pose that any instance may take, at the place where it stands. */
  override computeBoundingSphere(): void {
    this.bounds.computeSphere();
  }

  /**
   * Also lets go of bounds that the mesh computed itself once instances were moved (`instanceMatrix.needsUpdate`) or
   * `count` changed, so that nothing is culled by where it once stood. Bounds set by the user stay.
   */
  override updateMatrixWorld(force?: boolean): void {
    this.bounds.dropStale();
    // Objects that stand for instances, which are below it, place these now.
    super.updateMatrixWorld(force);
    followMoves(this);
  }

  /**
   * Intersects the instances as they are posed now; hits carry `instanceId`, and the name of the `part`. Those of instances that
   * are objects have these as their `object`.
   */
  override raycast(raycaster: Raycaster, intersects: CrowdIntersection[]): void {
    this.bounds.dropStale();
    raycastCrowd(this, raycaster, intersects, this.bounds.ofPoses(), this.crowd.objects);
  }

  override addEventListener: InstancedMesh<
    BufferGeometry,
    Material | Material[],
    SkinnedInstancedMeshEventMap
  >['addEventListener'] = (type, listener) => {
    super.addEventListener(type, listener);
    this.crowd.events.listen(this, type, listener, true);
  };

  override removeEventListener: InstancedMesh<
    BufferGeometry,
    Material | Material[],
    SkinnedInstancedMeshEventMap
  >['removeEventListener'] = (type, listener) => {
    super.removeEventListener(type, listener);
    this.crowd.events.listen(this, type, listener, false);
  };

  /** Does nothing: a crowd is bound to its bone texture. `SkeletonUtils.clone` calls it. */
  bind(): void {}

  /**
   * What `InstancedMesh.toJSON` writes: the instances in the pose the geometry was modelled in, those that are hidden or were
   * deleted scaled to nothing. Bone texture and playback are not part of three.js's JSON format; a warning says so.
   */
  override toJSON(meta?: JSONMeta): ReturnType<InstancedMesh['toJSON']> {
    warnOnce(
      `${NAME}.toJSON: three.js's JSON has no place for baked animation; the crowd is written as an InstancedMesh.`,
    );
    const still = new InstancedMesh(this.geometry, this.material, 0).copy(this as InstancedMesh, true);
    // three.js would draw all levels of detail at once.
    still.remove(...still.children.filter((child) => (child as { isLevelMesh?: boolean }).isLevelMesh));
    still.uuid = this.uuid;
    still.geometry = this.geometry.clone();
    for (let i = 0; i < this.count; i++) {
      if (!this.visibility.isDrawn(i)) still.setMatrixAt(i, _nothing);
    }
    removePlaybackAttributes(still.geometry);
    return still.toJSON(meta);
  }
}
