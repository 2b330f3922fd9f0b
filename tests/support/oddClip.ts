import { AnimationClip, type Object3D, QuaternionKeyframeTrack } from 'three';
import { random } from './random.js';

const FPS = 30;

/**
 * A clip as FBXLoader makes them: thirty keys a second, and further ones where Euler angles turn by half a turn or more from one to
 * the next; and how many bytes its keys take.
 */
export function createOddClip(root: Object3D, duration = 20): { clip: AnimationClip; bytes: number } {
  const next = random(3);
  const joints: string[] = [];
  root.traverse(({ name }) => {
    if (/Arm$|Leg$|^Spine$/.test(name)) joints.push(name);
  });
  let bytes = 0;
  const tracks = joints.map((joint, i) => {
    const times: number[] = [];
    const values: number[] = [];
    for (let frame = 0; frame <= duration * FPS; frame++) {
      const isLast = frame === duration * FPS;
      const parts = !isLast && i % 3 === 0 && next() < 0.03 ? 2 + Math.floor(next() * 4) : 1;
      for (let part = 0; part < parts; part++) {
        const time = (frame + part / parts) / FPS;
        const angle = 0.4 * Math.sin(time * (1 + i * 0.3)) + (part === 0 ? 0 : 0.5);
        times.push(time);
        values.push(Math.sin(angle / 2), 0, 0, Math.cos(angle / 2));
      }
    }
    bytes += values.length * 4;
    return new QuaternionKeyframeTrack(`${joint}.quaternion`, times, values);
  });
  return { clip: new AnimationClip('Samba', duration, tracks), bytes };
}

/** A clip of few keys, on frames but for some that lie a fifth of the way between two, as in "Run" of the Fox of Khronos; and its bytes. */
export function createSparseClip(root: Object3D): { clip: AnimationClip; bytes: number } {
  const { tracks } = createOddClip(root, 0.1).clip;
  const times = [0, 1, 2, 3, 4, 8.2, 9.2, 10.2].map((frame) => frame / 24);
  let bytes = 0;
  const sparse = tracks.map(({ name }, i) => {
    // Some have keys at the ends alone.
    const own = i % 3 === 0 ? [times[0], times[7]] : times;
    const values = own.flatMap((time) => {
      const angle = 1.2 * Math.sin(time * 9 + i);
      return [Math.sin(angle / 2), 0, 0, Math.cos(angle / 2)];
    });
    bytes += values.length * 4;
    return new QuaternionKeyframeTrack(name, own, values);
  });
  return { clip: new AnimationClip('Run', times[7], sparse), bytes };
}
