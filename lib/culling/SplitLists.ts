import { FADE_NEAR, FADING, ID_BITS, ID_MASK, MAX_LEVELS } from '../constants.js';
import { entryOf, InstanceList, type View } from './InstanceList.js';
import {
  type KindSplitter,
  kindIn,
  type ListNumber,
  type LODSelector,
  levelsIn,
  POSED,
  type ViewLevels,
} from './LODSelector.js';

/** Entries as they are found, and the bucket of each; then the entries bucket by bucket. Of all views, one after another. */
let _found = /*@__PURE__*/ new Uint32Array(0);
let _buckets = /*@__PURE__*/ new Uint16Array(0);
let _entries = /*@__PURE__*/ new Uint32Array(0);

/** What a mesh draws. */
interface Range extends View {
  list: InstanceList;
  start: number;
  count: number;
  isFading: boolean;
  /** The list of what does not lie in one range. */
  own: InstanceList | null;
  /** That of `split`. */
  version: number;
}

/**
 * The instances that a camera sees, sorted into buckets: by kind, and those of a kind by level of detail. All buckets lie in one list,
 * which renderers are sent at once, and meshes draw ranges of it. An instance that passes over to the next level is in both buckets,
 * each of which draws the pixels that the other leaves out.
 */
export class SplitLists {
  /** Whether only some pixels may be drawn of some entries. */
  isFading = false;
  /** Instances of which anything is drawn. */
  visible = 0;
  /** How many instances are at each level; one that passes over is at both. */
  readonly atLevel: Uint32Array = new Uint32Array(MAX_LEVELS);
  /** Where in the list each bucket begins, and where the last ends. While buckets are counted, they are two behind. */
  private starts = new Uint32Array(3);
  private levels = 1;
  /** See `ViewLevels`; null where there is one level. */
  private shown: Uint8Array | null = null;
  private length = 0;
  /** Goes up with each `split`. */
  private version = 0;
  private readonly ranges = new Map<number, Range>();

  /**
   * @param capacity The most instances there can be.
   * @param table The levels, and what a camera sees of them; null for one.
   * @param kinds Null if all are of one kind.
   */
  constructor(
    private readonly capacity: number,
    private readonly table: LODSelector | null,
    readonly byLevel: ViewLevels | null,
    private readonly kinds: KindSplitter | null,
  ) {}

  /** Goes up when the lists are others, though the camera sees the same; -1 while there is one list for all. */
  get splitVersion(): number {
    return (this.byLevel?.version ?? -1) + (this.kinds?.version ?? -1) + 1;
  }

  /** What `split` has left, as `InstanceList.assignFading` takes it if `isFading` is true, else ids. */
  get entries(): Uint32Array {
    return _entries;
  }

  /**
   * Sorts out who is drawn by which mesh.
   *
   * @param ids The first `count` are seen.
   * @param spheres x, y, z and radius by id, in the crowd's space.
   * @param seen Bit `id & 31` of word `id >> 5` is cleared for those that need not be posed.
   * @returns How many `entries` there are. Those of a bucket are in the order of their ids.
   */
  split(ids: Uint32Array, count: number, spheres: Float32Array, seen: Int32Array): number {
    const { kinds } = this;
    const byLevel = this.byLevel?.isUsed ? this.byLevel : null;
    const table = this.table as LODSelector;
    this.levels = byLevel === null ? 1 : table.count;
    const buckets = this.levels * (kinds?.meshes.length ?? 1);
    if (this.starts.length !== buckets + 2) this.starts = new Uint32Array(buckets + 2);
    this.starts.fill(0);
    if (_found.length < 2 * count) {
      _found = new Uint32Array(4 * count);
      _buckets = new Uint16Array(_found.length);
      _entries = new Uint32Array(_found.length);
    }
    this.atLevel.fill(0);
    this.isFading = false;
    this.visible = 0;
    this.length = 0;
    this.version++;
    byLevel?.begin();
    this.shown = byLevel?.shown ?? null;
    for (let i = 0; i < count; i++) {
      const id = ids[i];
      const kind = kinds?.kinds[id] ?? 0;
      const level = byLevel?.levelOf(id, spheres) ?? 0;
      let isShown: number;
      if (level < FADING) isShown = this.add(kind, level, id);
      else {
        const step = (byLevel as ViewLevels).stepOf(id);
        isShown =
          this.add(kind, level - FADING, entryOf(id, step + FADE_NEAR)) |
          this.add(kind, table.nextTo(level - FADING), entryOf(id, step));
        this.isFading = true;
      }
      if (isShown > 0) this.visible++;
      if (isShown < POSED) seen[id >> 5] &= ~(1 << (id & 31));
    }
    const { starts, length } = this;
    for (let i = 2; i < starts.length; i++) starts[i] += starts[i - 1];
    // Each number of starts ends where the next bucket begins.
    for (let i = 0; i < length; i++) _entries[starts[_buckets[i] + 1]++] = _found[i];
    return length;
  }

  /**
   * What the mesh of a list draws; nothing for one that is none any more.
   *
   * @param whole The list that has all `entries`.
   * @param isRising Whether the ids have to be in ascending order.
   */
  of(list: ListNumber, whole: InstanceList, isRising: boolean): View {
    const { starts, levels, isFading, version, ranges } = this;
    const key = isRising ? -list : list;
    const range = ranges.get(key) ?? ({ own: null } as Range);
    if (range.version === version) return range;
    ranges.set(key, range);
    const shown = levelsIn(list) & ((1 << levels) - 1);
    const kinds = (starts.length - 2) / levels;
    const kind = kindIn(list);
    Object.assign(range, { list: whole, start: 0, count: 0, isFading, version });
    if (shown === 0 || kind >= kinds) return range;
    // There are no entries at levels that lie between them, since nothing is drawn there.
    const from = 31 - Math.clz32(shown & -shown);
    const to = 31 - Math.clz32(shown);
    const first = Math.max(kind, 0);
    const last = kind < 0 ? kinds - 1 : kind;
    // Buckets that lie apart, or whose ids do not go on rising, or in two of which an instance is.
    if ((from < to && (isRising || isFading)) || (first < last && (isRising || to - from < levels - 1)))
      this.gather(range, first, last, from, to);
    else {
      range.start = starts[first * levels + from];
      range.count = starts[last * levels + to + 1] - range.start;
    }
    return range;
  }

  dispose(): void {
    for (const { own } of this.ranges.values()) own?.dispose();
    this.ranges.clear();
  }

  /** Adds an entry at a level; says what is needed of it. */
  private add(kind: number, level: number, entry: number): number {
    const { shown, levels } = this;
    this.atLevel[level]++;
    const isShown = shown?.[level] ?? POSED;
    if (isShown === 0) return 0;
    const bucket = kind * levels + level;
    _found[this.length] = entry;
    _buckets[this.length++] = bucket;
    this.starts[bucket + 2]++;
    // What is drawn without poses at a level is the crowd's own kind.
    return kind > 0 ? POSED : isShown;
  }

  /** Gives some levels of some kinds a list of their own, in the order of the ids. */
  private gather(range: Range, first: number, last: number, from: number, to: number): void {
    const { starts, levels } = this;
    const { list: whole, isFading } = range;
    const own = range.own ?? new InstanceList(this.capacity);
    const source = isFading ? whole.entries : whole.data;
    let count = 0;
    for (let kind = first; kind <= last; kind++) {
      const end = starts[kind * levels + to + 1];
      // For a while ids come before what is drawn of them, so that numbers are in the order of ids.
      for (let i = starts[kind * levels + from]; i < end; i++, count++) {
        const entry = source[i];
        _found[count] = (entry << (32 - ID_BITS)) | (entry >>> ID_BITS);
      }
    }
    _found.subarray(0, count).sort();
    let length = 0;
    for (let i = 0; i < count; i++) {
      const entry = (_found[i] >>> (32 - ID_BITS)) | (_found[i] << ID_BITS);
      // At both levels between which it passes over, an instance is drawn once, and whole.
      if (length > 0 && ((entry ^ _found[length - 1]) & ID_MASK) === 0) _found[length - 1] = entry & ID_MASK;
      else _found[length++] = entry;
    }
    if (isFading) own.assignFading(_found, length);
    else own.assign(_found, length);
    Object.assign(range, { own, list: own, count: length });
  }
}
