import {
  Fn,
  float,
  If,
  instanceIndex,
  int,
  invocationLocalIndex,
  ivec2,
  max,
  select,
  uniform,
  workgroupBarrier,
} from 'three/tsl';
import { type ComputeNode, type DepthTexture, type Node, StorageBufferAttribute } from 'three/webgpu';
import { TexelNode } from '../../../shaders/TexelNode.js';
import { storageOf, workgroupValues } from '../../../shaders/tsl.js';

/** Pixels of a side of the smallest squares, as a power of two. */
export const FINEST = 2;
/** How many sizes of squares there are, each with sides twice as long as the one before. */
export const LEVELS = 5;
/** Squares of the smallest size in a side of a block, for which one workgroup makes squares of all sizes. */
const SIDE = 1 << (LEVELS - 1);
const WORKGROUP = SIDE * SIDE;
/** Pixels of a side of a block. */
const BLOCK = SIDE << FINEST;
/** Where squares of each size begin, in multiples of blocks, and behind the last: what is left of a geometric series. */
const startOf = (level: number): number => ((WORKGROUP - (WORKGROUP >> (2 * level))) * 4) / 3;

/** Nearer than anything: what is outside of the picture hides nothing less than its neighbours do. */
const NEAREST = -2;

/**
 * For squares of 4, 8, 16, 32 and 64 pixels of a depth texture, how far away the farthest pixel is. Greater numbers are farther away,
 * also where the renderer has it the other way round.
 */
export class DepthPyramid {
  private readonly stored = storageOf(new StorageBufferAttribute(new Float32Array(1), 1), 'float');
  private readonly squares = storageOf(this.stored.value, 'float').toReadOnly();
  private readonly texture: TexelNode;
  private readonly columns = uniform(1, 'int');
  private readonly blocks = uniform(1, 'int');
  private readonly width = uniform(1, 'int');
  private readonly height = uniform(1, 'int');
  private readonly step: ComputeNode;

  /** @param sign -1 if greater depth is nearer. */
  constructor(depth: DepthTexture, sign: number) {
    this.texture = new TexelNode(depth);
    this.step = Fn(() => this.build(sign))().computeKernel([WORKGROUP]);
  }

  /** What to compute once a depth texture has been rendered. */
  prepare(width: number, height: number): ComputeNode {
    const columns = Math.ceil(width / BLOCK);
    const blocks = columns * Math.ceil(height / BLOCK);
    const numbers = blocks * startOf(LEVELS);
    if (this.stored.value.count < numbers) {
      this.stored.value.dispose();
      this.stored.value = new StorageBufferAttribute(new Float32Array(numbers), 1);
      this.squares.value = this.stored.value;
    }
    this.columns.value = columns;
    this.blocks.value = blocks;
    this.width.value = width;
    this.height.value = height;
    this.step.dispatchSize = blocks * WORKGROUP;
    return this.step;
  }

  /** How far away the farthest pixel of a square is. Builds on the current stack. */
  farthest(level: Node<'int'>, x: Node<'int'>, y: Node<'int'>): Node<'float'> {
    // As `startOf`.
    const size = int(WORKGROUP).shiftRight(level.mul(2));
    const start = int(WORKGROUP).sub(size).mul(4).div(3);
    const row = this.columns.mul(int(SIDE).shiftRight(level));
    return this.squares.element(this.blocks.mul(start).add(y.mul(row)).add(x));
  }

  dispose(): void {
    this.step.dispose();
    this.stored.value.dispose();
  }

  /** Each invocation makes a square of the smallest size; then some of them put four together, again and again. */
  private build(sign: number): void {
    const { columns, blocks, width, height, texture, stored } = this;
    const shared = workgroupValues('float', 'squares', WORKGROUP);
    const local = int(invocationLocalIndex).toVar();
    const block = int(instanceIndex).sub(local).div(WORKGROUP).toVar();
    const row = block.div(columns).toVar();
    const column = block.sub(row.mul(columns)).toVar();
    const side = 1 << FINEST;
    const localX = local.bitAnd(SIDE - 1).toVar();
    const localY = local.shiftRight(LEVELS - 1).toVar();
    const x = column.mul(SIDE).add(localX).toVar();
    const y = row.mul(SIDE).add(localY).toVar();
    const farthest = float(NEAREST).toVar();
    for (let i = 0; i < side * side; i++) {
      const px = x.mul(side).add(i % side);
      const py = y.mul(side).add(Math.floor(i / side));
      const depth = texture.texel(ivec2(px, py)).x.mul(sign);
      farthest.assign(max(farthest, select(px.lessThan(width).and(py.lessThan(height)), depth, NEAREST)));
    }
    stored.element(y.mul(columns.mul(SIDE)).add(x)).assign(farthest);
    shared.element(local).assign(farthest);
    for (let level = 1; level < LEVELS; level++) {
      const across = SIDE >> level;
      const step = 1 << (level - 1);
      workgroupBarrier();
      // Of the invocations whose squares are the first of four.
      const mask = (step << 1) - 1;
      If(localX.bitAnd(mask).equal(0).and(localY.bitAnd(mask).equal(0)), () => {
        const [right, below] = [step, step * SIDE];
        const others = [right, below, right + below].map((by) => shared.element(local.add(by)));
        farthest.assign(max(max(farthest, others[0]), max(others[1], others[2])));
        const at = y.shiftRight(level).mul(columns.mul(across)).add(x.shiftRight(level));
        stored.element(blocks.mul(startOf(level)).add(at)).assign(farthest);
        shared.element(local).assign(farthest);
      });
    }
  }
}
