import type { BufferAttribute, InterleavedBufferAttribute, Texture } from 'three';
import { fract, int, uint, uniform } from 'three/tsl';
import { type Node, type NodeBuilder, StorageBufferAttribute } from 'three/webgpu';
import type { ViewNodes } from '../../../../shaders/instanceIndex.tsl.js';
import { texels } from '../../../../shaders/TexelNode.js';
import {
  buildOf,
  componentsOf,
  type DrawFrame,
  mat4Of,
  type StoredUints,
  uintsIn,
  type Vectors,
  vectorsIn,
} from '../../../../shaders/tsl.js';
import { FADE_CODES, ID_BITS, ID_MASK, LIST_TEXELS, LIST_TEXELS_BITS } from '../../../constants.js';
import { InstanceTexture } from '../../../instances/InstanceTexture.js';
import type { DrawnCrowd } from '../../DrawnCrowd.js';
import { isInstanced, warnNotCulled } from '../../ownInstanced.js';
import { gpuViewsOf, listOf } from './GPUViews.js';
import { DRAW_NUMBERS } from './ViewBuffers.js';
import { viewAtDraw } from './viewAtDraw.js';

/** The list that a build reads its instances from: another one in each draw. */
export interface DrawnList extends ViewNodes {
  /** Has the draw that comes next show what its camera sees. Call it right before, see `OnObjectUpdate`. */
  show(crowd: DrawnCrowd, frame: DrawFrame): void;
  /** Has it show all instances, in their order. */
  showAll(crowd: DrawnCrowd, frame: DrawFrame): void;
  /** The matrix of an instance, where shaders need no copy of it. Builds on the current stack. */
  matrix?(instance: Node<'int'>): Node<'mat4'>;
}

/** Reads the list of a view, which the CPU has made. */
export class TexelList implements DrawnList {
  private readonly isListed = uniform(0, 'int');
  private readonly list = texels(emptyList());

  get listed(): Node<'bool'> {
    return this.isListed.notEqual(0);
  }

  id(drawn: Node<'int'>): Node<'int'> {
    return int(this.entry(drawn));
  }

  fade(drawn: Node<'int'>): Node<'int'> {
    return int(fract(this.entry(drawn)).mul(FADE_CODES));
  }

  private entry(drawn: Node<'int'>): Node<'float'> {
    const texel = drawn.shiftRight(2).toVar();
    const x = texel.bitAnd(LIST_TEXELS - 1);
    const [four] = this.list.rowTexels(x, texel.shiftRight(LIST_TEXELS_BITS).toVar(), 1);
    return componentsOf(four.toVar()).element(drawn.bitAnd(3));
  }

  show(crowd: DrawnCrowd, frame: DrawFrame): void {
    const view = viewAtDraw(crowd, frame);
    this.showAll(crowd);
    if (view === null || view.isWhole === true) return;
    this.isListed.value = 1;
    const { list, count } = view;
    list.texture.prepare(frame.renderer as object, always);
    this.list.value = list.texture.layered;
    // An attachment may be told to show fewer instances than there are. Lists are in ascending order then.
    crowd.skeleton.drawnCount = list.countBelow(crowd.count, count);
  }

  showAll({ skeleton }: DrawnCrowd): void {
    this.isListed.value = 0;
    skeleton.drawnCount = null;
  }
}

let empty: InstanceTexture | null = null;

/** Stands in the place of a list before there is one. */
function emptyList(): Texture {
  empty ??= new InstanceTexture(1, 4);
  return empty.layered;
}

/** WebGPURenderer neither loses textures nor says which it has. */
const always = (): boolean => true;

/** By build: whether nodes of the user read instanced attributes. Known once the shaders are built. */
const known = /*@__PURE__*/ new WeakMap<NodeBuilder, boolean>();

/**
 * Whether nodes of the user read instanced attributes, as `instancedBufferAttribute` makes them: GPUs read those by the drawn
 * index, whatever instance is drawn there. Ask for it when a build is drawn.
 */
export function readsDrawnIndex(builder: NodeBuilder, crowd: DrawnCrowd): boolean {
  let reads = known.get(builder);
  if (reads === undefined) {
    reads = false;
    for (const { name, node } of buildOf(builder).getAttributesArray()) {
      if (!node?.attribute) continue;
      const attribute = node.getObjectAttribute(crowd) as BufferAttribute | InterleavedBufferAttribute | null;
      if (attribute === null || attribute === crowd.instanceMatrix || attribute === crowd.instanceColor)
        continue;
      if (!isInstanced(attribute)) continue;
      warnNotCulled(name);
      reads = true;
    }
    known.set(builder, reads);
  }
  return reads;
}

let noIds: StorageBufferAttribute | null = null;

/** Stands in the place of a list before there is one. */
function emptyIds(): StorageBufferAttribute {
  noIds ??= new StorageBufferAttribute(new Uint32Array(1), 1);
  return noIds;
}

let identity: StorageBufferAttribute | null = null;

/** The same for matrices. */
function emptyMatrix(): StorageBufferAttribute {
  identity ??= new StorageBufferAttribute(new Float32Array(16), 4);
  return identity;
}

/** Reads the list of a camera, which the GPU has made. */
export class StorageList implements DrawnList {
  private readonly isListed = uniform(0, 'int');
  private readonly first = uniform(0, 'int');
  private readonly ids: StoredUints = uintsIn(emptyIds()).toReadOnly();
  private readonly matrices: Vectors = vectorsIn(emptyMatrix());

  /** @param fades Whether entries of the list say which pixels are drawn, too. */
  constructor(private readonly fades: boolean) {}

  get listed(): Node<'bool'> {
    return this.isListed.notEqual(0);
  }

  id(drawn: Node<'int'>): Node<'int'> {
    const entry = this.ids.element(this.first.add(drawn));
    return int(this.fades ? entry.bitAnd(uint(ID_MASK)) : entry);
  }

  fade(drawn: Node<'int'>): Node<'int'> {
    return int(this.ids.element(this.first.add(drawn)).shiftRight(uint(ID_BITS)));
  }

  matrix(instance: Node<'int'>): Node<'mat4'> {
    const first = instance.mul(4).toVar();
    return mat4Of([0, 1, 2, 3].map((i) => this.matrices.element(first.add(i)).toVar())).toVar();
  }

  show(crowd: DrawnCrowd, frame: DrawFrame): void {
    const { renderer, camera } = frame;
    const slot = renderer === null || camera === null ? null : gpuViewsOf(renderer, crowd).slotOf(camera);
    const place = slot?.places.get(crowd);
    this.showAll(crowd, frame);
    if (slot !== null && place !== undefined) {
      this.isListed.value = 1;
      this.ids.value = slot.buffers.ids;
      this.first.value = listOf(crowd) * slot.buffers.capacity;
      crowd.geometry.setIndirect(slot.buffers.draws, place * DRAW_NUMBERS * 4);
    }
  }

  showAll(crowd: DrawnCrowd, { renderer }: DrawFrame): void {
    if (renderer !== null) this.matrices.value = gpuViewsOf(renderer, crowd).matrices;
    this.isListed.value = 0;
    this.ids.value = emptyIds();
    crowd.geometry.indirect = null;
  }
}
