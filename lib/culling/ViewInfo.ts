import { type BufferGeometry, type Camera, DoubleSide } from 'three';
import type { CameraView, CrowdViews } from './CrowdViews.js';
import { type KindSplitter, kindIn, type ListNumber, levelsIn } from './LODSelector.js';

/** What a camera sees of a crowd. */
export interface ViewInfo {
  /** Instances that are drawn for it. */
  visible: number;
  /** The same at each level of detail; one that passes over to the next is counted at both. */
  levels: number[];
  /** Triangles of these, with what is attached to them. */
  triangles: number;
  /** Draw calls that take these: one for each material of each mesh that shows anybody. */
  drawCalls: number;
  /** Instances that were posed in its frame, for all cameras together; left out where no pass poses them. */
  posed?: number;
}

/** How much a camera that has drawn a crowd lately saw then; null for one that has not. */
export function viewInfoOf(views: CrowdViews, camera: Camera): ViewInfo | null {
  let view: CameraView | null = null;
  for (const one of views.views)
    if (one.camera === camera && one.byLayers && (view === null || one.turn > view.turn)) view = one;
  if (view === null) return null;
  const { splitter, posed } = views;
  const { visible, split } = view;
  const levels =
    splitter?.isUsed === true ? [...(split?.atLevel.subarray(0, splitter.count) ?? [])] : [visible];
  return { visible, levels, ...drawsOf(views, (list) => view.of(list).count), posed };
}

/** What all meshes of a crowd draw, each of which shows so many instances of its list. */
export function drawsOf(
  { crowd: { members } }: CrowdViews,
  countOf: (list: ListNumber) => number,
): Pick<ViewInfo, 'triangles' | 'drawCalls'> {
  let [triangles, drawCalls] = [0, 0];
  for (const { geometry, material, visible, list } of members) {
    const count = visible && list !== 0 ? countOf(list) : 0;
    if (count === 0) continue;
    triangles += count * trianglesIn(geometry);
    const drawn = Array.isArray(material)
      ? geometry.groups.map(({ materialIndex = 0 }) => material[materialIndex])
      : [material];
    for (const one of drawn) {
      if (!one?.visible) continue;
      // three.js draws what such a one has behind before what it has in front.
      const isTwice = one.transparent && one.side === DoubleSide && !one.forceSinglePass;
      drawCalls += isTwice ? 2 : 1;
    }
  }
  return { triangles, drawCalls };
}

/** Triangles that all meshes of a crowd draw of an instance at a level of detail; of several kinds, on average. */
export function trianglesAt({ crowd: { members }, splitter, kinds }: CrowdViews, level: number): number {
  if (splitter?.hasContent(level) === false) return 0;
  let count = 0;
  for (const { geometry, visible, list } of members) {
    const kind = kindIn(list);
    if (visible && ((levelsIn(list) >> level) & 1) > 0)
      count += trianglesIn(geometry) * (kind < 0 ? 1 : (kinds as KindSplitter).shareOf(kind));
  }
  return count;
}

function trianglesIn({ index, attributes, drawRange }: BufferGeometry): number {
  const vertices = index?.count ?? attributes.position.count;
  return Math.max(0, Math.floor(Math.min(drawRange.count, vertices - drawRange.start) / 3));
}
