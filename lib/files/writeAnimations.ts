import { type AnimationClip, InterpolateDiscrete, PropertyBinding } from 'three';
import type { GltfWriter, JSONObject } from './GltfWriter.js';

const PATHS: Record<string, string> = { position: 'translation', quaternion: 'rotation', scale: 'scale' };

/**
 * Adds clips that viewers play: crowds have their own.
 *
 * @param nodes Those that clips may move, by their names.
 * @param first Number of the first of them in the document.
 */
export function writeAnimations(
  writer: GltfWriter,
  clips: readonly AnimationClip[],
  nodes: readonly JSONObject[],
  first: number,
): void {
  const known = new Map<string, number>();
  const store = (values: ArrayLike<number>, size: number, use: 'times' | 'keys') => {
    const key = [size, ...Array.from(values)].join();
    const at = known.get(key) ?? writer.accessor(Float32Array.from(values), size, use);
    known.set(key, at);
    return at;
  };
  for (const { name, tracks } of clips) {
    const samplers: JSONObject[] = [];
    const channels = tracks.flatMap((track) => {
      const { nodeName, propertyName } = PropertyBinding.parseTrackName(track.name);
      const path = PATHS[propertyName];
      const node = nodes.findIndex((one, i) => i > 0 && one.name === nodeName && one.matrix === undefined);
      if (path === undefined || node < 0) return [];
      const input = store(track.times, 1, 'times');
      const output = store(track.values, path === 'rotation' ? 4 : 3, 'keys');
      const { createInterpolant } = track as { createInterpolant?: object };
      const isCubic = 'isInterpolantFactoryMethodGLTFCubicSpline' in (createInterpolant ?? {});
      const isStepped = track.getInterpolation() === InterpolateDiscrete;
      samplers.push({
        input,
        output,
        interpolation: isCubic ? 'CUBICSPLINE' : isStepped ? 'STEP' : 'LINEAR',
      });
      return { sampler: samplers.length - 1, target: { node: first + node, path } };
    });
    if (channels.length > 0) writer.add('animations', { name, samplers, channels });
  }
}
