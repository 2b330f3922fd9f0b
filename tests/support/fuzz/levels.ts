import { createLevel } from 'skinned-instanced-mesh';
import type { BufferAttribute, BufferGeometry } from 'three';
import { createCharacter } from '../../../demos/character.js';
import { trianglesAt } from '../../../lib/culling/ViewInfo.js';
import { orderOf } from '../features.js';
import { addLevel, levelsOf } from '../levels.js';
import type { SkinnedInstancedMesh } from '../library.js';
import type { CrowdProgram, Step } from './CrowdProgram.js';

/** A level of detail, and all that it takes to add it again. */
export interface AddedLevel {
  /** World units, or a share of the picture's height. */
  start: number;
  readonly bySize: boolean;
  hysteresis: number;
  poseRate: number;
  readonly attachments: boolean;
  readonly castShadow: boolean;
  readonly influences: 1 | 4;
  /** Whether nothing is drawn there. */
  readonly nothing: boolean;
}

const HYSTERESES = [0, 0, 0.2];
export const POSE_RATES: readonly number[] = [0, 4, 15];

const coarse = createCharacter({ detail: 0.15 }).root;
/** For crowds that can have no others: half of their own triangles. */
const half = (crowd: SkinnedInstancedMesh): BufferGeometry => {
  const geometry = crowd.geometry.clone();
  const index = geometry.index as BufferAttribute;
  geometry.setIndex(Array.from(index.array).slice(0, Math.floor(index.count / 6) * 3)).clearGroups();
  return geometry;
};

export function addLevelTo(crowd: SkinnedInstancedMesh, level: AddedLevel, hasJoints: boolean): void {
  const { start, bySize, hysteresis, nothing, poseRate, attachments, castShadow, influences } = level;
  const from = bySize ? { screenShare: start } : start;
  const options = { poseRate, attachments, castShadow, influences };
  if (nothing) addLevel(crowd, null, from, hysteresis, options);
  else addLevel(crowd, hasJoints ? createLevel(crowd, coarse) : half(crowd), from, hysteresis, options);
}

/** Whether levels begin so near to each other that in float32 nothing may be left of the first. */
const isNear = (start: number, other: number): boolean => Math.abs(start - other) < 1e-3 * start;

/** A level that was added, and its place among those of the crowd; null if there is none, as in a crowd that is disposed. */
function pickLevel(p: CrowdProgram): { level: AddedLevel; place: number } | null {
  if (p.levels.length === 0) return null;
  const level = p.dice.pick(p.levels);
  const place = levelsOf(p.crowd).levels.findIndex(
    (one, i) => i > 0 && (one.screenShare ?? one.distance) === level.start,
  );
  return place < 0 ? null : { level, place };
}

/** Levels of detail, and how they follow each other. */
export const LEVELS: readonly Step[] = Object.values<Step>({
  addsLevel(p) {
    const { dice, levels } = p;
    if (levels.length > 2) return;
    const bySize = levels.length > 0 ? levels[0].bySize : dice.chance(0.3);
    const nothing = dice.chance(0.2);
    // Who stands right before the camera is drawn.
    const size = (1 + dice.below(nothing ? 3 : 9)) / 10;
    const distance = nothing ? 8 + dice.below(7) : 3 + dice.below(12);
    const start = bySize ? size : distance;
    if (levels.some((level) => isNear(level.start, start))) return;
    const level: AddedLevel = {
      start,
      bySize,
      nothing,
      hysteresis: dice.pick(HYSTERESES),
      poseRate: dice.pick(POSE_RATES),
      attachments: dice.chance(0.8),
      castShadow: dice.chance(0.8),
      influences: dice.pick([1, 4] as const),
    };
    addLevelTo(p.crowd, level, p.hasJoints);
    levels.push(level);
  },
  removeLevel(p) {
    if (p.dice.chance(0.5)) return;
    const level = p.levels.pop();
    if (level) levelsOf(p.crowd).remove(level.start);
  },
  moveLevel(p) {
    const picked = pickLevel(p);
    if (picked === null) return;
    const { level, place } = picked;
    const { bySize, start } = level;
    const behind = levelsOf(p.crowd).levels[place + 1];
    const next = bySize ? (behind?.screenShare ?? start / 2) : (behind?.distance ?? start + 1);
    if (isNear(start, next)) return;
    // Half way to where the next one begins.
    level.start = (start + next) / 2;
    Object.assign(levelsOf(p.crowd).levels[place], { [bySize ? 'screenShare' : 'distance']: level.start });
  },
  changeLevel(p) {
    const picked = pickLevel(p);
    if (picked === null) return;
    const { level, place } = picked;
    level.hysteresis = p.dice.pick(HYSTERESES);
    level.poseRate = p.dice.pick(POSE_RATES);
    const { hysteresis, poseRate } = level;
    Object.assign(levelsOf(p.crowd).levels[place], { hysteresis, poseRate });
  },
  nearPoseRate(p) {
    p.nearPoseRate = p.dice.pick(POSE_RATES);
    levelsOf(p.crowd).levels[0].poseRate = p.nearPoseRate;
  },
  levelFade: (p) => (levelsOf(p.crowd).dissolve = p.dice.pick([0, 0, 0.1, 0.5, 1])),
  shadowLevel: (p) => (levelsOf(p.crowd).shadowLevel = p.dice.below(3)),
  triangles(p) {
    const budget = (2 + p.dice.below(4)) * trianglesAt(p.crowd.views, 0);
    orderOf(p.crowd).maxTriangles = p.dice.pick([Infinity, budget]);
  },
});
