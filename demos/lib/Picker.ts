import type { CrowdIntersection, SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import { Raycaster, Vector2 } from 'three';
import type { Stage } from './Stage.js';

/** Pixels that a pointer may move between down and up for a click to be no drag. */
const STILL = 4;

/** Says which character of a crowd the pointer is over, and which it clicks. */
export class Picker {
  private readonly raycaster = Object.assign(new Raycaster(), { firstHitOnly: true });
  private readonly point = new Vector2();

  constructor(
    private readonly stage: Stage,
    private readonly crowd: SkinnedInstancedMesh,
  ) {}

  onClick(callback: (hit: CrowdIntersection) => void): void {
    this.onStillClick((event) => {
      const hit = this.at(event);
      if (hit !== null) callback(hit);
    });
  }

  /** Calls back when a click hits no one, with where it is from -1 to 1. */
  onMiss(callback: (pointer: Vector2) => void): void {
    this.onStillClick((event) => {
      if (this.at(event) === null) callback(this.point);
    });
  }

  private onStillClick(callback: (event: PointerEvent) => void): void {
    const { domElement } = this.stage.renderer;
    const down = new Vector2();
    domElement.addEventListener('pointerdown', ({ clientX, clientY }) => down.set(clientX, clientY));
    domElement.addEventListener('pointerup', (event) => {
      if (Math.hypot(event.clientX - down.x, event.clientY - down.y) > STILL) return;
      callback(event);
    });
  }

  /** Calls back when the pointer moves over something else than before, with null over nothing. */
  onHover(callback: (hit: CrowdIntersection | null) => void): void {
    let last = '';
    this.stage.renderer.domElement.addEventListener('pointermove', (event) => {
      if (event.buttons !== 0) return;
      const hit = this.at(event);
      const now = `${hit?.instanceId} ${hit?.part}`;
      if (now !== last) callback(hit);
      last = now;
    });
  }

  private at({ clientX, clientY }: PointerEvent): CrowdIntersection | null {
    this.point.set((clientX / innerWidth) * 2 - 1, 1 - (clientY / innerHeight) * 2);
    this.raycaster.setFromCamera(this.point, this.stage.camera);
    const [hit] = this.raycaster.intersectObject<SkinnedInstancedMesh>(this.crowd, false);
    return hit ?? null;
  }
}
