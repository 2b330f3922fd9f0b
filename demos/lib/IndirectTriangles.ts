import type { SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import { readViewInfo } from 'skinned-instanced-mesh';
import type { Camera, Object3D } from 'three';

/** Milliseconds between two questions. */
const PAUSE = 400;

interface Answer {
  triangles: number;
  /** When it was last asked for; Infinity while it is on its way. */
  asked: number;
}

/**
 * Triangles of crowds that are drawn by indirect draw calls. Only the GPU knows how many those are, so that `renderer.info` leaves
 * them out; it is asked now and then, and answers some frames later.
 */
export class IndirectTriangles {
  private readonly answers = new WeakMap<Camera, WeakMap<Object3D, Answer>>();
  private readonly drawn = new Map<SkinnedInstancedMesh, Set<Camera>>();

  constructor(private readonly renderer: object) {}

  /** Call it for each indirect draw call. */
  note(object: Object3D, camera: Camera): void {
    // What is attached, and levels of detail, are in what is asked of the crowd.
    const crowd = object as SkinnedInstancedMesh;
    if (crowd.isSkinnedInstancedMesh !== true) return;
    const cameras = this.drawn.get(crowd) ?? new Set();
    this.drawn.set(crowd, cameras.add(camera));
  }

  reset(): void {
    this.drawn.clear();
  }

  /** Of all that was noted since the last `reset`, as far as the GPU has answered. */
  count(): number {
    let triangles = 0;
    for (const [crowd, cameras] of this.drawn) {
      for (const camera of cameras) triangles += this.of(crowd, camera);
    }
    return triangles;
  }

  private of(crowd: SkinnedInstancedMesh, camera: Camera): number {
    let byCrowd = this.answers.get(camera);
    if (byCrowd === undefined) {
      byCrowd = new WeakMap();
      this.answers.set(camera, byCrowd);
    }
    const answer = byCrowd.get(crowd) ?? { triangles: 0, asked: Number.NEGATIVE_INFINITY };
    byCrowd.set(crowd, answer);
    if (performance.now() - answer.asked > PAUSE) {
      answer.asked = Number.POSITIVE_INFINITY;
      readViewInfo(crowd, this.renderer, camera).then(({ triangles }) => {
        answer.triangles = triangles;
        answer.asked = performance.now();
      });
    }
    return answer.triangles;
  }
}
