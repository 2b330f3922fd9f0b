import type { Bone, Object3D } from 'three';
import { SkeletonUtils } from 'three-stdlib';

/** A skeleton that code moves: it hangs on strings, and dangles. */
export class Puppet {
  readonly root: Object3D;
  private readonly rest = new Map<Object3D, { x: number; y: number; z: number }>();

  /** @param shift Seconds by which it is ahead of others. */
  constructor(
    character: Object3D,
    private readonly shift: number,
  ) {
    this.root = SkeletonUtils.clone(character);
    this.root.traverse((node) => {
      if ((node as Bone).isBone) this.rest.set(node, node.rotation.clone());
    });
  }

  move(seconds: number): void {
    const time = seconds + this.shift;
    const sway = (speed: number, shift: number) => Math.sin(time * speed + shift);
    this.bone('Hips').position.y = 1.15 + 0.12 * sway(3.1, 0);
    this.turn('Hips', 0.2 * sway(1.3, 0.5), 0.8 * sway(0.7, 0), 0.15 * sway(1.7, 1));
    this.turn('Spine', 0.25 + 0.2 * sway(2.3, 1), 0, 0.2 * sway(1.9, 2));
    this.turn('Head', 0.4 + 0.3 * sway(2.7, 2), 0, 0.3 * sway(2.1, 0));
    for (const [side, sign] of [
      ['Left', 1],
      ['Right', -1],
    ] as const) {
      const half = sign > 0 ? 0 : Math.PI;
      this.turn(`${side}UpperArm`, 0, 0.3 * sway(2.9, half), sign * (0.9 + 0.5 * sway(3.1, half)));
      this.turn(`${side}LowerArm`, 0, -sign * (0.9 + 0.6 * sway(4.3, half)), 0);
      this.turn(`${side}UpperLeg`, -0.4 + 0.5 * sway(3.7, half), 0, sign * 0.15);
      this.turn(`${side}LowerLeg`, 0.7 + 0.5 * sway(4.1, half + 1), 0, 0);
      this.turn(`${side}Foot`, 0.6, 0, 0);
    }
  }

  /** Turns a bone away from how it rests. */
  private turn(name: string, x: number, y: number, z: number): void {
    const bone = this.bone(name);
    const rest = this.rest.get(bone) as { x: number; y: number; z: number };
    bone.rotation.set(rest.x + x, rest.y + y, rest.z + z);
  }

  private bone(name: string): Object3D {
    const bone = this.root.getObjectByName(name);
    if (bone === undefined) throw new Error(`The character has no bone "${name}".`);
    return bone;
  }
}
