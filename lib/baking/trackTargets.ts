import { PropertyBinding } from 'three';
import type { Rig } from '../poses/Rig.js';

type ParsedName = ReturnType<typeof PropertyBinding.parseTrackName>;

/** What a track name means for one rig. */
export interface TrackTarget {
  /** Index among the rig's nodes, -1 if there is none. */
  node: number;
  property: string;
  /** What the track's name has in brackets after the property. */
  component: string | undefined;
}

/** Remembers what track names mean for one rig: the clips of a character use the same few names again and again. */
export class TrackTargets {
  private readonly rig: Rig;
  private readonly known = new Map<string, TrackTarget>();

  constructor(rig: Rig) {
    this.rig = rig;
  }

  /**
   * Finds the node and property of a track as `PropertyBinding` does.
   *
   * @throws If three.js cannot read the name.
   */
  find(name: string): TrackTarget {
    let target = this.known.get(name);
    if (target === undefined) {
      const parsed = PropertyBinding.parseTrackName(name);
      const { propertyName: property, propertyIndex: component } = parsed;
      target = { node: findNode(this.rig, parsed), property, component };
      this.known.set(name, target);
    }
    return target;
  }
}

const known = /*@__PURE__*/ new WeakMap<Rig, TrackTargets>();

/** What track names mean for a rig, which those who read its clips one after another find out but once. */
export function trackTargetsOf(rig: Rig): TrackTargets {
  let targets = known.get(rig);
  if (targets === undefined) {
    targets = new TrackTargets(rig);
    known.set(rig, targets);
  }
  return targets;
}

/** The node that a track name means; -1 if there is none. */
function findNode(rig: Rig, { nodeName, objectName, objectIndex }: ParsedName): number {
  if (objectName === undefined) return findByName(rig, nodeName);
  if (objectName !== 'bones') return -1;
  // `.bones[Hips].position`, as exporters of the old JSON format wrote it
  const bones = rig.bones.get(findByName(rig, nodeName));
  return bones?.find((bone) => rig.names[bone] === objectIndex) ?? bones?.[Number(objectIndex)] ?? -1;
}

/** As `PropertyBinding.findNode` does: the root if there is no name, then a skeleton's bones, then all nodes in order. */
function findByName({ names, uuids, bones }: Rig, name: string | undefined): number {
  if (!name || name === '.' || name === names[0] || name === uuids[0]) return 0;
  const bone = bones.get(0)?.find((node) => names[node] === name);
  return bone ?? names.findIndex((other, node) => other === name || uuids[node] === name);
}

/**
 * The morph targets of the rig that a track moves; null for other tracks, and for those of meshes that are not drawn or have no such
 * targets.
 */
export function morphsOf(
  { parts, morphRest }: Rig,
  { node, property, component }: TrackTarget,
): { first: number; size: number } | null {
  const part =
    property === 'morphTargetInfluences' ? parts.find((candidate) => candidate.node === node) : undefined;
  if (part === undefined || part.morphOffset < 0) return null;
  const { morphOffset, morphCount, morphIndices } = part;
  const index = component === undefined ? 0 : (morphIndices[component] ?? Number(component));
  const size = component === undefined ? morphCount : 1;
  const first = morphOffset + index;
  return index >= 0 && index + size <= morphCount && first + size <= morphRest.length
    ? { first, size }
    : null;
}
