import type { JointSlot, ScenePart } from './collectParts.js';
import type { Steps } from './runBake.js';

/** Vertices that are looked at in a step. */
const PER_STEP = 2048;

/** Joints that vertices of a part follow, each once, by their numbers among those of the character. */
export function* usedJoints({ geometry, rigid, joints, mirrorJoints }: ScenePart): Steps<Set<number>> {
  const all = mirrorJoints === null ? [joints] : [joints, mirrorJoints];
  if (rigid) return new Set(all.map(([joint]) => joint));
  const { skinIndex, skinWeight, position } = geometry.attributes;
  const width = Math.min(4, skinIndex.itemSize, skinWeight.itemSize);
  const used = new Set<number>();
  for (let vertex = 0; vertex < position.count; vertex++) {
    if (vertex % PER_STEP === 0) yield 0;
    for (let i = 0; i < width; i++) {
      if (skinWeight.getComponent(vertex, i) <= 0) continue;
      for (const one of all) used.add(one[skinIndex.getComponent(vertex, i)]);
    }
  }
  return used;
}

/** Leaves those of the joints that vertices follow, in their order, and renumbers those of the parts. */
export function* dropUnusedJoints(slots: JointSlot[], parts: readonly ScenePart[]): Steps<void> {
  const used = new Set<number>();
  for (const part of parts) for (const slot of yield* usedJoints(part)) used.add(slot);
  const kept = [...slots.keys()].filter((slot) => used.has(slot));
  const numbers = new Map(kept.map((slot, number) => [slot, number]));
  // Where no vertex follows a joint, any other will do.
  const numberOf = (slot: number) => numbers.get(slot) ?? 0;
  for (const part of parts) {
    part.joints = part.joints.map(numberOf);
    part.mirrorJoints = part.mirrorJoints?.map(numberOf) ?? null;
  }
  slots.splice(0, slots.length, ...kept.map((slot) => slots[slot]));
}
