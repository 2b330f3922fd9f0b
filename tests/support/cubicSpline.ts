import type { KeyframeTrack } from 'three';
import { GLTFLoader } from 'three-stdlib';
import { glbOf } from './glb.js';

/**
 * Lets tracks be read as GLTFLoader lets those of glTF's CUBICSPLINE be: each key holds a tangent, a value and another
 * tangent. The loader keeps the way to do it to itself, so that it is taken from a track it has loaded.
 */
export async function cubicSpline(): Promise<(track: KeyframeTrack) => KeyframeTrack> {
  const bytes = new Uint8Array(Float32Array.of(0, 1, ...new Array(18).fill(0)).buffer);
  const document = {
    asset: { version: '2.0' },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [{ name: 'A' }],
    buffers: [{ byteLength: bytes.length }],
    bufferViews: [{ buffer: 0, byteLength: bytes.length }],
    accessors: [
      { bufferView: 0, componentType: 5126, count: 2, type: 'SCALAR', min: [0], max: [1] },
      { bufferView: 0, byteOffset: 8, componentType: 5126, count: 6, type: 'VEC3' },
    ],
    animations: [
      {
        samplers: [{ input: 0, output: 1, interpolation: 'CUBICSPLINE' }],
        channels: [{ sampler: 0, target: { node: 0, path: 'translation' } }],
      },
    ],
  };
  const gltf = await new GLTFLoader().parseAsync(glbOf(document, bytes), '');
  const { createInterpolant } = gltf.animations[0].tracks[0] as unknown as { createInterpolant: unknown };
  return (track) => Object.assign(track, { createInterpolant });
}
