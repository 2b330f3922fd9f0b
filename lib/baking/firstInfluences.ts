import type { BufferGeometry } from 'three';
import { sharingCopy } from '../utils/sharingCopy.js';

/** As GLTFLoader names what a vertex has beyond its first four joints: `joints_1` and `weights_1`, and so on. */
const FURTHER = /^(joints|weights)_\d+$/;

/**
 * The geometry itself, or where vertices follow more than four joints, one that shares all else with it and leaves out
 * what is beyond the first four. three.js's `SkinnedMesh` reads no more than `skinIndex` and `skinWeight`, so a crowd
 * deforms as it does, and the further attributes would only take memory and room among the vertex buffers.
 */
export function firstInfluences(source: BufferGeometry): BufferGeometry {
  const further = Object.keys(source.attributes).filter((name) => FURTHER.test(name));
  if (further.length === 0) return source;
  const geometry = sharingCopy(source);
  for (const name of further) geometry.deleteAttribute(name);
  return geometry;
}
