import type { SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import { LoopOnce, type Vector3 } from 'three';
import { FADE, GAITS, LONGEST } from './rules.js';
import type { Turn } from './worker.js';

const CLIPS = [...GAITS, ['Fall']] as const;

/** A swarm that a worker steers by `Swarm`: the page takes over where all stand, and what they play. */
export class SwarmInWorker {
  readonly worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  /** Resolves when the worker has first answered. */
  readonly ready: Promise<void>;
  /** The crowd's `elapsed` when its places were asked for. */
  elapsed = 0;
  /** The one that there is goes back and forth; null while the worker has it. */
  private turn: Turn | null;
  private asked = 0;
  private since = 0;
  private readonly told: Float32Array;

  constructor(private readonly crowd: SkinnedInstancedMesh) {
    const { count } = crowd;
    this.told = new Float32Array(count * 2).fill(-1);
    this.turn = {
      times: 0,
      delta: 0,
      light: { x: 0, z: 0 },
      blast: { x: 0, y: 0, z: 0 },
      matrices: new Float32Array(count * 16),
      gaits: new Float32Array(count * 2),
    };
    this.ready = new Promise((resolve, reject) => {
      this.worker.onmessage = ({ data }: MessageEvent<Turn>) => {
        this.turn = data;
        resolve();
      };
      this.worker.onerror = ({ message }) => reject(new Error(message));
    });
  }

  /** Shows what the worker has answered, asks for the next steps, and takes the blast away; while it is busy, adds up time. */
  step(delta: number, light: Vector3, blast: Vector3, times = 1): Promise<void> {
    this.since = Math.min(this.since + delta, LONGEST);
    const { turn, worker, crowd } = this;
    if (turn === null) return this.ready;
    if (turn.times > 0) this.show(turn);
    turn.times = times;
    turn.delta = this.since;
    [turn.light.x, turn.light.z] = [light.x, light.z];
    [turn.blast.x, turn.blast.y, turn.blast.z] = [blast.x, blast.y, blast.z];
    worker.postMessage(turn, [turn.matrices.buffer, turn.gaits.buffer]);
    this.turn = null;
    this.since = blast.z = 0;
    this.asked = crowd.elapsed;
    return this.ready;
  }

  private show({ matrices, gaits }: Turn): void {
    const { crowd, told } = this;
    crowd.instanceMatrix.array.set(matrices);
    crowd.instanceMatrix.needsUpdate = true;
    this.elapsed = this.asked;
    for (let i = 0; i < crowd.count; i++) {
      const [gait, speed] = [gaits[i * 2], gaits[i * 2 + 1]];
      const before = told[i * 2];
      const [clip] = CLIPS[gait];
      if (before === gait) {
        if (told[i * 2 + 1] !== speed) crowd.setTimeScaleAt(i, speed);
      } else if (gait === GAITS.length) {
        crowd.play(i, clip, { loop: LoopOnce, clampWhenFinished: true, fade: FADE });
      } else {
        // In step with what they play; to begin with no two are.
        const share = before < 0 ? (i * 0.618) % 1 : crowd.getTimeAt(i) / this.durationOf(CLIPS[before][0]);
        const time = share * this.durationOf(clip);
        crowd.play(i, clip, { time, timeScale: speed, fade: before < 0 ? 0 : FADE });
      }
    }
    told.set(gaits);
  }

  private durationOf(name: string): number {
    const { boneTexture } = this.crowd;
    return boneTexture.clips[boneTexture.clipIndex(name)].duration;
  }
}
