import type { BufferGeometry, GeometryGroup, Material } from 'three';
import { IndirectStorageBufferAttribute } from 'three/webgpu';

/**
 * Numbers of a draw in the table. An indirect draw takes five: how many vertices, how many instances, which the GPU alone knows, the
 * first vertex, and two that are zero here. Behind them are the list that is drawn, and the id that ends it.
 */
export const DRAW_NUMBERS = 7;
export const DRAW_INSTANCES = 1;
export const DRAW_LIST = 5;
export const DRAW_END = 6;

/** Draws that there is room for at first, and how many may be in the table that are drawn no more. */
const ROOM = 32;

const _draw = /*@__PURE__*/ new Uint32Array(DRAW_NUMBERS);

/** The draws of a crowd's meshes for a camera. */
export class DrawTable {
  buffer: IndirectStorageBufferAttribute = createBuffer(ROOM);
  count = 0;
  /** Grows with each change. */
  version = 0;

  /** For each draw the frame in which it was last drawn; and how many were in this one. */
  private readonly frames: number[] = [];
  private frame = 0;
  private drawn = 0;

  /** @param retired Takes what draws of this frame may still read. */
  constructor(private readonly retired: { dispose(): void }[]) {}

  /**
   * The place of a draw in the table.
   *
   * @param list Which list of the view is drawn.
   * @param end Instances of which the ids are less are drawn.
   */
  place(
    geometry: BufferGeometry,
    material: Material,
    group: Pick<GeometryGroup, 'start' | 'count'> | null,
    list: number,
    end: number,
  ): number {
    setRange(geometry, (material as { wireframe?: boolean }).wireframe === true, group);
    _draw[DRAW_LIST] = list;
    _draw[DRAW_END] = end;
    let place = 0;
    while (place < this.count && !this.isAt(place)) place++;
    if (place === this.count) this.add();
    if (this.frames[place] !== this.frame) {
      this.frames[place] = this.frame;
      this.drawn++;
    }
    return place;
  }

  /** Begins anew if there are many that are drawn no more. Call it before the first draw of a frame. */
  beginFrame(): void {
    if (this.count > this.drawn + ROOM) this.count = 0;
    this.frame++;
    this.drawn = 0;
  }

  private isAt(place: number): boolean {
    const { array } = this.buffer;
    for (let i = 0; i < DRAW_NUMBERS; i++) if (array[place * DRAW_NUMBERS + i] !== _draw[i]) return false;
    return true;
  }

  private add(): void {
    const { buffer, count } = this;
    if (count * DRAW_NUMBERS === buffer.count) {
      this.buffer = createBuffer(count * 2);
      this.buffer.array.set(buffer.array);
      this.retired.push(buffer);
    }
    this.buffer.array.set(_draw, count * DRAW_NUMBERS);
    this.buffer.needsUpdate = true;
    this.version++;
    this.count++;
  }
}

const createBuffer = (draws: number) =>
  new IndirectStorageBufferAttribute(new Uint32Array(draws * DRAW_NUMBERS), 1);

/** Vertices as three.js counts them for a draw that is not indirect, see `RenderObject.getDrawParameters`. */
function setRange(
  { index, attributes, drawRange }: BufferGeometry,
  wireframe: boolean,
  group: Pick<GeometryGroup, 'start' | 'count'> | null,
) {
  let items = index?.count ?? attributes.position.count;
  let factor = 1;
  if (wireframe) {
    // three.js makes an index of the edges of all triangles.
    const corners = index?.array.length ?? attributes.position.array.length / 3 - 1;
    items = Math.ceil(corners / 3) * 6;
    factor = 2;
  }
  let first = drawRange.start * factor;
  let last = (drawRange.start + drawRange.count) * factor;
  if (group !== null) {
    first = Math.max(first, group.start * factor);
    last = Math.min(last, (group.start + group.count) * factor);
  }
  first = Math.max(first, 0);
  _draw[0] = Math.max(0, Math.min(last, items) - first);
  _draw[2] = first;
}
