import {
  type AnimationClip,
  Bone,
  BoxGeometry,
  type BufferGeometry,
  Color,
  Float32BufferAttribute,
  Group,
  type Material,
  type MeshStandardMaterial,
  Skeleton,
  SkinnedMesh,
  SphereGeometry,
  Uint16BufferAttribute,
} from 'three';
import { mergeBufferGeometries } from 'three-stdlib';

/** What a file of a character holds, as GLTFLoader gives it. */
export interface Model {
  scene: Group;
  animations: AnimationClip[];
}

/** The mesh of a model, as it is known to whoever made the file. */
export type Body = SkinnedMesh<BufferGeometry, MeshStandardMaterial>;

export type Triple = readonly [x: number, y: number, z: number];

/** A box, or the ellipsoid in it: its size, its middle in the space of its bone, its colour. */
export interface Shape {
  size: Triple;
  at?: Triple;
  color: number;
  round?: boolean;
}

/** A bone, where it is in its parent, and what it moves. Parents come first. */
export interface BonePlan {
  name: string;
  parent?: string;
  at: Triple;
  shapes?: readonly Shape[];
}

/** Corners around an ellipsoid, and from pole to pole. */
const AROUND = 9;
const ALONG = 6;

/** The bones of a plan in their rest pose, the first one above all others. */
export function createBones(plan: readonly BonePlan[]): Bone[] {
  const bones = new Map<string, Bone>();
  for (const { name, parent, at } of plan) {
    const bone = new Bone();
    bone.name = name;
    bone.position.set(...at);
    if (parent !== undefined) bones.get(parent)?.add(bone);
    bones.set(name, bone);
  }
  return [...bones.values()];
}

/** A figure of boxes and ellipsoids, each of which follows one bone: one skinned mesh with vertex colours. */
export function createFigure(name: string, plan: readonly BonePlan[], material: Material): Group {
  const bones = createBones(plan);
  const scene = new Group();
  scene.name = name;
  scene.add(bones[0]);
  scene.updateMatrixWorld(true);

  const pieces = plan.flatMap(({ shapes = [] }, i) =>
    shapes.map((shape) => createPiece(shape, i).applyMatrix4(bones[i].matrixWorld)),
  );
  const geometry = mergeBufferGeometries(pieces);
  if (geometry === null) throw new Error(`The pieces of ${name} do not fit together.`);
  const mesh = new SkinnedMesh(geometry, material);
  mesh.name = 'Body';
  mesh.castShadow = true;
  mesh.receiveShadow = true;
  scene.add(mesh);
  mesh.bind(new Skeleton(bones));
  return scene;
}

/** A shape in the space of its bone. */
export function createPiece({ size, at = [0, 0, 0], color, round }: Shape, bone: number): BufferGeometry {
  const geometry = round ? new SphereGeometry(0.5, AROUND, ALONG) : new BoxGeometry();
  geometry.scale(...size).translate(...at);
  const { count } = geometry.getAttribute('position');
  const { r, g, b } = new Color(color);
  const repeat = (values: number[]) => Array.from({ length: count }, () => values).flat();
  geometry.setAttribute('color', new Float32BufferAttribute(repeat([r, g, b]), 3));
  geometry.setAttribute('skinIndex', new Uint16BufferAttribute(repeat([bone, 0, 0, 0]), 4));
  geometry.setAttribute('skinWeight', new Float32BufferAttribute(repeat([1, 0, 0, 0]), 4));
  return geometry;
}
