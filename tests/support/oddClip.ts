import { AnimationClip, type KeyframeTrack, type Object3D, QuaternionKeyframeTrack } from 'three';
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
    return new QuaternionKeyframeTrack(`${joint}.quaternion`, times, values) as KeyframeTrack;
  });
  return { clip: new AnimationClip('Samba', duration, tracks), bytes };
}
