import type { BufferGeometry, GeometryGroup, Material } from 'three';
import { StorageBufferAttribute } from 'three/webgpu';

/** Numbers of a draw in the table: how many vertices, the first of them, the list that is drawn, and the id that ends it. */
export const TABLE_NUMBERS = 4;

/** Draws that there is room for at first, and how many may be in the table that are drawn no more. */
const ROOM = 32;

const _draw = /*@__PURE__*/ new Uint32Array(TABLE_NUMBERS);

/** The draws of a crowd's meshes: what the GPU, which knows how many instances are drawn, must be told of each. */
export class DrawTable {
  buffer: StorageBufferAttribute = createBuffer(ROOM);
  count = 0;
  /** Grows with each change. */
  version = 0;

  /** For each draw the frame in which it was last drawn; and how many were in this one. */
  private readonly frames: number[] = [];
  private frame = 0;
  private drawn = 0;

  /** Draws that there is room for. */
  get capacity(): number {
    return this.buffer.count / TABLE_NUMBERS;
  }

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
    _draw[2] = list;
    _draw[3] = end;
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

  dispose(): void {
    this.buffer.dispose();
  }

  private isAt(place: number): boolean {
    const { array } = this.buffer;
    for (let i = 0; i < TABLE_NUMBERS; i++) if (array[place * TABLE_NUMBERS + i] !== _draw[i]) return false;
    return true;
  }

  private add(): void {
    if (this.count === this.capacity) {
      const { buffer } = this;
      this.buffer = createBuffer(this.capacity * 2);
      this.buffer.array.set(buffer.array);
      buffer.dispose();
    }
    this.buffer.array.set(_draw, this.count * TABLE_NUMBERS);
    this.buffer.needsUpdate = true;
    this.version++;
    this.count++;
  }
}

const createBuffer = (draws: number) => new StorageBufferAttribute(new Uint32Array(draws * TABLE_NUMBERS), 1);

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
  _draw[1] = first;
}
