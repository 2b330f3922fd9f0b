import { type AnimationClip, Group, MeshStandardMaterial, Skeleton, SkinnedMesh } from 'three';
import { createClips } from './character/clips.js';
import { createBodyGeometry, DEFAULT_PALETTE, type Palette } from './character/geometry.js';
import { createBones } from './character/skeleton.js';

export interface CharacterOptions {
  /** Hex colours (sRGB) that replace those of the default outfit, such as `{ shirt: 0x2f6fde }`. */
  colors?: Partial<Palette>;
  /** Whether Walk and Run cover ground, as clips with root motion do; else they are on the spot. */
  travel?: boolean;
  /** Share of the corners and cross-sections that are built, for levels of detail; 1 by default. */
  detail?: number;
}

export interface Character {
  /** Named 'Character'; holds the joint 'Hips' with all others below it and, beside it, the SkinnedMesh 'Body'. */
  root: Group;
  /** Idle, Walk, Run, Wave, Dance and Jump. All of them loop; Jump is meant to be played once. */
  clips: AnimationClip[];
}

/**
 * A friendly jointed figure built in code: 21 joints, one skinned mesh with vertex colours, six clips. It is 1.8 units
 * tall, stands on y = 0, faces +z and is laid out as GLTFLoader lays out a file. Two calls give equal figures.
 */
export function createCharacter(options: CharacterOptions = {}): Character {
  const bones = createBones();
  const geometry = createBodyGeometry({ ...DEFAULT_PALETTE, ...options.colors }, options.detail);
  const material = new MeshStandardMaterial({ name: 'Body', vertexColors: true, roughness: 0.75 });

  const mesh = new SkinnedMesh(geometry, material);
  mesh.name = 'Body';
  mesh.castShadow = true;
  mesh.receiveShadow = true;

  const root = new Group();
  root.name = 'Character';
  root.add(bones[0], mesh);
  root.updateMatrixWorld(true);
  mesh.bind(new Skeleton(bones));

  return { root, clips: createClips(options.travel === true) };
}
