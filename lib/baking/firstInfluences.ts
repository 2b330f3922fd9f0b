import type { BufferGeometry } from 'three';
import { sharingCopy } from '../utils/sharingCopy.js';

/** GLTFLoader's names for joints and weights beyond a vertex's first four: `joints_1`, `weights_1`, and so on. */
const FURTHER = /^(joints|weights)_\d+$/;

/**
 * The geometry itself; or if its vertices follow more than four joints, a geometry without the attributes beyond the first
 * four, which shares all others. three.js's `SkinnedMesh` does not read them, so a crowd looks the same without, and they
 * would only take memory and vertex buffers.
 */
export function firstInfluences(source: BufferGeometry): BufferGeometry {
  const further = Object.keys(source.attributes).filter((name) => FURTHER.test(name));
  if (further.length === 0) return source;
  const geometry = sharingCopy(source);
  for (const name of further) geometry.deleteAttribute(name);
  return geometry;
}
