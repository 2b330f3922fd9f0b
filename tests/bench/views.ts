import type { SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import { bakeCharacter, createLevel } from 'skinned-instanced-mesh';
import { HemisphereLight, Matrix4, PerspectiveCamera, Scene } from 'three';
import { finisher } from '../../demos/benchmark/measure.js';
import { createCharacter } from '../../demos/character.js';
import type { Calls } from '../../demos/lib/countCalls.js';
import { type Created, createRenderer } from '../../demos/lib/createRenderer.js';
import { crowdRadius, placeOf } from '../../demos/lib/plan.js';
import { addLevel } from '../support/levels.js';

export interface ViewRow {
  name: string;
  count: number;
  /** Milliseconds in the median: of JavaScript in a frame, or of a whole frame. */
  ms: number;
  /** Milliseconds of JavaScript over those of a crowd that is drawn whole, or how many times its frame: median of all rounds. */
  compared: number;
  /** What `compared` may be at most; null where nothing is asked. */
  asked: number | null;
  uploads: number;
  bytes: number;
}

const SIZE = 1.3;
const ROUNDS = { script: 60, drawing: 9 };
/** Milliseconds that are timed at once, since pages are not given finer times than a tenth of one. */
const BATCH = 5;

/** What the camera looks at: a quarter of the crowd, from its middle; or all of it, near. */
type Look = 'quarter' | 'all';

/** A way to draw a crowd. */
interface Way {
  name: string;
  look: Look;
  culled: boolean;
  levels?: boolean;
  /** Turns by a little in each frame, so that other instances are seen. */
  turns?: boolean;
  /** Moves all instances in each frame. */
  moves?: boolean;
  asked?(kind: string, count: number): number;
}

/** What JavaScript may take for each camera that sees a quarter. */
const askedScript = (kind: string, count: number): number => {
  if (kind === 'webgpu') return 0.2;
  return count <= 10_000 ? 0.3 : count <= 50_000 ? 0.5 : 1;
};

/** The first is what the others that look alike are compared with. */
const SCRIPT_WAYS: readonly Way[] = [
  { name: 'all drawn', look: 'quarter', culled: false },
  { name: 'culled, nothing moves', look: 'quarter', culled: true, asked: askedScript },
  { name: 'culled, the camera turns', look: 'quarter', culled: true, turns: true, asked: askedScript },
  {
    name: 'culled, three levels, the camera turns',
    look: 'quarter',
    culled: true,
    levels: true,
    turns: true,
  },
  { name: 'all drawn, all moving', look: 'quarter', culled: false, moves: true },
  { name: 'culled, all moving', look: 'quarter', culled: true, turns: true, moves: true },
];

const DRAWING_WAYS: readonly Way[] = [
  { name: 'a quarter seen: all drawn', look: 'quarter', culled: false },
  { name: 'a quarter seen: culled', look: 'quarter', culled: true },
  { name: 'a quarter seen: three levels', look: 'quarter', culled: true, levels: true, asked: () => 0.2 },
  { name: 'all seen: all drawn', look: 'all', culled: false },
  { name: 'all seen: culled', look: 'all', culled: true, asked: () => 1.03 },
];

/** Draws a frame, and says how long that took. */
interface Contender {
  way: Way;
  crowd: SkinnedInstancedMesh;
  frame(): void;
}

/**
 * Frames of crowds of which a camera sees a part. Each way to draw them is measured in turn with a crowd that is drawn whole, so
 * that whatever else the machine does slows down both.
 *
 * @param kind 'webgl' or 'webgpu'.
 * @param what 'script': JavaScript, with draw calls left out. 'drawing': whole frames of whole characters.
 */
export async function views(kind: string, what: 'script' | 'drawing', counts: number[]): Promise<ViewRow[]> {
  const created = await createRenderer(kind, { antialias: false });
  if (what === 'script') leaveDrawsOut(created);
  const { renderer, calls } = created;
  const { SkinnedInstancedMesh: Crowd } =
    kind === 'webgpu'
      ? await import('skinned-instanced-mesh/webgpu')
      : await import('skinned-instanced-mesh');
  renderer.setSize(400, 400);
  document.body.append(renderer.domElement);
  const finish = finisher(created);

  const create = (way: Way, count: number): Contender => {
    const crowd = createCrowd(Crowd, count, way);
    const scene = new Scene().add(new HemisphereLight(0xffffff, 0x888888, 3), crowd);
    const camera = createCamera(count, way.look);
    const frame = () => {
      crowd.update(1 / 60);
      if (way.turns) camera.rotation.y += 0.01;
      if (way.moves) crowd.instanceMatrix.needsUpdate = true;
      renderer.render(scene, camera);
    };
    return { way, crowd, frame };
  };
  const measure = what === 'script' ? timeScript : timeFrame;
  const compare = what === 'script' ? (a: number, b: number) => a - b : (a: number, b: number) => a / b;

  const rows: ViewRow[] = [];
  for (const count of counts) {
    let base: Contender | null = null;
    for (const way of what === 'script' ? SCRIPT_WAYS : DRAWING_WAYS) {
      const contender = create(way, count);
      if (base?.way.look !== way.look) {
        base?.crowd.dispose();
        base = contender;
      }
      const times: number[] = [];
      const compared: number[] = [];
      for (let round = -2; round < ROUNDS[what]; round++) {
        const of = await measure(base, finish);
        const time = contender === base ? of : await measure(contender, finish);
        if (round < 0) continue;
        times.push(time);
        compared.push(compare(time, of));
      }
      const { uploads, bytes } = await countUploads(contender, finish, calls);
      const asked = way.asked?.(kind, count) ?? null;
      rows.push({
        name: way.name,
        count,
        ms: median(times),
        compared: median(compared),
        asked,
        uploads,
        bytes,
      });
      if (contender !== base) contender.crowd.dispose();
    }
    base?.crowd.dispose();
  }
  renderer.dispose();
  return rows;
}

export const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1];

/** Milliseconds of JavaScript in a frame. */
async function timeScript({ frame }: Contender, finish: () => Promise<void>): Promise<number> {
  // The first after the GPU was waited for has a picture to be handed over besides.
  frame();
  const start = performance.now();
  let frames = 0;
  while (frames === 0 || performance.now() - start < BATCH) {
    frame();
    frames++;
  }
  const time = (performance.now() - start) / frames;
  await finish();
  return time;
}

/** Milliseconds until a frame is drawn. */
async function timeFrame({ frame }: Contender, finish: () => Promise<void>): Promise<number> {
  const start = performance.now();
  frame();
  await finish();
  return performance.now() - start;
}

async function countUploads({ frame }: Contender, finish: () => Promise<void>, calls: Calls) {
  calls.reset();
  frame();
  await finish();
  const { uploads, bytes } = calls;
  return { uploads, bytes };
}

/** Lets nothing be drawn, so that JavaScript need not wait for a software renderer. */
export function leaveDrawsOut({ gl }: Created): void {
  if (gl !== null) {
    for (const name of [
      'drawArrays',
      'drawElements',
      'drawArraysInstanced',
      'drawElementsInstanced',
    ] as const)
      gl[name] = () => {};
    return;
  }
  for (const { prototype } of [GPURenderPassEncoder, GPURenderBundleEncoder]) {
    for (const name of ['draw', 'drawIndexed', 'drawIndirect', 'drawIndexedIndirect'] as const)
      prototype[name] = () => undefined;
  }
  for (const name of ['dispatchWorkgroups', 'dispatchWorkgroupsIndirect'] as const)
    GPUComputePassEncoder.prototype[name] = () => undefined;
}

const _matrix = new Matrix4();

function createCrowd(
  Crowd: typeof SkinnedInstancedMesh,
  count: number,
  { culled, levels }: Way,
): SkinnedInstancedMesh {
  const { root, clips } = createCharacter();
  const crowd = new Crowd(bakeCharacter(root, clips), count);
  for (let i = 0; i < count; i++) crowd.setMatrixAt(i, placeOf(i, SIZE, _matrix));
  crowd.playAll((i) => i % clips.length, { time: (i) => i % 7 });
  crowd.perObjectFrustumCulled = culled;
  if (levels) {
    const radius = crowdRadius(count, SIZE);
    for (const [share, detail] of [
      [0.25, 0.5],
      [0.6, 0.2],
    ])
      addLevel(crowd, createLevel(crowd, createCharacter({ detail }).root), share * radius);
  }
  return crowd;
}

function createCamera(count: number, look: Look): PerspectiveCamera {
  const radius = crowdRadius(count, SIZE);
  const camera = new PerspectiveCamera(look === 'quarter' ? 90 : 60, 1, 0.1, radius * 4 + 10);
  if (look === 'quarter') camera.position.set(0, 2, 0);
  else {
    camera.position.set(0, radius * 1.2, radius * 1.8);
    camera.lookAt(0, 0, 0);
  }
  return camera;
}
