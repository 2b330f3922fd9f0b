import { Mesh, MeshBasicMaterial, RingGeometry, Vector3 } from 'three';
import { scenery } from './createRenderer.js';
import type { Stage } from './Stage.js';

/** How fast the camera goes to the character that is chosen: in a second all but e to the power of minus this. */
const HASTE = 6;

const _step = new Vector3();

/** A ring on the ground around the character that is chosen, which the camera goes to and stays with. */
export class Ring extends Mesh {
  private index = -1;
  /** What lies between where the camera looks and the character. */
  private readonly left = new Vector3();

  constructor(
    private readonly stage: Stage,
    color = 0xff7a1a,
  ) {
    super(
      new RingGeometry(0.42, 0.5, 48).rotateX(-Math.PI / 2).translate(0, 0.02, 0),
      new MeshBasicMaterial({ color }),
    );
    scenery.add(this);
  }

  /** Call once a frame with the character that is chosen, where it stands, and the seconds since the last frame. */
  follow(index: number, place: Vector3, delta: number): void {
    const { stage, left } = this;
    const { target } = stage.controls;
    // Goes to another; with the same one it only keeps step, wherever else the user has turned to.
    if (index === this.index) this.move(_step.subVectors(place, this.position));
    else left.subVectors(place, target).setY(0);
    this.index = index;
    this.position.copy(place);

    this.move(_step.copy(left).multiplyScalar(1 - Math.exp(-HASTE * delta)));
    left.sub(_step);
  }

  private move(step: Vector3): void {
    this.stage.camera.position.add(step);
    this.stage.controls.target.add(step);
  }
}
