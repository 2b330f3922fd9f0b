import { bakeCharacter, type SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import { HemisphereLight, Matrix4, PerspectiveCamera, Scene } from 'three';
import { finisher } from '../../demos/benchmark/measure.js';
import { createCharacter } from '../../demos/character.js';
import type { Calls } from '../../demos/lib/countCalls.js';
import { type Created, createRenderer } from '../../demos/lib/createRenderer.js';
import { crowdRadius, placeOf } from '../../demos/lib/plan.js';

export interface ViewRow {
  name: string;
  count: number;
  /** Milliseconds of JavaScript in a frame, in the median. */
  ms: number;
  /** Those over a crowd's that is drawn whole: median of all rounds. */
  compared: number;
  uploads: number;
  bytes: number;
}

const SIZE = 1.3;
const ROUNDS = 60;
/** Milliseconds that are timed at once, since pages are not given finer times than a tenth of one. */
const BATCH = 5;

/** A way to draw a crowd. */
interface Way {
  name: string;
  culled: boolean;
  /** Turns by a little in each frame, so that other instances are seen. */
  turns?: boolean;
  /** Moves all instances in each frame. */
  moves?: boolean;
}

/** The first is what the others are compared with. */
const WAYS: readonly Way[] = [
  { name: 'all drawn', culled: false },
  { name: 'culled, nothing moves', culled: true },
  { name: 'culled, the camera turns', culled: true, turns: true },
  { name: 'all drawn, all moving', culled: false, moves: true },
  { name: 'culled, all moving', culled: true, turns: true, moves: true },
];

/** Draws a frame, and says how long that took. */
interface Contender {
  crowd: SkinnedInstancedMesh;
  frame(): void;
}

/**
 * JavaScript of frames of crowds of which a camera sees a quarter, draw calls left out. Each way is measured in turn with a crowd
 * that is drawn whole, so that whatever else the machine does slows down both.
 */
export async function views(kind: string, counts: number[]): Promise<ViewRow[]> {
  const created = await createRenderer(kind, { antialias: false });
  leaveDrawsOut(created);
  const { renderer, calls } = created;
  const { SkinnedInstancedMesh: Crowd } =
    kind === 'webgpu'
      ? await import('skinned-instanced-mesh/webgpu')
      : await import('skinned-instanced-mesh');
  renderer.setSize(400, 400);
  document.body.append(renderer.domElement);
  const finish = finisher(created);

  const create = (way: Way, count: number): Contender => {
    const crowd = createCrowd(Crowd, count, way.culled);
    const scene = new Scene().add(new HemisphereLight(0xffffff, 0x888888, 3), crowd);
    const camera = new PerspectiveCamera(90, 1, 0.1, crowdRadius(count, SIZE) * 4 + 10);
    camera.position.y = 2;
    const frame = () => {
      crowd.update(1 / 60);
      if (way.turns) camera.rotation.y += 0.01;
      if (way.moves) crowd.instanceMatrix.needsUpdate = true;
      renderer.render(scene, camera);
    };
    return { crowd, frame };
  };

  const rows: ViewRow[] = [];
  for (const count of counts) {
    const base = create(WAYS[0], count);
    for (const way of WAYS) {
      const contender = way === WAYS[0] ? base : create(way, count);
      const times: number[] = [];
      const compared: number[] = [];
      for (let round = -2; round < ROUNDS; round++) {
        const of = await timeScript(base, finish);
        const time = contender === base ? of : await timeScript(contender, finish);
        if (round < 0) continue;
        times.push(time);
        compared.push(time - of);
      }
      const { uploads, bytes } = await countUploads(contender, finish, calls);
      rows.push({
        name: way.name,
        count,
        ms: median(times),
        compared: median(compared),
        uploads,
        bytes,
      });
      if (contender !== base) contender.crowd.dispose();
    }
    base.crowd.dispose();
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
  culled: boolean,
): SkinnedInstancedMesh {
  const { root, clips } = createCharacter();
  const crowd = new Crowd(bakeCharacter(root, clips), count);
  for (let i = 0; i < count; i++) crowd.setMatrixAt(i, placeOf(i, SIZE, _matrix));
  crowd.playAll((i) => i % clips.length, { time: (i) => i % 7 });
  crowd.perObjectFrustumCulled = culled;
  return crowd;
}
