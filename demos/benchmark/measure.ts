import type { Calls } from '../lib/countCalls.js';
import type { Created } from '../lib/createRenderer.js';
import type { GpuTimer } from './gpuTimer.js';

/** What is asked of JavaScript for a frame. */
export interface Script {
  /** Milliseconds of JavaScript in a frame. */
  js: number;
  /** Draw calls of the characters. */
  draws: number;
  uploads: number;
  bytes: number;
}

/** How long drawing takes. */
export interface Drawing {
  /** Milliseconds from the beginning of a frame until the GPU has drawn it. */
  frame: number;
  /** Milliseconds of the GPU alone in the same frames, where it can be asked. */
  gpu: number | null;
}

/** What one way to draw a crowd of one size took. */
export interface Row extends Script, Drawing {
  contender: string;
  name: string;
  count: number;
  /** What drew. */
  renderer: string;
  device: string;
}

/** What a page measures: `script`, `drawing` or both, with a comma between. */
export type Part = 'script' | 'drawing';

/** What is measured. */
export interface Subject {
  /** Does all that a frame asks of JavaScript. */
  frame(): void;
  /** Waits until the GPU has done everything asked for. */
  finish(): Promise<void>;
  calls: Calls;
  timer: GpuTimer | null;
}

/** Milliseconds that are given to one measurement, beyond its warming up and three rounds. */
export const BUDGET = 2_000;
const ROUNDS = 60;
/** Frames in a row of which a batch is made at most. */
const LARGEST_BATCH = 100;

/** Measures what `parts` names. */
export async function measure(
  subject: Subject,
  parts: string,
  budget: number,
): Promise<Partial<Script & Drawing>> {
  const wanted = parts.split(',') as Part[];
  return {
    ...(wanted.includes('script') && (await measureScript(subject, budget))),
    ...(wanted.includes('drawing') && (await measureDrawing(subject, budget))),
  };
}

/** Times JavaScript, and counts what it asks the graphics API for. */
export async function measureScript(subject: Subject, budget: number): Promise<Script> {
  const { frame, finish, calls } = subject;
  await warmUp(subject, budget);
  calls.reset();
  frame();
  await finish();
  const { uploads, bytes } = calls;
  const draws = calls.drawsFor.characters;

  const batch = await batchOf(subject);
  const js: number[] = [];
  await repeat(budget, async () => {
    const start = performance.now();
    for (let i = 0; i < batch; i++) frame();
    js.push((performance.now() - start) / batch);
    await finish();
  });
  return { js: typical(js), draws, uploads, bytes };
}

/**
 * Times frames until the GPU has drawn them, and the GPU in the very same frames: in others, or one by one where these
 * follow each other closely, the GPU alone could seem to take longer than the whole frame.
 */
export async function measureDrawing(subject: Subject, budget: number): Promise<Drawing> {
  const { frame, finish, timer } = subject;
  await warmUp(subject, budget);
  const batch = await batchOf(subject);
  const rounds: { whole: number; gpu: number }[] = [];
  await repeat(budget, async () => {
    const start = performance.now();
    timer?.begin();
    for (let i = 0; i < batch; i++) frame();
    timer?.end();
    await finish();
    const whole = (performance.now() - start) / batch;
    rounds.push({ whole, gpu: timer === null ? Number.NaN : (await timer.read()) / batch });
  });
  const trusted = rounds.filter(({ gpu }) => Number.isFinite(gpu));
  if (trusted.length === 0) return { frame: typical(rounds.map(({ whole }) => whole)), gpu: null };
  return {
    frame: typical(trusted.map(({ whole }) => whole)),
    gpu: typical(trusted.map(({ gpu }) => gpu)),
  };
}

/** Draws until shaders are compiled and JavaScript is as quick as it gets: a browser compiles what runs often. */
async function warmUp({ frame, finish }: Subject, budget: number): Promise<void> {
  const start = performance.now();
  for (let frames = 0; frames < 2 || performance.now() - start < budget / 4; frames++) {
    frame();
    await finish();
  }
}

/**
 * How many frames to time at once. Pages are not given finer times than a tenth of a millisecond, so quick frames are
 * timed by the batch. One that keeps the GPU busy is a batch of its own, so that JavaScript never waits for the GPU.
 */
async function batchOf({ frame, finish }: Subject): Promise<number> {
  const start = performance.now();
  frame();
  await finish();
  return Math.max(1, Math.min(LARGEST_BATCH, Math.round(20 / Math.max(performance.now() - start, 0.1))));
}

/** Three rounds, and more as long as there is time. */
async function repeat(budget: number, round: () => Promise<void>): Promise<void> {
  const start = performance.now();
  for (let done = 0; done < 3 || (done < ROUNDS && performance.now() - start < budget); done++) await round();
}

/** Mean of the middle half: as steady as the median, and finer than the clock that pages are given. */
function typical(values: number[]): number {
  values.sort((a, b) => a - b);
  const cut = Math.floor(values.length / 4);
  const middle = values.slice(cut, values.length - cut);
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

/** Waits until the GPU has done everything asked for. */
export function finisher({ device, gl }: Created): () => Promise<void> {
  if (device !== null) return () => device.queue.onSubmittedWorkDone();
  const pixel = new Uint8Array(4);
  return async () => {
    gl?.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
  };
}
