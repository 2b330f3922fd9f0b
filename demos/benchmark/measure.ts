import type { WebGPURenderer } from 'three/webgpu';
import type { Calls } from '../lib/countCalls.js';
import type { Created } from '../lib/createRenderer.js';

/** What one way to draw a crowd of one size took. */
export interface Row {
  contender: string;
  name: string;
  count: number;
  /** Milliseconds of JavaScript in a frame. */
  js: number;
  /** Milliseconds from the beginning of a frame until the GPU has drawn it. */
  frame: number;
  /** Milliseconds of the GPU alone, where it can be asked. */
  gpu: number | null;
  draws: number;
  uploads: number;
  bytes: number;
  /** What drew. */
  renderer: string;
  device: string;
}

export type Measured = Pick<Row, 'js' | 'frame' | 'draws' | 'uploads' | 'bytes'>;

/** Milliseconds that are given to one measurement, beyond its three rounds. */
export const BUDGET = 2_000;
const ROUNDS = 60;

/** Mean of the middle half: as steady as the median, and finer than the clock that pages are given. */
function typical(values: number[]): number {
  values.sort((a, b) => a - b);
  const cut = Math.floor(values.length / 4);
  const middle = values.slice(cut, values.length - cut);
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

/**
 * Times frames.
 *
 * Pages are not given finer times than a tenth of a millisecond, so quick frames are timed by the batch. One that keeps
 * the GPU busy is a batch of its own, so that JavaScript never waits for the GPU.
 *
 * @param frame Does all that a frame asks of JavaScript.
 * @param finish Waits until the GPU has done everything asked for.
 * @param budget Milliseconds that it may take, if three rounds take less.
 */
export async function measure(
  frame: () => void,
  finish: () => Promise<void>,
  calls: Calls,
  budget: number,
): Promise<Measured> {
  for (let warm = 0; warm < 2; warm++) {
    frame();
    await finish();
  }
  let start = performance.now();
  calls.reset();
  frame();
  const { draws, uploads, bytes } = calls;
  await finish();
  const batch = Math.max(1, Math.min(100, Math.round(20 / Math.max(performance.now() - start, 0.1))));

  const js: number[] = [];
  const whole: number[] = [];
  const started = performance.now();
  while (js.length < ROUNDS && (js.length < 3 || performance.now() - started < budget)) {
    start = performance.now();
    for (let i = 0; i < batch; i++) frame();
    js.push((performance.now() - start) / batch);
    await finish();
    whole.push((performance.now() - start) / batch);
  }
  return { js: typical(js), frame: typical(whole), draws, uploads, bytes };
}

/** Waits until the GPU has done everything asked for. */
export function finisher({ device, gl }: Created): () => Promise<void> {
  if (device !== null) return () => device.queue.onSubmittedWorkDone();
  const pixel = new Uint8Array(4);
  return async () => {
    gl?.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
  };
}

/** Milliseconds that the GPU takes for a frame; null where it cannot be asked. */
export async function gpuTime(created: Created, frame: () => void): Promise<number | null> {
  const { device, gl } = created;
  if (device?.features.has('timestamp-query')) return timestamps(created, frame);
  return gl === null ? null : timerQueries(gl, frame);
}

async function timestamps({ renderer, track }: Created, frame: () => void): Promise<number | null> {
  const times: number[] = [];
  track?.(true);
  for (let round = 0; round < 5; round++) {
    frame();
    times.push((await (renderer as WebGPURenderer).resolveTimestampsAsync('render')) ?? Number.NaN);
  }
  track?.(false);
  const time = typical(times);
  return Number.isFinite(time) ? time : null;
}

async function timerQueries(gl: WebGL2RenderingContext, frame: () => void): Promise<number | null> {
  const timer = gl.getExtension('EXT_disjoint_timer_query_webgl2') as {
    TIME_ELAPSED_EXT: number;
    GPU_DISJOINT_EXT: number;
  } | null;
  if (timer === null) return null;
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    const query = gl.createQuery();
    gl.beginQuery(timer.TIME_ELAPSED_EXT, query);
    frame();
    gl.endQuery(timer.TIME_ELAPSED_EXT);
    for (let wait = 0; !gl.getQueryParameter(query, gl.QUERY_RESULT_AVAILABLE); wait++) {
      if (wait > 1_000) return null;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    if (!gl.getParameter(timer.GPU_DISJOINT_EXT)) {
      times.push(gl.getQueryParameter(query, gl.QUERY_RESULT) / 1e6);
    }
    gl.deleteQuery(query);
  }
  return times.length > 0 ? typical(times) : null;
}

/** The name of what draws. */
export function deviceName(created: Pick<Created, 'gl'>, adapter: GPUAdapterInfo | null): string {
  if (adapter !== null) {
    const { description, vendor, architecture } = adapter;
    return (
      description || [vendor, architecture].filter((part) => part).join(' ') || 'a device without a name'
    );
  }
  const { gl } = created;
  const info = gl?.getExtension('WEBGL_debug_renderer_info');
  return info && gl ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : 'a device without a name';
}
