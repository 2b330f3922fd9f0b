import type { ComputeNode, WebGPURenderer } from 'three/webgpu';
import type { BoneTexture } from '../../animation/BoneTexture.js';
import type { PoseTracks } from '../../animation/PoseTracks.js';
import { trackLayout } from '../../animation/trackTexels.js';
import type { EditedCrowd } from '../../crowd/CrowdFeature.js';
import type { InstancePlayback } from '../../playback/InstancePlayback.js';
import type { DrawnCrowd } from '../DrawnCrowd.js';
import { maxMatrixRows } from './MatrixRows.js';
import { columnsOf, entriesOf, type TrackTexture } from './PoseSteps.js';
import { Poses } from './Poses.js';
import type { CameraSlot } from './views/CameraSlot.js';

const NAME = 'SkinnedInstancedMesh';

/**
 * Poses the instances of a crowd under WebGPURenderer, on WebGPU and on WebGL 2: once, however often they are drawn.
 *
 * Two computations follow each other. The first samples and mixes what plays, once for each node of each instance, the
 * second multiplies for each joint what the nodes above it came to. Doing both for each joint would sample a node again
 * for all joints below it: four times as much work.
 */
export class NodePosePass {
  /** What the two computations compute of an instance. */
  readonly members: readonly [number, number];
  private poses: Poses[] = [];
  /** Renderers whose devices have room for all instances. */
  private readonly checked = new WeakSet<WebGPURenderer>();

  /**
   * @param playback Of the crowd; it has room for as many instances as long as there is this pass.
   */
  constructor(
    readonly tracks: TrackTexture,
    private readonly playback: InstancePlayback,
    private readonly crowd: EditedCrowd,
  ) {
    this.members = [entriesOf(tracks), columnsOf(tracks)];
  }

  /**
   * Brings the poses up to date on a renderer, if anything has changed since they last were. Call it in `onBeforeRender`.
   *
   * @param count Instances that are drawn.
   * @returns Whether there was anything to do.
   * @throws If the device has no room for so many.
   */
  run(renderer: WebGPURenderer, count: number): boolean {
    if (!this.checked.has(renderer)) this.checkRoom(renderer);
    return this.posesOn(isWebGPU(renderer)).run(renderer, Math.min(count, this.playback.capacity));
  }

  /**
   * As `run`, but poses only what a camera sees. On WebGPU alone.
   *
   * @param drawn Bits of the instances that are drawn at all.
   * @param whole Whether each instance shall have a row of its own: where draws are recorded once, which are not told of other buffers,
   * and where the CPU does not know whom cameras may see.
   * @returns What to compute once it is known what the camera sees; null if nothing has changed.
   * @throws If the device has no room for so many.
   */
  prepareSeen(
    renderer: WebGPURenderer,
    count: number,
    slot: CameraSlot,
    drawn: Uint32Array,
    whole: boolean,
  ): ComputeNode[] | null {
    const poses = this.posesOn(true);
    if (!this.checked.has(renderer) && (whole || !poses.rows.isPooled)) this.checkRoom(renderer);
    const used = Math.min(count, this.playback.capacity);
    if (poses.seen !== null) return poses.seen.prepare(renderer, used, slot, drawn, whole);
    // Motion vectors need the poses of all instances in the frame before.
    poses.run(renderer, used);
    return null;
  }

  /** Whether it asks whom cameras may see, so as to have no more rows than that takes. */
  get asksWhoIsSeen(): boolean {
    return this.posesOn(true).rows.isPooled;
  }

  /** How many instances were posed at this moment for cameras that see them; undefined where all are posed. */
  readPosed(renderer: WebGPURenderer): Promise<number> | undefined {
    return this.posesOn(true).seen?.read(renderer);
  }

  /** Frees what is on GPUs; it is made anew when it is needed. */
  dispose(): void {
    for (const poses of this.poses) poses.dispose();
    this.poses = [];
  }

  /** The poses for renderers of a kind of backend. */
  posesOn(webGPU: boolean): Poses {
    const { poses } = this;
    for (let i = 0; i < poses.length; i++) if (poses[i].webGPU === webGPU) return poses[i];
    const made = new Poses(this.tracks, this.playback, this.crowd, webGPU);
    poses.push(made);
    return made;
  }

  private checkRoom(renderer: WebGPURenderer): void {
    const { tracks } = this;
    const { capacity } = this.playback;
    const room = Math.floor(maxMatrixRows(renderer) / Math.max(entriesOf(tracks), columnsOf(tracks)));
    if (capacity > room) {
      throw new Error(
        `${NAME}: this device has room for poses of ${room} instances of ${tracks.joints} joints, not of ${capacity}; make several crowds.`,
      );
    }
    this.checked.add(renderer);
  }
}

const isWebGPU = ({ backend }: WebGPURenderer): boolean =>
  (backend as { isWebGPUBackend?: boolean }).isWebGPUBackend === true;

interface NodePoses {
  pass: NodePosePass;
  boneTexture: BoneTexture;
  dispose(): void;
}

const known = /*@__PURE__*/ new WeakMap<InstancePlayback, NodePoses>();

/** The pass that poses a crowd, and all that is attached to it; it goes with what they play. */
export function posePassOf(crowd: DrawnCrowd): NodePosePass {
  const { playback, boneTexture } = crowd;
  const last = known.get(playback);
  if (last?.boneTexture === boneTexture) return last.pass;
  last?.dispose();
  return createPass(crowd);
}

function createPass({ playback, crowd, boneTexture }: DrawnCrowd): NodePosePass {
  const tracks = boneTexture.data.tracks as PoseTracks;
  const pass = new NodePosePass(
    {
      texture: boneTexture,
      shortKeys: boneTexture.shortKeys,
      layout: trackLayout(tracks),
      nodes: tracks.parents.length,
      joints: tracks.jointNodes.length,
      groups: tracks.morphRest.length / 4,
    },
    playback,
    crowd,
  );
  const actions = playback.actions.layered;
  const dispose = () => {
    pass.dispose();
    if (known.get(playback)?.pass === pass) known.delete(playback);
    actions.removeEventListener('dispose', dispose);
  };
  known.set(playback, { pass, boneTexture, dispose });
  actions.addEventListener('dispose', dispose);
  return pass;
}

/** Brings the poses of a crowd up to date. */
export function runPosePass(renderer: object, crowd: DrawnCrowd): void {
  posePassOf(crowd).run(renderer as WebGPURenderer, crowd.count);
}
