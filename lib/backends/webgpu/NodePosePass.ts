import { type Texture, Vector3 } from 'three';
import { Fn, int, uniform } from 'three/tsl';
import type { ComputeNode, Node, StorageBufferAttribute, WebGPURenderer } from 'three/webgpu';
import { mixTracks } from '../../../shaders/mixTracks.tsl.js';
import { playedActions } from '../../../shaders/playedActions.tsl.js';
import { composeStep, type PoseSize, sampleStep } from '../../../shaders/posePass.tsl.js';
import { type TexelNode, texels } from '../../../shaders/TexelNode.js';
import { trackTexels } from '../../../shaders/trackTexel.tsl.js';
import { type Build, componentsOf, type Rows } from '../../../shaders/tsl.js';
import type { InstancePlayback } from '../../playback/InstancePlayback.js';
import type { TrackLayout } from '../../tracks/trackTexels.js';
import { createMatrixRows, type MatrixRows, maxMatrixRows } from './MatrixRows.js';

const NAME = 'SkinnedInstancedMesh';

/** The tracks of a character, as `trackTexels` packs them. */
export interface TrackTexture extends PoseSize {
  texture: Texture;
  layout: TrackLayout;
}

/** What is read of a crowd. */
export type PosedPlayback = Pick<InstancePlayback, 'clock' | 'actions'>;

/** Reads poses where a vertex is built. */
export interface PaletteNodes {
  /** Rows of a joint's skinning matrix. Builds on the current stack. */
  rows(instance: Node<'int'>, joint: Node<'int'>): Rows;
  /** What clips add to the influence of a morph target. Builds on the current stack. */
  influence(instance: Node<'int'>, target: Node<'int'>): Node<'float'>;
  /** Lets what was built read the poses of another crowd; call it before each draw, see `OnObjectUpdate`. */
  use(pass: NodePosePass): void;
}

/**
 * Poses the instances of a crowd under WebGPURenderer, on WebGPU and on WebGL 2: once, however often they are drawn.
 *
 * Two computations follow each other. The first samples and mixes what plays, once for each node of each instance, the
 * second multiplies for each joint what the nodes above it came to. Doing both for each joint would sample a node again
 * for all joints below it: four times as much work.
 */
export class NodePosePass {
  private poses: Poses[] = [];
  /** Renderers whose devices have room for all instances. */
  private checked = new WeakSet<WebGPURenderer>();

  /** @param count Instances that there is room for. */
  constructor(
    private readonly tracks: TrackTexture,
    private count: number,
  ) {}

  get joints(): number {
    return this.tracks.joints;
  }

  /**
   * Brings the poses up to date on a renderer, if anything has changed since they last were. Call it in `onBeforeRender`.
   *
   * @param count Instances that are drawn.
   * @returns Whether there was anything to do.
   * @throws If the device has no room for so many.
   */
  run(renderer: WebGPURenderer, playback: PosedPlayback, count = this.count): boolean {
    if (!this.checked.has(renderer)) this.checkRoom(renderer);
    return this.posesOn(isWebGPU(renderer)).run(renderer, playback, Math.min(count, this.count));
  }

  /** Reads the poses, in the vertex stage of what is built. */
  palette(build: Build): PaletteNodes {
    const webGPU = build.isAvailable('storageBuffer');
    const reader = this.posesOn(webGPU).palette.reader();
    const joints = uniform(this.joints, 'int');
    const columns = uniform(columnsOf(this.tracks), 'int');
    return {
      rows: (instance, joint) => reader.read(instance.mul(columns).add(joint).toVar()),
      influence: (instance, target) => {
        const column = joints.add(target.shiftRight(2));
        const four = reader.readFirst(instance.mul(columns).add(column).toVar());
        return componentsOf(four).element(target.bitAnd(3));
      },
      use: (pass) => {
        reader.use(pass.posesOn(webGPU).palette);
        joints.value = pass.joints;
        columns.value = columnsOf(pass.tracks);
      },
    };
  }

  /** The buffers that hold the skinning matrices: see `MatrixRows`; matrix `instance * columns + joint`. */
  attributes(renderer: WebGPURenderer): readonly StorageBufferAttribute[] {
    return this.posesOn(isWebGPU(renderer)).palette.attributes;
  }

  /** Makes room for another number of instances; what was posed is forgotten. */
  resize(count: number): void {
    if (count === this.count) return;
    this.dispose();
    this.count = count;
    this.checked = new WeakSet();
  }

  /** Frees what is on GPUs; it is made anew when it is needed. */
  dispose(): void {
    for (const poses of this.poses) poses.dispose();
    this.poses = [];
  }

  private checkRoom(renderer: WebGPURenderer): void {
    const { tracks } = this;
    const room = Math.floor(maxMatrixRows(renderer) / Math.max(entriesOf(tracks), columnsOf(tracks)));
    if (this.count > room) {
      throw new Error(
        `${NAME}: this device has room for poses of ${room} instances of ${this.joints} joints, not of ${this.count}; make several crowds.`,
      );
    }
    this.checked.add(renderer);
  }

  private posesOn(webGPU: boolean): Poses {
    let poses = this.poses.find((some) => some.webGPU === webGPU);
    if (poses === undefined) {
      poses = new Poses(this.tracks, this.count, webGPU);
      this.poses.push(poses);
    }
    return poses;
  }
}

/** What the poses on a renderer were made of. */
interface Posed {
  clock: number;
  count: number;
  actions: Texture;
  version: number;
}

/** What computes the poses, and what it reads of the crowd. */
interface Computation {
  steps: [sample: ComputeNode, compose: ComputeNode];
  actions: TexelNode;
  clock: { value: number };
}

/** Poses for renderers of one kind of backend. */
class Poses {
  readonly palette: MatrixRows;
  private readonly locals: MatrixRows;
  private computation: Computation | null = null;
  private readonly posed = new WeakMap<WebGPURenderer, Posed>();

  constructor(
    private readonly tracks: TrackTexture,
    private readonly count: number,
    readonly webGPU: boolean,
  ) {
    this.locals = createMatrixRows(count * entriesOf(tracks), webGPU);
    this.palette = createMatrixRows(count * columnsOf(tracks), webGPU);
  }

  run(renderer: WebGPURenderer, playback: PosedPlayback, count: number): boolean {
    const { clock, actions } = playback;
    if (!this.isDue(renderer, clock, actions.layered, count)) return false;
    const { tracks } = this;
    this.computation ??= this.build(playback);
    const { computation } = this;
    const [sample, compose] = computation.steps;
    computation.clock.value = clock;
    computation.actions.value = actions.layered;
    sample.count = count * entriesOf(tracks);
    compose.count = count * columnsOf(tracks);
    // A renderer that has not got all of a texture must not be sent a part of it.
    actions.prepare(renderer, always);
    this.locals.prepare(renderer);
    this.palette.prepare(renderer);
    renderer.compute(computation.steps);
    return true;
  }

  dispose(): void {
    for (const step of this.computation?.steps ?? []) step.dispose();
    this.locals.dispose();
    this.palette.dispose();
  }

  /** Whether something is other than when the poses were last computed; it is remembered. */
  private isDue(renderer: WebGPURenderer, clock: number, actions: Texture, count: number): boolean {
    if (count === 0) return false;
    const posed = this.posed.get(renderer);
    if (posed === undefined) {
      this.posed.set(renderer, { clock, count, actions, version: actions.version });
      return true;
    }
    const due =
      posed.clock !== clock ||
      posed.count !== count ||
      posed.actions !== actions ||
      posed.version !== actions.version;
    posed.clock = clock;
    posed.count = count;
    posed.actions = actions;
    posed.version = actions.version;
    return due;
  }

  private build(playback: PosedPlayback): Computation {
    const { locals, palette, count, tracks } = this;
    const { texture, layout } = tracks;
    const entries = entriesOf(tracks);
    const columns = columnsOf(tracks);
    const actions = texels(playback.actions.layered);
    const clock = uniform(0);
    const starts = uniform(new Vector3(layout.nodes, layout.joints, layout.clips), 'ivec3');
    // Anew in each build: three.js keeps a function's code, but not the textures that it reads.
    const functions = () => trackTexels(texels(texture), starts);

    const sample = Fn(() => {
      const trackNodes = functions();
      const mixing = mixTracks(trackNodes);
      const { instance, member } = split(locals.invocation, entries);
      const played = playedActions(instance, { actions, clock }, mixing.action);
      locals.write(sampleStep(trackNodes, mixing, tracks)(member, played));
    });
    const compose = Fn(() => {
      const { instance, member } = split(palette.invocation, columns);
      const first = instance.mul(entries).toVar();
      const { read } = locals.reader();
      const entryRows = (entry: Node<'int'>) => read(first.add(entry).toVar());
      palette.write(composeStep(functions(), tracks)(member, entryRows));
    });
    return {
      steps: [sample().compute(count * entries), compose().compute(count * columns)],
      actions,
      clock,
    };
  }
}

/** What the first step computes of an instance. */
const entriesOf = ({ nodes, groups }: PoseSize): number => nodes + groups;

/** What the second step computes of an instance. */
const columnsOf = ({ joints, groups }: PoseSize): number => joints + groups;

/** WebGPURenderer neither loses textures nor says which it has. */
const always = (): boolean => true;

/** The instance that an invocation is about, and which of its so many members. */
function split(invocation: Node<'uint'>, members: number): Record<'instance' | 'member', Node<'int'>> {
  const index = int(invocation).toVar();
  const instance = index.div(members).toVar();
  return { instance, member: index.sub(instance.mul(members)).toVar() };
}

const isWebGPU = ({ backend }: WebGPURenderer): boolean =>
  (backend as { isWebGPUBackend?: boolean }).isWebGPUBackend === true;
