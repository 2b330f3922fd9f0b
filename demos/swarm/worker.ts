import { Swarm } from './Swarm.js';

/** What goes to the worker and comes back, its buffers too. */
export interface Turn {
  /** How often to step, and by how many seconds. */
  times: number;
  delta: number;
  readonly light: { x: number; z: number };
  /** As `Swarm` has it. */
  readonly blast: { x: number; y: number; z: number };
  /** What the worker fills in, as `Swarm` has them. */
  readonly matrices: Float32Array<ArrayBuffer>;
  readonly gaits: Float32Array<ArrayBuffer>;
}

let swarm: Swarm | undefined;

addEventListener('message', ({ data }: MessageEvent<Turn>) => {
  const { times, delta, light, blast, matrices, gaits } = data;
  swarm ??= new Swarm(gaits.length / 2, new Float32Array(matrices.length));
  swarm.blast.splice(0, 3, blast.x, blast.y, blast.z);
  for (let i = 0; i < times; i++) swarm.step(delta, light.x, light.z);
  matrices.set(swarm.matrices);
  gaits.set(swarm.gaits);
  postMessage(data, { transfer: [matrices.buffer, gaits.buffer] });
});
