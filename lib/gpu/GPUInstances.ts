import { Box3, Matrix4, type Raycaster, Sphere, Vector2, Vector3 } from 'three';
import { cos, Fn, If, instanceIndex, int, sin, uint, uniform, vec4 } from 'three/tsl';
import {
  type ComputeNode,
  type Node,
  StorageBufferAttribute,
  StorageInstancedBufferAttribute,
  type WebGPURenderer,
} from 'three/webgpu';
import frameAtNodes from '../../shaders/fadesAndFrames.glsl.js?nodes=frameAtGLSL';
import wantedNodes from '../../shaders/playWanted.glsl.js?nodes=playWantedGLSL';
import { storageOf } from '../../shaders/tsl.js';
import type { BoneTexture } from '../animation/BoneTexture.js';
import type { ClipReference } from '../animation/ClipTable.js';
import { GROUP_WORDS, isBitSet, WORKGROUP, writeBits } from '../backends/webgpu/gpuLists/compactLists.js';
import { enableGPULists } from '../backends/webgpu/gpuLists/GPUViews.js';
import type { StoredOnGPU } from '../backends/webgpu/StoredPlaces.js';
import { PLAY_IN_STEP, PLAY_ONCE } from '../constants.js';
import type { CrowdFeature } from '../core/CrowdFeature.js';
import type { SkinnedInstancedMesh } from '../crowd/SkinnedInstancedMesh.js';
import { actionsTexels, MAX_ACTIONS } from '../playback/instanceLayout.js';
import { warnOnce } from '../utils/messages.js';

type Storage = StorageInstancedBufferAttribute;

const NAME = 'GPUInstances';

/** What the GPU says of a crowd's instances: storage that your own compute writes. */
export interface GPUInstancesOptions {
  /** Where they stand: a `mat4` each, as in `instanceMatrix`. */
  matrices?: StorageInstancedBufferAttribute;
  /**
   * The same for who stays on the ground of the crowd, instead of `matrices`: a `vec4` each, `x` and `z`, the radians by which it is
   * turned about the vertical (at 0 it looks along z), and its scale.
   */
  places?: StorageInstancedBufferAttribute;
  /**
   * What they shall play: a `vec4` each. `x` is what {@link GPUInstances.clip} returns, 0 for the rest pose, `y` the seconds in which it
   * fades in, `z` the speed, and `w` is 1 for whoever is hidden.
   */
  plays?: StorageInstancedBufferAttribute;
}

/** How a clip is wanted. */
export interface WantedClip {
  /** Whether it plays once, and holds its last frame: `LoopOnce` with `clampWhenFinished`. @default false */
  once?: boolean;
  /**
   * Whether it begins at the same share of its length as what it takes over from, so that feet stay in step; on an instance that plays
   * nothing, somewhere. @default false
   */
  inStep?: boolean;
}

/** Where instances stood at a time of the crowd's clock. */
export interface GPUMatrices {
  /** 16 numbers an instance, column by column. */
  matrices: Float32Array;
  /** The crowd's `elapsed` then. */
  elapsed: number;
}

/** What was hit of instances that the GPU places. */
export interface GPUIntersection {
  /** Id of the instance. */
  instanceId: number;
  /** From the ray's origin to the middle of the instance, in the world. */
  distance: number;
  /** Where the ray comes nearest to the middle of the instance, in the world. */
  point: Vector3;
  /** Seconds of the crowd's clock that had passed since, when the answer came. */
  age: number;
}

const _sphere = /*@__PURE__*/ new Sphere();
const _matrix = /*@__PURE__*/ new Matrix4();
const _vector = /*@__PURE__*/ new Vector3();

/**
 * Instances that live on the GPU: where they stand, what they play and who is hidden comes from storage that your own compute writes,
 * and never visits the CPU. Culling, levels of detail, posing and shadows go on as they are. For WebGPU; `renderer.compute` your steps
 * before `renderer.render`.
 *
 * ```ts
 * const matrices = new StorageInstancedBufferAttribute(crowd.capacity, 16);
 * const plays = new StorageInstancedBufferAttribute(crowd.capacity, 4);
 * const gpu = new GPUInstances(crowd, { matrices, plays });
 * const walk = gpu.clip('Walk', { inStep: true });
 * // in your compute: storage(plays, 'vec4', count).element(instanceIndex).assign(vec4(walk, 0.2, speed, 0));
 * ```
 *
 * What the CPU says of the same is not looked at: `setMatrixAt` where there are `matrices` or `places`, `play` and its like where there are `plays`,
 * whose clips dispatch no events. `setVisibleAt` hides whom neither shows. `setCapacity` and `swapInstances` throw.
 *
 * @category Crowd
 */
export class GPUInstances implements CrowdFeature {
  /** @internal */
  readonly matrices: Storage | null;
  /** @internal */
  readonly places: boolean;
  /** @internal */
  readonly plays: boolean;
  /** @internal */
  readonly actions: StorageBufferAttribute | null = null;
  /** @internal */
  readonly drawn: StorageBufferAttribute | null = null;
  private readonly told: StorageBufferAttribute | null = null;
  private readonly clips: StorageBufferAttribute;
  private readonly clock = uniform(new Vector2());
  private readonly count = uniform(0, 'int');
  private readonly visible = storageOf(new StorageBufferAttribute(new Uint32Array(1), 1), 'uint');
  private readonly steps: ComputeNode[] = [];
  /** Where instances stand, if that is made of less. */
  private readonly made: Storage | null = null;
  private frame = -1;
  private updates = -1;
  /** Who has computed them then. Frames of two renderers may have one number. */
  private renderer: WebGPURenderer | null = null;

  /** @throws If the storage has room for fewer than the crowd, its clips are not tracks, it has layers, or it has one already. */
  constructor(
    /** The crowd whose instances they are. */
    readonly crowd: SkinnedInstancedMesh,
    { matrices, places, plays }: GPUInstancesOptions,
  ) {
    const { capacity, playback, boneTexture } = crowd;
    checkStorage('matrices', matrices, 16, capacity);
    checkStorage('places', places, 4, capacity);
    checkStorage('plays', plays, 4, capacity);
    playback.checkMixes(NAME);
    if (plays !== undefined && (playback.layers.length > 1 || crowd.crowd.bodies !== null))
      throw new Error(
        `${NAME}: what instances play on layers, or by other proportions, is told by the CPU; leave out plays, or AnimationLayers and such kinds.`,
      );
    enableGPULists();
    crowd.use(this);
    if (places !== undefined) {
      this.made = new StorageInstancedBufferAttribute(capacity, 16);
      this.steps.push(placeStep(places, this.made, capacity));
    }
    this.matrices = this.made ?? matrices ?? null;
    this.places = this.matrices !== null;
    this.plays = plays !== undefined;
    this.clips = new StorageBufferAttribute(new Float32Array(boneTexture.clipTable.clips.length * 4), 4);
    this.boneTextureReplaced();
    if (plays !== undefined) {
      // What plays now goes on until something else is wanted.
      playback.texels.makeRoom(MAX_ACTIONS);
      const size = actionsTexels(1) * 4;
      const texels = playback.texels.texture.data.slice(0, capacity * size);
      this.actions = new StorageBufferAttribute(texels, 4);
      this.told = new StorageBufferAttribute(new Float32Array(capacity * 4), 4);
      const words = Math.ceil(capacity / WORKGROUP) * GROUP_WORDS;
      this.drawn = new StorageBufferAttribute(new Uint32Array(words), 1);
      this.steps.push(this.createStep(plays, this.told, this.actions, this.drawn));
    }
    this.become(this);
  }

  /**
   * The number by which `plays` names a clip. Any number that differs starts it: add multiples of 2 ** 18 to start it anew.
   *
   * @example
   * ```ts
   * const walk = gpu.clip('Walk', { inStep: true });
   * const fall = gpu.clip('Fall', { once: true });
   * // in your compute: plays.element(i).assign(vec4(select(isHit, fall, walk), 0.2, 1, 0));
   * ```
   */
  clip(clip: ClipReference, { once = false, inStep = false }: WantedClip = {}): number {
    const { clipTable } = this.crowd.boneTexture;
    return clipTable.indexOf(clip) + 1 + (once ? PLAY_ONCE : 0) + (inStep ? PLAY_IN_STEP : 0);
  }

  /**
   * Reads back where instances stand, a few frames late: `matrices` hold for `crowd.elapsed` as it was at `elapsed`. Do not wait for it in
   * each frame.
   */
  async readMatrices(renderer: WebGPURenderer): Promise<GPUMatrices> {
    const { matrices } = this;
    const { elapsed } = this.crowd;
    if (matrices === null) return { matrices: this.crowd.instanceMatrix.array as Float32Array, elapsed };
    const read = await renderer.getArrayBufferAsync(matrices);
    return { matrices: new Float32Array(read), elapsed };
  }

  /** The nearest instance around all poses of which a ray passes, as they stood when it was asked; null if there is none. */
  async raycast(renderer: WebGPURenderer, { ray, near, far }: Raycaster): Promise<GPUIntersection | null> {
    const { crowd } = this;
    const [asked, world, { elapsed }] = [ray.clone(), crowd.matrixWorld.clone(), crowd];
    const spheres = await this.readSpheres(renderer);
    const found: GPUIntersection = { instanceId: -1, distance: far, point: new Vector3(), age: 0 };
    for (let i = 0; i < spheres.length / 4; i++) {
      _sphere.center.fromArray(spheres, i * 4);
      _sphere.radius = spheres[i * 4 + 3];
      if (!asked.intersectsSphere(_sphere.applyMatrix4(world))) continue;
      const distance = asked.closestPointToPoint(_sphere.center, _vector).distanceTo(asked.origin);
      if (distance < near || distance >= found.distance || !crowd.visibility.isDrawn(i)) continue;
      found.instanceId = i;
      found.distance = distance;
      found.point.copy(_vector);
    }
    found.age = crowd.elapsed - elapsed;
    return found.instanceId < 0 ? null : found;
  }

  /** Four numbers for each instance: middle and radius of the sphere around all of its poses, in the space of the crowd. @internal */
  async readSpheres(renderer: WebGPURenderer): Promise<Float32Array> {
    const { crowd } = this;
    const spheres = new Float32Array(crowd.count * 4);
    const bounds = crowd.crowd.boundsOfPoses(new Box3()).getBoundingSphere(new Sphere());
    const { matrices } = await this.readMatrices(renderer);
    for (let at = 0; at < spheres.length; at += 4) {
      const { center, radius } = _sphere.copy(bounds).applyMatrix4(_matrix.fromArray(matrices, at * 4));
      center.toArray(spheres, at);
      spheres[at + 3] = radius;
    }
    return spheres;
  }

  /** @throws If it is not tracks, or has more clips than that with which storage was made. @internal */
  checkBoneTexture({ encoding, clipTable }: BoneTexture): void {
    const most = this.clips.count;
    if (encoding === 'tracks' && clipTable.clips.length <= most) return;
    throw new Error(`${NAME}: the other bone texture is not tracks of ${most} clips at most.`);
  }

  /** Finds the clips anew: those of the same numbers play on. */
  boneTextureReplaced(): void {
    const { clips } = this.crowd.boneTexture.clipTable;
    clips.forEach(({ start, count, fps }, i) => {
      this.clips.setXYZW(i, start, count, fps, 0);
    });
    this.clips.needsUpdate = true;
  }

  /** @internal */
  prepare(renderer: WebGPURenderer, visible: StorageBufferAttribute): readonly ComputeNode[] | null {
    const { time } = this.crowd.playback;
    const { frame } = renderer.info;
    if (frame === this.frame && time.updates === this.updates && renderer === this.renderer) return null;
    this.frame = frame;
    this.renderer = renderer;
    this.updates = time.updates;
    this.clock.value.set(time.time, time.epoch);
    this.count.value = this.crowd.count;
    this.visible.value = visible;
    return this.steps;
  }

  /** @internal */
  warn(what: string): void {
    warnOnce(
      `${NAME}: ${what} asks for what the GPU alone knows of the instances, and finds nothing. They need WebGPU, without sorting or limits; for rays use GPUInstances.raycast.`,
    );
  }

  /** @internal */
  refuse(): void {
    throw new Error(
      `${NAME}: what the GPU writes cannot change places, get more room, or play on layers; for kinds of other proportions leave out plays.`,
    );
  }

  /** The crowd is as the CPU knows it then. Your storage stays. */
  dispose(): void {
    for (const step of this.steps) step.dispose();
    for (const buffer of [this.actions, this.drawn, this.told, this.clips, this.made]) buffer?.dispose();
    this.crowd.crowd.drop(this);
    this.become(null);
  }

  /** Has the crowd know that the GPU writes its instances, or none. */
  private become(written: StoredOnGPU | null): void {
    const { crowd } = this.crowd;
    crowd.written = written;
    for (const { bounds } of crowd.members) bounds.drop();
    this.crowd.prepareDraw();
  }

  private createStep(
    plays: Storage,
    told: StorageBufferAttribute,
    actions: StorageBufferAttribute,
    drawn: StorageBufferAttribute,
  ): ComputeNode {
    const bits = storageOf(drawn, 'uint');
    const wanted = storageOf(plays as unknown as StorageBufferAttribute, 'vec4').toReadOnly();
    const { x, y } = this.clock as Node<'vec2'>;
    const { playWanted } = wantedNodes<{ playWanted(instance: Node<'int'>, first: Node<'int'>): void }>({
      ...frameAtNodes(),
      plays: wanted,
      told: storageOf(told, 'vec4'),
      actions: storageOf(actions, 'vec4'),
      clips: storageOf(this.clips, 'vec4').toReadOnly(),
      CROWD_CLOCK: x,
      CROWD_EPOCH: y,
    });
    const visible = this.visible.toReadOnly();
    const step = Fn(() => {
      const id = int(instanceIndex).toVar();
      const shown = uint(0).toVar();
      If(id.lessThan(this.count), () => {
        playWanted(id, id.mul(actionsTexels(1)).toVar());
        const isVisible = isBitSet(visible.element(id.shiftRight(5)), uint(id).bitAnd(uint(31)));
        If(wanted.element(id).w.lessThan(0.5).and(isVisible), () => {
          shown.assign(uint(1));
        });
      });
      writeBits({ lists: 1, capacity: this.count, words: int(drawn.count), bits, ids: bits }, shown);
    });
    const compute = step().computeKernel([WORKGROUP]);
    compute.dispatchSize = Math.ceil(this.crowd.capacity / WORKGROUP) * WORKGROUP;
    return compute;
  }
}

/** Makes matrices of places, see `GPUInstancesOptions`. */
function placeStep(places: Storage, matrices: Storage, capacity: number): ComputeNode {
  const from = storageOf(places, 'vec4').toReadOnly();
  const to = storageOf(matrices, 'vec4', capacity * 4);
  return Fn(() => {
    const first = int(instanceIndex).mul(4).toVar();
    const place = from.element(int(instanceIndex)).toVar();
    const [ahead, aside] = [cos(place.z), sin(place.z)].map((one) => one.mul(place.w).toVar());
    [
      vec4(ahead, 0, aside.negate(), 0),
      vec4(0, place.w, 0, 0),
      vec4(aside, 0, ahead, 0),
      vec4(place.x, 0, place.y, 1),
    ].forEach((column, i) => {
      to.element(first.add(i)).assign(column);
    });
  })().compute(capacity);
}

/** @throws If it is storage of another size. */
function checkStorage(
  name: string,
  storage: StorageInstancedBufferAttribute | undefined,
  size: number,
  capacity: number,
): void {
  if (storage === undefined || storage.array.length >= capacity * size) return;
  throw new Error(
    `${NAME}: ${name} has ${storage.array.length} numbers, and the crowd takes ${capacity * size}; make it new StorageInstancedBufferAttribute(${capacity}, ${size}).`,
  );
}
