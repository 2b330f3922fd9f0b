import {
  type AnimationClip,
  Euler,
  type Material,
  Matrix4,
  type Object3D,
  Quaternion,
  Vector3,
  type WebGLRenderer,
} from 'three';
import { capture, captureGeometry, captureMaterial } from './capture.js';
import { disposeLater } from './disposeLater.js';
import {
  assembleCharacter,
  type BoneTexture,
  type CrowdMesh,
  getVertexPosition,
  LoopOnceOptions,
  SkinnedInstancedMesh,
} from './library.js';
import { characterHeight, Reference } from './reference.js';

/** How many times a clip is looked at on baked frames, and again between them. */
const TIMES_PER_CLIP = 8;

/** Worst distances, as shares of the character's height. */
export interface VertexErrors {
  /** Crowd on the GPU against three.js, on baked frames. */
  onFrames: number;
  /** The same between baked frames. */
  between: number;
  /** Crowd on the GPU against its CPU twin. */
  twin: number;
}

/** How a renderer draws a crowd so that its vertices can be read back. */
export interface Capture {
  material(vertices: number): Material;
  read(crowd: CrowdMesh, vertices: number, instances: number): Float32Array | Promise<Float32Array>;
}

/** The capture of WebGLRenderer. */
export function webGLCapture(renderer: WebGLRenderer): Capture {
  return {
    material: (vertices) => captureMaterial(vertices),
    read: (crowd, vertices, instances) => capture(renderer, crowd, vertices, instances),
  };
}

/**
 * Poses every clip at both ends and between, and compares every vertex with three.js's, for several bakings of a character at one rate:
 * three.js's answer is slow to get.
 */
export async function measureTextures(
  how: Capture,
  root: Object3D,
  clips: AnimationClip[],
  boneTextures: readonly BoneTexture[],
): Promise<Map<string, VertexErrors>[]> {
  const height = characterHeight(root);
  const matrix = new Matrix4().compose(
    new Vector3(0.3 * height, 0.1 * height, -0.2 * height),
    new Quaternion().setFromEuler(new Euler(0.1, 2, -0.2)),
    new Vector3(1, 1, 1),
  );
  const instances = TIMES_PER_CLIP * 2;
  const crowds = boneTextures.map((boneTexture) => {
    const crowd = new SkinnedInstancedMesh(assembleCharacter(root, boneTexture), instances);
    for (let i = 0; i < instances; i++) crowd.setMatrixAt(i, matrix);
    return crowd;
  });
  const vertices = crowds[0].geometry.getAttribute('position').count;
  for (const crowd of crowds) {
    crowd.geometry = captureGeometry(crowd.geometry);
    crowd.material = how.material(vertices);
  }
  const reference = new Reference(root, matrix);
  const expected = new Float64Array(vertices * 3);
  const twin = new Vector3();

  const errors = boneTextures.map(() => new Map<string, VertexErrors>());
  for (const clip of clips) {
    const [{ count }, ...others] = boneTextures.map((texture) => texture.clips[texture.clipIndex(clip.name)]);
    if (others.some((other) => other.count !== count))
      throw new Error('measureTextures: all must have the same frames');
    const intervals = count - 1;
    const times = Array.from({ length: instances }, (_, i) => {
      if (intervals === 0) return 0;
      const step = i >> 1;
      // both ends are among them; odd ones lie between frames
      const frame = Math.round((step / (TIMES_PER_CLIP - 1)) * intervals);
      const offset = i & 1 ? (0.2 + 0.6 * (step / TIMES_PER_CLIP)) * (frame === intervals ? -1 : 1) : 0;
      return ((frame + offset) / intervals) * clip.duration;
    });
    const drawn: Float32Array[] = [];
    for (const crowd of crowds) {
      times.forEach((time, i) => crowd.play(i, clip.name, { ...LoopOnceOptions, time }));
      crowd.update(0);
      drawn.push(await how.read(crowd, vertices, instances));
    }

    const worst = crowds.map(() => ({ onFrames: 0, between: 0, twin: 0 }));
    times.forEach((time, i) => {
      reference.pose(clip, time).forEachVertex((vertex, position) => position.toArray(expected, vertex * 3));
      const kind = i & 1 ? 'between' : 'onFrames';
      crowds.forEach((crowd, k) => {
        const pixels = drawn[k].subarray(i * vertices * 3, (i + 1) * vertices * 3);
        let most = 0;
        for (let at = 0; at < vertices * 3; at += 3) {
          const x = pixels[at] - expected[at];
          const y = pixels[at + 1] - expected[at + 1];
          const z = pixels[at + 2] - expected[at + 2];
          const squared = x * x + y * y + z * z;
          if (!(squared <= most)) most = squared;
        }
        const distance = Math.sqrt(most) / height;
        if (!(distance <= worst[k][kind])) worst[k][kind] = distance;
        for (let vertex = 0; vertex < vertices; vertex += 23) {
          getVertexPosition(crowd, i, vertex, twin);
          const off = twin.distanceTo(_drawn.fromArray(pixels, vertex * 3)) / height;
          if (!(off <= worst[k].twin)) worst[k].twin = off;
        }
      });
    });
    worst.forEach((one, k) => errors[k].set(clip.name, one));
  }
  for (const crowd of crowds) disposeLater(crowd);
  return errors;
}

const _drawn = new Vector3();

/** The worst of all clips, and the clip that is worst between frames. */
export function worstOf(errors: Map<string, VertexErrors>): VertexErrors & { clip: string } {
  const worst = { onFrames: 0, between: 0, twin: 0, clip: '' };
  for (const [clip, one] of errors) {
    if (one.between > worst.between) worst.clip = clip;
    for (const key of ['onFrames', 'between', 'twin'] as const) {
      // not with Math.max alone: NaN is worse than any number
      if (!(one[key] <= worst[key])) worst[key] = one[key];
    }
  }
  return worst;
}
