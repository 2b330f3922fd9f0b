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
import { type BoneTexture, LoopOnceOptions, SkinnedInstancedMesh } from './library.js';
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
  read(
    crowd: SkinnedInstancedMesh,
    vertices: number,
    instances: number,
  ): Float32Array | Promise<Float32Array>;
}

/** The capture of WebGLRenderer. */
export function webGLCapture(renderer: WebGLRenderer): Capture {
  return {
    material: (vertices) => captureMaterial(vertices),
    read: (crowd, vertices, instances) => capture(renderer, crowd, vertices, instances),
  };
}

/** Poses every clip at both ends and between, and compares every vertex with three.js's. */
export async function measureVertices(
  how: Capture,
  root: Object3D,
  clips: AnimationClip[],
  boneTexture: BoneTexture,
  place?: Matrix4,
): Promise<Map<string, VertexErrors>> {
  const height = characterHeight(root);
  const matrix =
    place ??
    new Matrix4().compose(
      new Vector3(0.3 * height, 0.1 * height, -0.2 * height),
      new Quaternion().setFromEuler(new Euler(0.1, 2, -0.2)),
      new Vector3(1, 1, 1),
    );
  const instances = TIMES_PER_CLIP * 2;
  const crowd = SkinnedInstancedMesh.from(root, clips, instances, { boneTexture });
  const vertices = crowd.geometry.getAttribute('position').count;
  crowd.geometry = captureGeometry(crowd.geometry);
  crowd.material = how.material(vertices);
  for (let i = 0; i < instances; i++) crowd.setMatrixAt(i, matrix);
  const reference = new Reference(root, matrix);
  const twin = new Vector3();

  const errors = new Map<string, VertexErrors>();
  for (const clip of clips) {
    const baked = boneTexture.clips[boneTexture.clipIndex(clip.name)];
    const intervals = baked.count - 1;
    const times = Array.from({ length: instances }, (_, i) => {
      if (intervals === 0) return 0;
      const step = i >> 1;
      // both ends are among them; odd ones lie between frames
      const frame = Math.round((step / (TIMES_PER_CLIP - 1)) * intervals);
      const offset = i & 1 ? (0.2 + 0.6 * (step / TIMES_PER_CLIP)) * (frame === intervals ? -1 : 1) : 0;
      return ((frame + offset) / intervals) * clip.duration;
    });
    times.forEach((time, i) => crowd.play(i, clip.name, { ...LoopOnceOptions, time }));
    crowd.update(0);

    const drawn = await how.read(crowd, vertices, instances);
    const worst: VertexErrors = { onFrames: 0, between: 0, twin: 0 };
    times.forEach((time, i) => {
      reference.pose(clip, time);
      const kind = i & 1 ? 'between' : 'onFrames';
      reference.forEachVertex((vertex, { x, y, z }) => {
        const at = (i * vertices + vertex) * 3;
        const distance = Math.hypot(drawn[at] - x, drawn[at + 1] - y, drawn[at + 2] - z) / height;
        if (!(distance <= worst[kind])) worst[kind] = distance;
        if (vertex % 23 === 0) {
          crowd.getVertexPositionAt(i, vertex, twin);
          const off = Math.hypot(drawn[at] - twin.x, drawn[at + 1] - twin.y, drawn[at + 2] - twin.z) / height;
          if (!(off <= worst.twin)) worst.twin = off;
        }
      });
    });
    errors.set(clip.name, worst);
  }
  crowd.dispose();
  return errors;
}
