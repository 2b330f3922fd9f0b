import { type AnimationClip, Euler, Matrix4, type Object3D, Quaternion, Vector3, WebGLRenderer } from 'three';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCharacter } from '../../demos/character.js';
import { BoneTexture, LoopOnceOptions, SkinnedInstancedMesh } from '../support/library.js';
import { capture, captureGeometry, captureMaterial } from '../support/capture.js';
import { loadModel, modelNames } from '../support/models.js';
import { characterHeight, Reference } from '../support/reference.js';

const TIMES_PER_CLIP = 8;
/** Share of the character's height by which a vertex may be off on a baked frame. */
const BOUND = { float: 1e-5, half: 1e-3 };

let renderer: WebGLRenderer;
beforeAll(() => {
  renderer = new WebGLRenderer();
});
afterAll(() => renderer.dispose());

interface Errors {
  onFrames: number;
  between: number;
  twin: number;
}

/** Worst distances between the crowd's vertices on the GPU, three.js's, and the CPU twin's; shares of the height. */
function measure(
  root: Object3D,
  clips: AnimationClip[],
  boneTexture: BoneTexture,
): Map<string, Errors> {
  const height = characterHeight(root);
  const matrix = new Matrix4().compose(
    new Vector3(0.3 * height, 0.1 * height, -0.2 * height),
    new Quaternion().setFromEuler(new Euler(0.1, 2, -0.2)),
    new Vector3(1, 1, 1),
  );
  const instances = TIMES_PER_CLIP * 2;
  const crowd = SkinnedInstancedMesh.from(root, clips, instances, { boneTexture });
  const vertices = crowd.geometry.getAttribute('position').count;
  crowd.geometry = captureGeometry(crowd.geometry);
  crowd.material = captureMaterial(vertices);
  for (let i = 0; i < instances; i++) crowd.setMatrixAt(i, matrix);
  const reference = new Reference(root, matrix);
  const twin = new Vector3();

  const errors = new Map<string, Errors>();
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

    const drawn = capture(renderer, crowd, vertices, instances);
    const worst: Errors = { onFrames: 0, between: 0, twin: 0 };
    times.forEach((time, i) => {
      reference.pose(clip, time);
      const kind = i & 1 ? 'between' : 'onFrames';
      reference.forEachVertex((vertex, { x, y, z }) => {
        const at = (i * vertices + vertex) * 3;
        const distance = Math.hypot(drawn[at] - x, drawn[at + 1] - y, drawn[at + 2] - z) / height;
        if (!(distance <= worst[kind])) worst[kind] = distance;
        if (vertex % 23 === 0) {
          crowd.getVertexPositionAt(i, vertex * 3, twin);
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

function report(name: string, boneTexture: BoneTexture, errors: Map<string, Errors>): Errors {
  const worst: Errors = { onFrames: 0, between: 0, twin: 0 };
  let worstClip = '';
  for (const [clip, one] of errors) {
    if (one.between > worst.between) worstClip = clip;
    for (const key of ['onFrames', 'between', 'twin'] as const) worst[key] = Math.max(worst[key], one[key]);
  }
  const { encoding, precision, layout } = boneTexture;
  console.log(
    `${name} ${encoding} ${precision} ${layout.width}x${layout.height}: on frames ${worst.onFrames.toExponential(1)}, ` +
      `between ${worst.between.toExponential(1)} (${worstClip}), twin ${worst.twin.toExponential(1)} of the height`,
  );
  return worst;
}

const models = await modelNames();
const encodings = [
  { encoding: 'matrix', precision: 'float' },
  { encoding: 'auto', precision: 'float' },
  { encoding: 'matrix', precision: 'half' },
  { encoding: 'auto', precision: 'half' },
] as const;

describe.each(['built-in', ...models])('%s', (name) => {
  test.each(encodings)('vertices are where three.js puts them, $encoding $precision', async (options) => {
    const { root, clips } = name === 'built-in' ? createCharacter() : await loadModel(name);
    const boneTexture = BoneTexture.bake(root, clips, options);
    const worst = report(name, boneTexture, measure(root, clips, boneTexture));
    expect(worst.onFrames).toBeLessThanOrEqual(BOUND[options.precision]);
    expect(worst.twin).toBeLessThanOrEqual(1e-5);
  }, 240_000);
});
