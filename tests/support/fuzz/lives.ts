import { Group, InstancedBufferAttribute } from 'three';
import { SkeletonUtils } from 'three-stdlib';
import type { SkinnedInstance } from '../../../lib/index.js';
import { BoneTexture, setBoneTexture } from '../library.js';
import type { Step } from './CrowdProgram.js';

/** What happens to crowds and their objects as programs go on: they change scenes, and what they were made of is replaced. */
export const LIVES: readonly Step[] = Object.values<Step>({
  throughOtherScene(p) {
    const { crowd, scene } = p;
    const other = new Group();
    other.position.set(3, 0, 1);
    other.add(crowd);
    // Those of its objects that stand elsewhere are not seen meanwhile.
    for (const one of [scene, other]) one.updateMatrixWorld();
    scene.add(crowd);
  },
  boneTextureOfData(p) {
    const { boneTexture } = p.crowd;
    if (boneTexture.constructor !== BoneTexture) return;
    const again = new BoneTexture(structuredClone(boneTexture.data), boneTexture);
    for (const { name, markers } of boneTexture.clips)
      for (const marker of markers) again.addMarker(name, marker.time, marker.name);
    p.boneTextures.push(again);
    setBoneTexture(p.crowd, again);
  },
  otherMatrices(p) {
    const { instanceMatrix } = p.crowd;
    p.crowd.instanceMatrix = new InstancedBufferAttribute(instanceMatrix.array.slice(), 16);
  },
  materialSwitched(p) {
    const switched = [p.crowd.material].flat().map((one) => {
      const own = one.clone();
      own.transparent = p.dice.chance(0.5);
      return own;
    });
    p.crowd.material = Array.isArray(p.crowd.material) ? switched : switched[0];
    for (const one of switched) {
      one.transparent = !one.transparent;
      one.needsUpdate = true;
    }
  },
  noColors: (p) => (p.crowd.instanceColor = null),
  cloneObject(p) {
    // One that the count leaves out is not cloned.
    const knights = (p.livingKnights as SkinnedInstance[]).filter(
      ({ instanceId }) => instanceId < p.crowd.count,
    );
    if (knights.length === 0 || knights.length > 5) return;
    const knight = p.dice.pick(knights);
    const copy = p.dice.chance(0.5)
      ? knight.clone()
      : (SkeletonUtils.clone(knight as never) as never as SkinnedInstance);
    // Proportions are cloned too.
    const built = [...(p.edits.get(knight.instanceId) ?? [])].filter(([key]) => key.startsWith('built'));
    p.edits.set(copy.instanceId, new Map(built));
    p.knights.push(copy);
  },
  disposeUnused(p) {
    // A crowd that shares everything with this one goes away.
    p.create(2, p.crowd.boneTexture).dispose();
    p.crowd.clone().dispose();
  },
});
