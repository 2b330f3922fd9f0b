import type { AnyRenderer, Created } from '../../lib/createRenderer.js';
import { find } from '../../lib/page.js';
import type { CreateProgram, Program } from './Program.js';

/** Seconds that a step of the simulation takes. */
export const STEP = 1 / 60;

/** One of the two versions of a program: what it shows, and what that takes. */
export class Side {
  /** Draw calls of the last frame, those of shadows, poses and the ground too. */
  draws = 0;
  /** Milliseconds of JavaScript in the last frame. */
  js = 0;
  program: Program;
  readonly canvas: HTMLCanvasElement;
  private readonly context: CanvasRenderingContext2D;
  private readonly renderer: AnyRenderer;

  constructor(
    name: 'plain' | 'ported',
    private readonly device: Created,
    private readonly create: CreateProgram,
    count: number,
  ) {
    this.renderer = device.renderer;
    this.canvas = find(`[data-view=${name}]`);
    this.context = this.canvas.getContext('2d', { willReadFrequently: true }) as CanvasRenderingContext2D;
    this.program = create(count);
  }

  restart(count: number): void {
    this.program = this.create(count);
  }

  /** Lets so many steps pass, and draws what is then. */
  frame(steps: number): void {
    const { renderer, program, canvas, device } = this;
    program.camera.aspect = canvas.width / canvas.height;
    program.camera.updateProjectionMatrix();
    device.calls.reset();
    const start = performance.now();
    this.pass(steps - 1);
    if (steps > 0) program.update(STEP);
    renderer.render(program.scene, program.camera);
    this.js = performance.now() - start;
    this.draws = device.calls.draws;
    this.context.drawImage(renderer.domElement, 0, 0);
  }

  /** Lets so many steps pass unseen. */
  pass(steps: number): void {
    const { program } = this;
    for (let i = 0; i < steps; i++) {
      program.update(STEP);
      // as drawing does: programs ask where things are
      program.scene.updateMatrixWorld();
    }
  }

  picture(): ImageData {
    return this.context.getImageData(0, 0, this.canvas.width, this.canvas.height);
  }
}
