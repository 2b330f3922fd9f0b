import type { BufferGeometry, Camera } from 'three';
import type { CrowdViews } from './CrowdViews.js';
import type { ListSplitter } from './ListSplitter.js';

/** What a camera sees of a crowd. */
export interface ViewInfo {
  /** Instances that are drawn for it. */
  visible: number;
  /** The same at each level of detail; one that passes over to the next is counted at both. */
  levels: number[];
  /** Triangles of these, with what is attached to them. */
  triangles: number;
  /** Instances that were posed in its frame, for all cameras together; left out where no pass poses them. */
  posed?: number;
}

/** A mesh that draws instances of a crowd. */
export interface DrawnMember {
  readonly geometry: BufferGeometry;
  readonly visible: boolean;
  /** The list that it draws, see `ListSplitter.listOf`. */
  readonly level: number | null;
}

/** How much a camera that has drawn a crowd lately saw then; null for one that has not. */
export function viewInfoOf(views: CrowdViews, camera: Camera): ViewInfo | null {
  const view = views.latest(camera);
  if (view === null) return null;
  const { splitter, posed } = views;
  const visible = view.of(null).count;
  const levels =
    splitter?.isUsed === true
      ? Array.from({ length: splitter.count }, (_, level) => view.of(level).count)
      : [visible];
  return { visible, levels, triangles: trianglesOf(views, levels), posed };
}

/** What is read to count triangles. */
interface CountedCrowd {
  readonly members: readonly DrawnMember[];
  readonly splitter: ListSplitter | null;
}

/** Triangles of so many instances at each level, with what is attached to them. */
export function trianglesOf(crowd: CountedCrowd, counts: readonly number[]): number {
  return counts.reduce((sum, count, level) => sum + count * trianglesAt(crowd, level), 0);
}

/** Triangles that all meshes of a crowd draw of an instance at a level of detail. */
export function trianglesAt({ members, splitter }: CountedCrowd, level: number): number {
  if (splitter?.isDrawn(level) === false) return 0;
  let count = 0;
  for (const { geometry, visible, level: list } of members) {
    if (!visible || !(splitter === null || splitter.isIn(list, level))) continue;
    const { index, attributes, drawRange } = geometry;
    const vertices = index?.count ?? attributes.position.count;
    count += Math.max(0, Math.floor(Math.min(drawRange.count, vertices - drawRange.start) / 3));
  }
  return count;
}
