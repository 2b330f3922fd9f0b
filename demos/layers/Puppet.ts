import {
  type Bone,
  BoxGeometry,
  CylinderGeometry,
  Group,
  InstancedMesh,
  Matrix4,
  MeshStandardMaterial,
  type Object3D,
  Quaternion,
  Vector3,
} from 'three';
import { SkeletonUtils } from 'three-stdlib';

/** What hangs on strings, and how far to the side and to the front each is tied to the wood above. */
const STRINGS: readonly [joint: string, x: number, z: number][] = [
  ['Head', 0, 0],
  ['LeftHand', 0.42, 0],
  ['RightHand', -0.42, 0],
  ['LeftLowerLeg', 0.2, 0.35],
  ['RightLowerLeg', -0.2, 0.35],
];
/** Height of the wood. */
const WOOD = 3.1;
const UP = new Vector3(0, 1, 0);

const _place = new Vector3();
const _end = new Vector3();
const _turn = new Quaternion();
const _size = new Vector3();
const _matrix = new Matrix4();

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

/** Strings of puppets, each with the two pieces of wood that they are tied to. */
export class Strings extends Group {
  private readonly wood: InstancedMesh;
  private readonly strings: InstancedMesh;

  constructor(count: number) {
    super();
    const cord = new CylinderGeometry(0.006, 0.006, 1, 4, 1, true).translate(0, 0.5, 0);
    this.strings = new InstancedMesh(cord, new MeshStandardMaterial({ color: 0x2a2019 }), 5 * count);
    const timber = new MeshStandardMaterial({ color: 0xa9713c, roughness: 0.8 });
    this.wood = new InstancedMesh(new BoxGeometry(1, 0.035, 0.06), timber, 2 * count);
    this.wood.castShadow = true;
    this.strings.frustumCulled = this.wood.frustumCulled = false;
    this.add(this.strings, this.wood);
  }

  /**
   * Ties one on.
   *
   * @param place Where the puppet stands.
   */
  tie(index: number, { root }: Puppet, place: Matrix4): void {
    root.updateMatrixWorld(true);
    STRINGS.forEach(([joint, x, z], i) => {
      _place.setFromMatrixPosition(root.getObjectByName(joint)!.matrixWorld).applyMatrix4(place);
      _end.set(x, WOOD, z).applyMatrix4(place).sub(_place);
      _turn.setFromUnitVectors(UP, _size.copy(_end).normalize());
      this.strings.setMatrixAt(5 * index + i, _matrix.compose(_place, _turn, _size.set(1, _end.length(), 1)));
    });
    this.wood.setMatrixAt(2 * index, _matrix.makeTranslation(0, WOOD, 0).premultiply(place));
    _matrix
      .makeRotationY(Math.PI / 2)
      .setPosition(0, WOOD, 0.1)
      .premultiply(place);
    this.wood.setMatrixAt(2 * index + 1, _matrix);
    this.strings.instanceMatrix.needsUpdate = this.wood.instanceMatrix.needsUpdate = true;
  }

  /** How many puppets hang. */
  set count(value: number) {
    this.strings.count = 5 * value;
    this.wood.count = 2 * value;
  }
}
