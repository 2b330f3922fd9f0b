import { type BufferGeometry, Float32BufferAttribute, Uint16BufferAttribute } from 'three';
import { sharingCopy } from '../utils/sharingCopy.js';
import { warnOnce } from '../utils/warnOnce.js';

/** As GLTFLoader names the second four joints of a vertex and their weights. */
const JOINTS_1 = 'joints_1';
const WEIGHTS_1 = 'weights_1';

const reduced = /*@__PURE__*/ new WeakMap<BufferGeometry, BufferGeometry>();

/**
 * The geometry itself, or where vertices follow up to eight joints, one that shares all else with it and keeps the four
 * strongest. Says once what was lost.
 */
export function strongestInfluences(source: BufferGeometry, name: string): BufferGeometry {
  if (!source.hasAttribute(JOINTS_1) || !source.hasAttribute(WEIGHTS_1)) return source;
  const before = reduced.get(source);
  if (before !== undefined) return before;

  const joints = [source.getAttribute('skinIndex'), source.getAttribute(JOINTS_1)];
  const weights = [source.getAttribute('skinWeight'), source.getAttribute(WEIGHTS_1)];
  const { count } = source.getAttribute('position');
  const skinIndex = new Uint16Array(count * 4);
  const skinWeight = new Float32Array(count * 4);
  let lost = 0;

  for (let vertex = 0; vertex < count; vertex++) {
    const found: [joint: number, weight: number][] = [];
    const sums = weights.map((four) =>
      [0, 1, 2, 3].reduce((sum, i) => sum + four.getComponent(vertex, i), 0),
    );
    for (let set = 0; set < 2; set++) {
      // GLTFLoader has brought the first four to a sum of 1, and left the others as they were.
      const scale = set === 0 && sums[0] + sums[1] > 1.001 ? Math.max(0, 1 - sums[1]) / sums[0] : 1;
      for (let i = 0; i < 4; i++) {
        const weight = weights[set].getComponent(vertex, i) * scale;
        if (weight > 0) found.push([joints[set].getComponent(vertex, i), weight]);
      }
    }
    found.sort((a, b) => b[1] - a[1]);
    const total = found.reduce((sum, [, weight]) => sum + weight, 0);
    const kept = found.slice(0, 4).reduce((sum, [, weight]) => sum + weight, 0);
    lost = Math.max(lost, 1 - kept / total);
    found.slice(0, 4).forEach(([joint, weight], i) => {
      skinIndex[vertex * 4 + i] = joint;
      skinWeight[vertex * 4 + i] = weight / kept;
    });
  }
  warnOnce(
    `SkinnedInstancedMesh: vertices of "${name}" follow more than four joints; the four strongest are kept, which leaves out ${(lost * 100).toFixed(1)} % of a vertex's weight at most.`,
  );

  const geometry = sharingCopy(source);
  geometry.deleteAttribute(JOINTS_1);
  geometry.deleteAttribute(WEIGHTS_1);
  geometry.setAttribute('skinIndex', new Uint16BufferAttribute(skinIndex, 4));
  geometry.setAttribute('skinWeight', new Float32BufferAttribute(skinWeight, 4));
  reduced.set(source, geometry);
  return geometry;
}
