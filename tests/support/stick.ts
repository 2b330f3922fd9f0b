import {
  AnimationClip,
  Bone,
  BufferGeometry,
  Float32BufferAttribute,
  Group,
  Matrix4,
  MeshBasicMaterial,
  NumberKeyframeTrack,
  Skeleton,
  SkinnedMesh,
  Uint16BufferAttribute,
  VectorKeyframeTrack,
} from 'three';
import { type BakeOptions, bakeCharacter, getSkinningMatrix, SkinnedInstancedMesh } from './library.js';

/** Where the stick's tip bone rests; no clip ever goes there. */
export const REST_X = -5;

const _matrix = new Matrix4();

/** Where the tip of an instance is: the time of its clip in seconds, or REST_X. */
export function tipOf(crowd: SkinnedInstancedMesh, index: number): number {
  return getSkinningMatrix(crowd, index, 'Tip', _matrix).elements[12] + REST_X;
}

export interface Stick {
  root: Group;
  mesh: SkinnedMesh;
  bones: Bone[];
  clips: AnimationClip[];
}

/**
 * The smallest character: two bones and one triangle. Its clips move the tip along x with the time, so that a position
 * tells the time a clip is at.
 */
export function createStick(durations: Record<string, number> = { Slide: 1 }): Stick {
  const root = new Group();
  root.name = 'Stick';
  const bones = [new Bone(), new Bone()];
  bones[0].name = 'Base';
  bones[1].name = 'Tip';
  bones[0].add(bones[1]);
  bones[1].position.set(REST_X, 0, 0);
  root.add(bones[0]);

  const geometry = new BufferGeometry();
  geometry.name = 'stick';
  geometry.setAttribute('position', new Float32BufferAttribute([0, 0, 0, 1, 0, 0, 0, 1, 0], 3));
  geometry.setAttribute('normal', new Float32BufferAttribute([0, 0, 1, 0, 0, 1, 0, 0, 1], 3));
  geometry.setAttribute('uv', new Float32BufferAttribute([0, 0, 1, 0, 0, 1], 2));
  geometry.setAttribute('skinIndex', new Uint16BufferAttribute([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], 4));
  geometry.setAttribute('skinWeight', new Float32BufferAttribute([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], 4));

  const mesh = new SkinnedMesh(geometry, new MeshBasicMaterial());
  mesh.name = 'StickMesh';
  root.add(mesh);
  root.updateMatrixWorld(true);
  mesh.bind(new Skeleton(bones));

  const clips = Object.entries(durations).map(
    ([name, duration]) =>
      new AnimationClip(name, duration, [
        new VectorKeyframeTrack('Tip.position', [0, duration], [0, 0, 0, duration, 0, 0]),
      ]),
  );
  return { root, mesh, bones, clips };
}

/** A crowd of sticks. */
export function createStickCrowd(
  count: number,
  durations?: Record<string, number>,
  options?: BakeOptions,
): SkinnedInstancedMesh {
  const { root, clips } = createStick(durations);
  return new SkinnedInstancedMesh(bakeCharacter(root, clips, options), count);
}

/** The stick with a morph target beside it, "Long", which its clips stretch too. */
export function createMorphingStick(): Stick {
  const stick = createStick();
  const { geometry } = stick.mesh;
  const target = new Float32BufferAttribute([0, 0, 0, 0, 0, 0, 0, 2, 0], 3);
  target.name = 'Long';
  geometry.morphAttributes.position = [target];
  geometry.morphTargetsRelative = true;
  stick.mesh.updateMorphTargets();
  for (const { tracks } of stick.clips) {
    tracks.push(new NumberKeyframeTrack('StickMesh.morphTargetInfluences[Long]', [0, 1], [0, 1]));
  }
  return stick;
}
