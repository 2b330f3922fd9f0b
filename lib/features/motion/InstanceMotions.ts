import { Box3, type BufferAttribute, Matrix4, Vector3, Vector4 } from 'three';
import {
  addMotionProgram,
  MOTION_FIRST,
  MOTION_HAS_COLOR,
  MOTION_SWAPPED,
  type MotionProgram,
  type MotionStage,
} from '../../../shaders/MotionProgram.js';
import type { DrawnCrowd, MeshMotions } from '../../core/Crowd.js';
import {
  addMeshFeature,
  type CrowdFeature,
  dropMeshFeature,
  type FeaturedCrowd,
  featureOf,
  type MeshFeature,
} from '../../core/CrowdFeature.js';
import type { CrowdMesh } from '../../crowd/CrowdMesh.js';
import { InstanceTexture } from '../../instances/InstanceTexture.js';
import { sizeOf } from '../../instances/UniformLayout.js';
import type { Motion, MotionDefinition, MotionValue, MotionVertex } from './defineMotion.js';

/**
 * Moves the vertices of a crowd in time, beside what clips do, by what `defineMotion` defines: wind, flutter, breath. Time
 * is the crowd's clock, which `update` moves; it is the same for all instances, also for those that are paused.
 *
 * Levels of detail move likewise. What is attached to joints is moved by those motions that come after skinning, as the body is
 * at the same place, and by motions of its own: `new InstanceMotions(sword, …)`.
 *
 * ```ts
 * new InstanceMotions(crowd, hop({ height: 0.3 }));
 * ```
 *
 * @category Move
 */
export class InstanceMotions implements MeshFeature {
  private assigned: readonly Motion[] = [];
  /** @internal */
  readonly seeds: InstanceSeeds;

  /**
   * @param mesh A crowd, or what is attached to one.
   * @param motions One after another.
   * @throws If the mesh has some already.
   */
  constructor(
    private readonly mesh: CrowdMesh,
    ...motions: Motion[]
  ) {
    addMeshFeature(mesh, this);
    mesh.instanceMotions = this;
    this.seeds = featureOf(mesh, InstanceSeeds) ?? new InstanceSeeds(mesh);
    this.set(...motions);
  }

  /** What moves the vertices now. */
  get motions(): readonly Motion[] {
    return this.assigned;
  }

  /** Other motions in the place of these. Another set compiles materials anew; other values of uniforms do not. */
  set(...motions: Motion[]): this {
    this.assigned = motions;
    this.mesh.motionsChanged();
    return this;
  }

  /** @internal */
  with(owner: MeshMotions | null): MotionSet | null {
    return motionsOf(this.mesh, this.assigned, owner, this.seeds);
  }

  copy({ assigned, mesh }: InstanceMotions): void {
    this.set(...assigned);
    this.mesh.motions?.copyTime(mesh, this.mesh);
  }

  cloneForMesh(mesh: object): InstanceMotions {
    return new InstanceMotions(mesh as CrowdMesh);
  }

  /** Vertices are where clips have them again. */
  dispose(): void {
    if (this.mesh.instanceMotions !== this) return;
    this.mesh.instanceMotions = null;
    dropMeshFeature(this.mesh, this);
    this.mesh.motionsChanged();
  }
}

/** The motions of a mesh, its own and those of what it is attached to. */
class MotionSet implements MeshMotions {
  readonly program: MotionProgram;
  readonly numbers: Float32Array;

  constructor(
    readonly assigned: readonly { readonly motion: Motion; readonly home: DrawnCrowd }[],
    readonly seeds: InstanceSeeds,
  ) {
    this.program = motionProgramOf(assigned.map(({ motion }) => motion.definition));
    this.numbers = new Float32Array(this.program.vectors * 4);
  }

  get maxOffsetBefore(): number {
    return this.extentOf('beforeSkinning');
  }

  get maxOffsetAfter(): number {
    return this.extentOf('afterSkinning');
  }

  settle(mesh: DrawnCrowd): void {
    const { numbers, assigned, program } = this;
    numbers[MOTION_HAS_COLOR] = mesh.geometry.hasAttribute('color') ? 1 : 0;
    numbers[MOTION_SWAPPED] = this.seeds.texture === null ? 0 : 1;
    for (let i = 0; i < assigned.length; i++) {
      const { motion, home } = assigned[i];
      const { timeAt, places } = program.steps[i];
      numbers[timeAt] = clockOf(mesh, motion).time;
      prepare(motion, home);
      const uniforms = motion.uniforms as Readonly<Record<string, { value: MotionValue }>>;
      for (let k = 0; k < places.length; k++) {
        const { name, at } = places[k];
        const { value } = uniforms[name];
        if (typeof value === 'number') numbers[at] = value;
        else value.toArray(numbers, at);
      }
    }
  }

  /** Twin of `moveVertex` in `motion.glsl.ts`. */
  moveVertex(
    mesh: DrawnCrowd,
    index: number,
    vertex: number,
    target: Vector3,
    pose: (position: Vector3) => Vector3,
  ): Vector3 {
    const { assigned, seeds } = this;
    const { position } = _vertex;
    readVertex(mesh, seeds, index, vertex);
    _start.copy(position);
    move(assigned, mesh, 'beforeSkinning');
    pose(target.add(position).sub(_start));

    pose(position);
    _start.copy(position);
    move(assigned, mesh, 'afterSkinning');
    return target.add(position).sub(_start);
  }

  copyTime(from: DrawnCrowd, to: DrawnCrowd): void {
    for (const { motion } of this.assigned) Object.assign(clockOf(to, motion), clockOf(from, motion));
  }

  attached(mesh: DrawnCrowd): MotionSet | null {
    return motionsOf(mesh, [], this, this.seeds);
  }

  private extentOf(stage: Motion['stage']): number {
    let maxOffset = 0;
    for (let i = 0; i < this.assigned.length; i++) {
      const { motion, home } = this.assigned[i];
      if (motion.stage !== stage) continue;
      // What it derived from the geometry may be that of another crowd.
      prepare(motion, home);
      maxOffset += motion.maxOffset;
    }
    // Steps of a fifth.
    return maxOffset === 0 ? 0 : 2 ** (Math.ceil(Math.log2(maxOffset) * 4) / 4);
  }
}

const _rest = /*@__PURE__*/ new Box3();

/** Lets a motion derive uniforms from others and from the mesh that it was assigned to. */
function prepare(motion: Motion, { geometry, boneTexture, isJointAttachment }: DrawnCrowd): void {
  if (isJointAttachment === true) {
    if (geometry.boundingBox === null) geometry.computeBoundingBox();
    _rest.copy(geometry.boundingBox ?? _rest.makeEmpty());
  } else {
    const { restBounds } = boneTexture.data;
    _rest.min.set(restBounds[0], restBounds[1], restBounds[2]);
    _rest.max.set(restBounds[3], restBounds[4], restBounds[5]);
  }
  motion.hooks.prepare(geometry, _rest);
}

/**
 * What moves a mesh; null where nothing does.
 *
 * @param own The motions that were assigned to it.
 * @param owner What moves the mesh that it is attached to; it follows those of its motions that come after skinning.
 */
function motionsOf(
  mesh: DrawnCrowd,
  own: readonly Motion[],
  owner: MeshMotions | null,
  seeds: InstanceSeeds,
): MotionSet | null {
  const assigned = own.map((motion) => ({ motion, home: mesh }));
  const followed = owner instanceof MotionSet ? owner.assigned : [];
  const after = followed.filter(({ motion }) => motion.stage === 'afterSkinning' && !own.includes(motion));
  const all = [...assigned, ...after];
  return all.length === 0 ? null : new MotionSet(all, seeds);
}

/** Programs that were made, by the definitions of their motions, which are told apart by what they are. */
const programs: { definitions: readonly MotionDefinition[]; program: MotionProgram }[] = [];

/** The program for motions of these definitions, one after another. */
function motionProgramOf(definitions: readonly MotionDefinition[]): MotionProgram {
  const known = programs.find(
    (one) =>
      one.definitions.length === definitions.length &&
      one.definitions.every((definition, i) => definition === definitions[i]),
  );
  if (known !== undefined) return known.program;
  const program = addMotionProgram(programWith(definitions));
  programs.push({ definitions, program });
  return program;
}

function programWith(definitions: readonly MotionDefinition[]): Omit<MotionProgram, 'number'> {
  let end = MOTION_FIRST;
  /** Room for so many numbers, none of which is in another vector than the first. */
  const allot = (size: number): number => {
    if ((end & 3) + size > 4) end = (end | 3) + 1;
    end += size;
    return end - size;
  };
  const steps = definitions.map((source) => {
    const timeAt = allot(1);
    const places = source.types.map(([name, type]) => ({ name, type, at: allot(sizeOf(type) as number) }));
    return { source, timeAt, places };
  });

  return { vectors: Math.ceil(end / 4), steps };
}

/** The time of a motion in a crowd: what has passed on the crowd's clock, as fast as the motion wants it. */
type MotionClock = {
  /** Below the motion's period, if it has one. */
  time: number;
  elapsed: number;
};

/** By crowd, the clocks of its motions: its meshes share them. */
const clocks = /*@__PURE__*/ new WeakMap<object, WeakMap<Motion, MotionClock>>();

/** The clock of a motion in the crowd that a mesh is of, at the time of the crowd's, which may have been turned back. */
function clockOf({ playback, elapsed }: DrawnCrowd, motion: Motion): MotionClock {
  let own = clocks.get(playback);
  if (own === undefined) {
    own = new WeakMap();
    clocks.set(playback, own);
  }
  let clock = own.get(motion);
  if (clock === undefined) {
    clock = { time: 0, elapsed: 0 };
    own.set(motion, clock);
  }
  if (elapsed === clock.elapsed) return clock;
  const { period } = motion.definition;
  const then = clock.time + (elapsed - clock.elapsed) * motion.hooks.rate();
  // It stands still while uniforms give no finite rate: else it would be lost for good.
  if (Number.isFinite(then))
    clock.time = period === Infinity ? then : then - Math.floor(then / period) * period;
  clock.elapsed = elapsed;
  return clock;
}

const _start = /*@__PURE__*/ new Vector3();

const _vertex = {
  position: /*@__PURE__*/ new Vector3(),
  normal: /*@__PURE__*/ new Vector3(),
  color: /*@__PURE__*/ new Vector4(),
  instanceMatrix: /*@__PURE__*/ new Matrix4(),
  modelMatrix: /*@__PURE__*/ new Matrix4(),
  worldMatrix: /*@__PURE__*/ new Matrix4(),
  time: 0,
  random: 0,
  instance: 0,
  uniforms: {},
};

function readVertex(
  { geometry, instanceMatrix, matrixWorld }: DrawnCrowd,
  seeds: InstanceSeeds,
  index: number,
  vertex: number,
) {
  const { attributes } = geometry;
  const color = attributes.color as BufferAttribute | undefined;
  _vertex.position.fromBufferAttribute(attributes.position, vertex);
  if (attributes.normal === undefined) _vertex.normal.set(0, 0, 0);
  else _vertex.normal.fromBufferAttribute(attributes.normal, vertex);
  _vertex.color.setScalar(0);
  if (color !== undefined) {
    const alpha = color.itemSize > 3 ? color.getW(vertex) : 1;
    _vertex.color.set(color.getX(vertex), color.getY(vertex), color.getZ(vertex), alpha);
  }
  _vertex.instance = index;
  _vertex.random = randomOf(seeds.of(index));
  _vertex.instanceMatrix.fromArray(instanceMatrix.array, index * 16);
  _vertex.modelMatrix.copy(matrixWorld);
  _vertex.worldMatrix.multiplyMatrices(matrixWorld, _vertex.instanceMatrix);
}

function move(assigned: readonly { motion: Motion }[], mesh: DrawnCrowd, stage: MotionStage): void {
  for (const { motion } of assigned) {
    if (motion.stage !== stage) continue;
    _vertex.uniforms = motion.hooks.values;
    _vertex.time = clockOf(mesh, motion).time;
    motion.definition.cpu?.(_vertex as MotionVertex<never>);
  }
}

/**
 * The random number of a seed, at least 0 and below 1. Twin of `motionRandom` in the shaders: Jarzynski and Olano, "Hash
 * Functions for GPU Rendering", 2020, `pcg`.
 */
function randomOf(seed: number): number {
  const state = Math.imul(seed, 747796405) + 2891336453;
  const shift = ((state >>> 28) + 4) & 31;
  const word = Math.imul((state >>> shift) ^ state, 277803737);
  return (((word >>> 22) ^ word) >>> 8) / 2 ** 24;
}

/** Numbers of a texel: shaders read the first. */
const STRIDE = 4;

/**
 * What the random numbers of instances are made of: its id, until an instance is exchanged with another and takes its own
 * along. There is nothing in memory, and nothing on a GPU, as long as none was exchanged.
 */
class InstanceSeeds implements CrowdFeature {
  /** Seeds as shaders read them; null as long as each is the instance's id. */
  texture: InstanceTexture | null = null;
  private capacity: number;

  constructor(crowd: FeaturedCrowd & { readonly capacity: number }) {
    this.capacity = crowd.capacity;
    crowd.use(this);
  }

  of(index: number): number {
    return this.texture === null ? index : this.texture.data[index * STRIDE];
  }

  swap(i: number, j: number): void {
    if (this.texture === null) this.take(this, this.capacity);
    this.texture?.swap(i, j);
  }

  reset(index: number): void {
    if (this.texture === null || this.of(index) === index) return;
    this.texture.data[index * STRIDE] = index;
    this.texture.changed(index);
  }

  resize(capacity: number): void {
    if (this.texture !== null) this.take(this, capacity);
    this.capacity = capacity;
  }

  copy(source: InstanceSeeds): void {
    this.dispose();
    this.texture = null;
    if (source.texture !== null) this.take(source, source.capacity);
  }

  cloneFor(crowd: FeaturedCrowd & { readonly capacity: number }): InstanceSeeds {
    return new InstanceSeeds(crowd);
  }

  dispose(): void {
    this.texture?.dispose();
  }

  /** Takes seeds over, as far as there are any; further instances have their ids. */
  private take({ texture: from, capacity: kept }: InstanceSeeds, capacity: number): void {
    this.dispose();
    this.capacity = capacity;
    this.texture = new InstanceTexture(capacity, STRIDE);
    for (let i = 0; i < capacity; i++)
      this.texture.data[i * STRIDE] = from !== null && i < kept ? from.data[i * STRIDE] : i;
  }
}
