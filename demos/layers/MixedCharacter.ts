import type { SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import { getVertexPosition } from 'skinned-instanced-mesh';
import {
  type AnimationAction,
  type AnimationClip,
  AnimationMixer,
  MathUtils,
  type Object3D,
  Quaternion,
  type SkinnedMesh,
  Vector3,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';

const _drawn = new Vector3();
const _expected = new Vector3();
const _place = new Vector3();
const _from = new Vector3();
const _to = new Vector3();
const _turn = new Quaternion();
const _whole = new Quaternion();
const _parent = new Quaternion();
const _world = new Quaternion();
const _still = new Quaternion();

/** The same as one instance of the crowd, with what three.js has: a clone, a mixer, clips with fewer tracks, and bones that code turns. */
export class MixedCharacter {
  readonly root: Object3D;
  headSize = 1;
  private readonly mixer: AnimationMixer;
  private readonly actions: Record<
    'walk' | 'run' | 'walkAbove' | 'runAbove' | 'gesture' | 'lean',
    AnimationAction
  >;
  private readonly head: Object3D;
  private readonly skinned: SkinnedMesh[] = [];

  /** @param joint That and all below it make the gesture. */
  constructor(character: Object3D, clips: readonly AnimationClip[], gesture: string, joint: string) {
    this.root = SkeletonUtils.clone(character);
    this.head = this.root.getObjectByName('Head') as Object3D;
    this.mixer = new AnimationMixer(this.root);
    const above = new Set<string>();
    this.root.getObjectByName(joint)?.traverse(({ name }) => above.add(name));
    const action = (name: string, part: 'all' | 'above' | 'below') => {
      const clip = clips.find((one) => one.name === name) as AnimationClip;
      const tracks = clip.tracks.filter(
        (track) => part === 'all' || (part === 'above') === above.has(track.name.split('.')[0]),
      );
      const { blendMode } = clip;
      const filtered = clip.clone();
      filtered.name = `${name} ${part}`;
      filtered.tracks = tracks;
      filtered.blendMode = blendMode;
      return this.mixer.clipAction(filtered).setEffectiveWeight(0).play();
    };
    // The order in which they were started is that of the crowd.
    this.actions = {
      walk: action('Walk', 'below'),
      run: action('Run', 'below'),
      walkAbove: action('Walk', 'above'),
      runAbove: action('Run', 'above'),
      gesture: action(gesture, 'above'),
      lean: action('Lean', 'all'),
    };
    this.root.traverse((node) => {
      node.castShadow = true;
      node.receiveShadow = true;
      if ((node as SkinnedMesh).isSkinnedMesh) this.skinned.push(node as SkinnedMesh);
    });
  }

  /**
   * Moves on, and turns the head.
   *
   * @param target Where the crowd looks; this one stands beside instance 0 of it.
   * @param axis Of the head.
   * @param aside How far this one stands to the left of instance 0.
   */
  update(
    delta: number,
    weights: Record<'arms' | 'lean' | 'look' | 'run', number>,
    target: Vector3,
    axis: Vector3,
    limit: number,
    aside: number,
  ): void {
    const { actions, mixer, root, head } = this;
    const { arms, lean, look, run } = weights;
    actions.walk.setEffectiveWeight(1 - run);
    actions.run.setEffectiveWeight(run);
    actions.walkAbove.setEffectiveWeight((1 - run) * (1 - arms));
    actions.runAbove.setEffectiveWeight(run * (1 - arms));
    actions.gesture.setEffectiveWeight(arms);
    actions.lean.setEffectiveWeight(lean);
    mixer.update(delta);

    root.updateMatrixWorld(true);
    head.getWorldQuaternion(_world);
    _from.copy(axis).applyQuaternion(_world);
    _to
      .copy(target)
      .setX(target.x - aside)
      .sub(head.getWorldPosition(_place))
      .normalize();
    _whole.setFromUnitVectors(_from, _to);
    const angle = 2 * Math.acos(MathUtils.clamp(_whole.w, -1, 1));
    _turn.slerpQuaternions(_still, _whole, angle > limit ? (look * limit) / angle : look);
    const { parent } = head;
    parent?.getWorldQuaternion(_parent);
    head.quaternion.copy(_parent.invert().multiply(_turn.multiply(_world)));
    head.scale.setScalar(this.headSize);
    root.updateMatrixWorld(true);
  }

  /** How far the farthest vertex of an instance is from where it is here, beside it. */
  farthestFrom(crowd: SkinnedInstancedMesh, index: number, aside: number): number {
    let worst = 0;
    let first = 0;
    for (const mesh of this.skinned) {
      const { count } = mesh.geometry.getAttribute('position');
      for (let vertex = 0; vertex < count; vertex += 13) {
        mesh.getVertexPosition(vertex, _expected).applyMatrix4(mesh.matrixWorld);
        getVertexPosition(crowd, index, first + vertex, _drawn);
        _drawn.x -= aside;
        worst = Math.max(worst, _drawn.distanceTo(_expected));
      }
      first += count;
    }
    return worst;
  }
}
