import { Mesh, MeshBasicMaterial, RingGeometry } from 'three';

/** A ring on the ground around the character that is chosen. */
export class Ring extends Mesh {
  constructor(color = 0xff7a1a) {
    super(
      new RingGeometry(0.42, 0.5, 48).rotateX(-Math.PI / 2).translate(0, 0.02, 0),
      new MeshBasicMaterial({ color }),
    );
  }
}
