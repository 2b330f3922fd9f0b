import type { SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import { Matrix4, Quaternion, Vector3 } from 'three';

const UP = new Vector3(0, 1, 0);
const ONE = new Vector3(1, 1, 1);
/** Metres that a walking animal covers in a second. */
const SPEED = 1.1;

/** Animals that graze, look about, and walk on in wide arcs. */
export class Herd {
  private readonly places: {
    x: number;
    z: number;
    heading: number;
    turn: number;
    walks: boolean;
    until: number;
  }[] = [];
  private readonly position = new Vector3();
  private readonly rotation = new Quaternion();
  private readonly matrix = new Matrix4();
  private time = 0;

  /** @param random From 0 to 1. */
  constructor(
    private readonly crowd: SkinnedInstancedMesh,
    private readonly radius: number,
    private readonly random: () => number,
  ) {
    for (let i = 0; i < crowd.count; i++) {
      const angle = random() * 2 * Math.PI;
      const far = radius * Math.sqrt(random());
      this.places.push({
        x: far * Math.cos(angle),
        z: far * Math.sin(angle),
        heading: random() * 2 * Math.PI,
        turn: 0,
        walks: false,
        until: 0,
      });
      this.decide(i, 0);
      this.place(i);
    }
  }

  update(delta: number): void {
    this.time += delta;
    this.places.forEach((one, i) => {
      if (this.time > one.until) this.decide(i, 0.5);
      if (!one.walks) return;
      one.heading += one.turn * delta;
      one.x += Math.sin(one.heading) * SPEED * delta;
      one.z += Math.cos(one.heading) * SPEED * delta;
      this.place(i);
    });
    this.crowd.instanceMatrix.needsUpdate = true;
  }

  /** Lets an animal do something else. */
  private decide(index: number, fade: number): void {
    const { crowd, random, radius } = this;
    const one = this.places[index];
    one.walks = random() < 0.35;
    one.until = this.time + 4 + 8 * random();
    // Whoever has gone far turns back.
    const isFar = Math.hypot(one.x, one.z) > radius;
    const back = Math.atan2(-one.x, -one.z) - one.heading;
    one.turn = isFar ? Math.atan2(Math.sin(back), Math.cos(back)) / 6 : (random() - 0.5) * 0.4;
    const clip = one.walks ? 'Walk' : random() < 0.75 ? 'Graze' : 'Idle';
    crowd.play(index, clip, { fade, time: random() * 2 });
  }

  private place(index: number): void {
    const { x, z, heading } = this.places[index];
    this.position.set(x, 0, z);
    this.rotation.setFromAxisAngle(UP, heading);
    this.crowd.setMatrixAt(index, this.matrix.compose(this.position, this.rotation, ONE));
  }
}
