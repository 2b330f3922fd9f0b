import type { SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import { HemisphereLight, Matrix4, PerspectiveCamera, Scene } from 'three';
import { createGpuTimer } from '../../demos/benchmark/gpuTimer.js';
import { finisher, measureDrawing, measureScript, type Subject } from '../../demos/benchmark/measure.js';
import { createCharacter } from '../../demos/character.js';
import { createRenderer } from '../../demos/lib/createRenderer.js';
import { crowdRadius, placeOf } from '../../demos/lib/plan.js';

export interface ViewRow {
  name: string;
  count: number;
  /** Milliseconds of JavaScript in a frame, or null where it was not asked for. */
  js: number | null;
  /** Milliseconds of a whole frame, or null. */
  frame: number | null;
  uploads: number;
  bytes: number;
}

const SIZE = 1.3;
/** Milliseconds for each measurement. */
const BUDGET = 1500;

/** A way to draw a crowd. */
interface Way {
  name: string;
  culled: boolean;
  levels: boolean;
  /** Turns by a little in each frame, so that other instances are seen. */
  turns?: boolean;
  /** Moves all instances in each frame. */
  moves?: boolean;
}

/** What the camera looks at: a quarter of the crowd, from its middle; or all of it, near. */
type Look = 'quarter' | 'all';

/**
 * Frames of crowds of which a camera sees a part.
 *
 * @param kind 'webgl' or 'webgpu'.
 * @param what 'script': JavaScript of many characters of one triangle. 'drawing': whole frames of some whole characters.
 */
export async function views(kind: string, what: 'script' | 'drawing', counts: number[]): Promise<ViewRow[]> {
  const created = await createRenderer(kind, false);
  const { renderer, device, gl, calls } = created;
  const { SkinnedInstancedMesh: Crowd } =
    kind === 'webgpu'
      ? await import('skinned-instanced-mesh/webgpu')
      : await import('skinned-instanced-mesh');
  renderer.setSize(400, 400);
  document.body.append(renderer.domElement);
  const timer = createGpuTimer(device, gl);
  const finish = finisher(created);
  const rows: ViewRow[] = [];
  for (const count of counts) {
    for (const [look, ways] of what === 'script' ? SCRIPT_WAYS : DRAWING_WAYS) {
      for (const way of ways) {
        const crowd = createCrowd(Crowd, count, way, what === 'script');
        const scene = new Scene().add(new HemisphereLight(0xffffff, 0x888888, 3), crowd);
        const camera = createCamera(count, look);
        const subject: Subject = {
          frame: () => {
            crowd.update(1 / 60);
            if (way.turns) camera.rotation.y += 0.01;
            if (way.moves) crowd.instanceMatrix.needsUpdate = true;
            renderer.render(scene, camera);
          },
          finish,
          calls,
          timer,
        };
        const script = what === 'script' ? await measureScript(subject, BUDGET) : null;
        const drawing = what === 'drawing' ? await measureDrawing(subject, BUDGET) : null;
        rows.push({
          name: way.name,
          count,
          js: script?.js ?? null,
          frame: drawing?.frame ?? null,
          uploads: script?.uploads ?? 0,
          bytes: script?.bytes ?? 0,
        });
        crowd.dispose();
      }
    }
  }
  renderer.dispose();
  return rows;
}

const SCRIPT_WAYS: readonly [Look, readonly Way[]][] = [
  [
    'quarter',
    [
      { name: 'all drawn', culled: false, levels: false },
      { name: 'all drawn, all moving', culled: false, levels: false, moves: true },
      { name: 'culled, nothing moves', culled: true, levels: false },
      { name: 'culled, the camera turns', culled: true, levels: false, turns: true },
      { name: 'culled, all moving', culled: true, levels: false, turns: true, moves: true },
      { name: 'culled, three levels, the camera turns', culled: true, levels: true, turns: true },
    ],
  ],
];

const DRAWING_WAYS: readonly [Look, readonly Way[]][] = [
  [
    'quarter',
    [
      { name: 'a quarter seen: all drawn', culled: false, levels: false },
      { name: 'a quarter seen: culled', culled: true, levels: false },
      { name: 'a quarter seen: culled, three levels', culled: true, levels: true },
    ],
  ],
  [
    'all',
    [
      { name: 'all seen: all drawn', culled: false, levels: false },
      { name: 'all seen: culled', culled: true, levels: false },
    ],
  ],
];

const _matrix = new Matrix4();

function createCrowd(
  Crowd: typeof SkinnedInstancedMesh,
  count: number,
  { culled, levels }: Way,
  still: boolean,
): SkinnedInstancedMesh {
  const { root, clips } = createCharacter();
  const crowd = Crowd.from(root, clips, count);
  for (let i = 0; i < count; i++) crowd.setMatrixAt(i, placeOf(i, SIZE, _matrix));
  crowd.playAll((i) => i % clips.length, { time: (i) => i % 7 });
  crowd.perObjectFrustumCulled = culled;
  if (levels) {
    const radius = crowdRadius(count, SIZE);
    for (const [share, detail] of [
      [0.25, 0.5],
      [0.6, 0.2],
    ]) {
      const level = crowd.addLevel(createCharacter({ detail }).root, share * radius);
      if (still) level.geometry.setDrawRange(0, 3);
    }
  }
  if (still) crowd.geometry.setDrawRange(0, 3);
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
