import type { BoneTexture, SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import { getSocketMatrix } from 'skinned-instanced-mesh';
import { type AnimationClip, DataUtils, Matrix4, type Object3D, Vector3 } from 'three';
import { Reference } from '../lib/Reference.js';

export interface BakeError {
  clip: string;
  /** Largest distance of a joint from where an AnimationMixer has it, as a share of the height. */
  onFrames: number;
  between: number;
}

/** Looks at so many frames of each clip, and as often between them. */
const SAMPLES = 8;

const _matrix = new Matrix4();
const _expected = new Vector3();
const _baked = new Vector3();

/** How far baked joints are from those of an AnimationMixer, clip by clip, the worst first. */
export function bakeErrors(
  root: Object3D,
  clips: readonly AnimationClip[],
  crowd: SkinnedInstancedMesh,
  height: number,
): BakeError[] {
  const reference = new Reference(root, new Matrix4());
  const { boneTexture } = crowd;
  const joints = [...new Set(boneTexture.jointNames)]
    .map((name) => ({ name, bone: reference.root.getObjectByName(name) }))
    .filter(({ bone }) => bone !== undefined);

  const worstAt = (clip: AnimationClip, index: number, time: number) => {
    reference.pose(clip, time);
    crowd.play(0, index, { timeScale: 0, time });
    let worst = 0;
    for (const { name, bone } of joints) {
      _expected.setFromMatrixPosition((bone as Object3D).matrixWorld);
      _baked.setFromMatrixPosition(getSocketMatrix(crowd, 0, name, _matrix));
      worst = Math.max(worst, _expected.distanceTo(_baked) / height);
    }
    return worst;
  };

  return clips
    .map((clip, index) => {
      const { count, duration, name } = boneTexture.clips[index];
      const error = { clip: name, onFrames: 0, between: 0 };
      for (let i = 0; i < SAMPLES && count > 1; i++) {
        const frame = Math.floor((i / SAMPLES) * (count - 1));
        const timeOf = (share: number) => ((frame + share) / (count - 1)) * duration;
        error.onFrames = Math.max(error.onFrames, worstAt(clip, index, timeOf(0)));
        error.between = Math.max(error.between, worstAt(clip, index, timeOf(0.5)));
      }
      return error;
    })
    .sort((a, b) => b.between - a.between);
}

/** Draws the texels of a clip: red, green and blue are the first three numbers of each, from least to most. */
export function drawTexels(canvas: HTMLCanvasElement, boneTexture: BoneTexture, clip: number): void {
  const { start, count } = boneTexture.clips[clip];
  const joints = boneTexture.jointNames.length;
  const { texels, layout, precision } = boneTexture.data;
  const read = (at: number) => (precision === 'half' ? DataUtils.fromHalfFloat(texels[at]) : texels[at]);
  canvas.width = joints * 3;
  canvas.height = count;
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  const image = context.createImageData(canvas.width, count);
  for (let frame = 0; frame < count; frame++) {
    // a frame is a run of texels, three for each joint: the rows of its matrix
    const row = (start + frame) % layout.height;
    const first = row * layout.width + Math.floor((start + frame) / layout.height) * layout.stride;
    for (let i = 0; i < joints * 3; i++) {
      const at = (frame * canvas.width + i) * 4;
      for (let k = 0; k < 3; k++) image.data[at + k] = 128 + 120 * Math.tanh(read((first + i) * 4 + k));
      // where the joint carries things, as brightness
      image.data[at + 3] = 150 + 105 * Math.tanh(Math.abs(read((first + i) * 4 + 3)));
    }
  }
  context.putImageData(image, 0, 0);
}
