import { DataTexture, FloatType, RGBAFormat } from 'three';
import { instanceIndex, ivec2, storage, struct, vertexIndex } from 'three/tsl';
import { type Node, StorageBufferAttribute, type Texture, type WebGPURenderer } from 'three/webgpu';
import { type TexelNode, texels } from '../../../shaders/TexelNode.js';
import { type Rows, structsIn } from '../../../shaders/tsl.js';

/** Reads and writes matrices in the shaders of a build. */
export interface RowsNodes {
  /** The rows of a matrix. Builds on the current stack. */
  read(index: Node<'int'>): Rows;
  /**
   * For compute shaders, which either write or read. Builds on the current stack.
   *
   * @param at The number of what is written, where it is not that of the invocation; on WebGPU alone.
   */
  write(rows: Rows, at?: Node<'int'>): void;
  /** From the next draw or computation on, these matrices take their place. They must be of the same kind. */
  use(rows: MatrixRows): void;
}

/**
 * Affine matrices that a compute shader writes and other shaders read. Each invocation writes the matrix that has its number,
 * since the WebGL 2 backend, which has no compute shaders, can do nothing else.
 */
export interface MatrixRows {
  /** The number of the invocation, and of what it writes. */
  readonly invocation: Node<'uint'>;
  /** @param written Whether a shader writes them; else it reads them. */
  nodes(written: boolean): RowsNodes;
  /** Call before the matrices are written. */
  prepare(renderer: WebGPURenderer): void;
  dispose(): void;
}

/** How many matrices a renderer's device has room for. */
export function maxMatrixRows({ backend }: WebGPURenderer): number {
  const { device, gl } = backend as unknown as { device?: GPUDevice; gl: WebGL2RenderingContext };
  if (device !== undefined) return Math.floor(device.limits.maxStorageBufferBindingSize / (NUMBERS * 4));
  return (gl.getParameter(gl.MAX_TEXTURE_SIZE) as number) * ROW;
}

/** Room for `count` matrices, for renderers of one kind of backend. */
export function createMatrixRows(count: number, webGPU: boolean): MatrixRows {
  // There are no empty buffers.
  return webGPU ? new StorageRows(Math.max(1, count)) : new FeedbackRows(Math.max(1, count));
}

/** Numbers in a matrix. */
const NUMBERS = 12;
/** What three.js lets buffers of storage be used for: STORAGE | VERTEX | COPY_SRC | COPY_DST. */
const STORAGE_USAGE = 0xac;
/** Texels in a row of a texture; a power of two that every device has room for. */
const ROW = 2048;
const ROWS = ['row0', 'row1', 'row2'] as const;

const MatrixRowsStruct = /*@__PURE__*/ struct({ row0: 'vec4', row1: 'vec4', row2: 'vec4' }, 'MatrixRows');

/**
 * What three.js makes a buffer of so many floats from, all of them zero, without memory for them in the page: only shaders write
 * and read them.
 */
function unwritten(length: number): Float32Array {
  const array = new Float32Array(0);
  return Object.defineProperties(array, { length: { value: length }, byteLength: { value: length * 4 } });
}

/** One buffer of structs: its rows lie together, and GPUs check once for a matrix whether it is within bounds, not for each row. */
class StorageRows implements MatrixRows {
  private readonly buffer: StorageBufferAttribute;
  readonly invocation = instanceIndex;

  constructor(private readonly count: number) {
    this.buffer = new StorageBufferAttribute(unwritten(count * NUMBERS), NUMBERS);
  }

  nodes(written: boolean): RowsNodes {
    const all = structsIn(this.buffer, MatrixRowsStruct, this.count);
    const node = written ? all : all.toReadOnly();
    return {
      read: (index) => {
        const element = node.element(index);
        const row = (i: number) => element.get(ROWS[i]).toVar();
        return [row(0), row(1), row(2)];
      },
      write: (rows, at) => {
        const element = node.element(at ?? this.invocation);
        ROWS.forEach((name, i) => {
          element.get(name).assign(rows[i]);
        });
      },
      use: (rows) => {
        node.value = (rows as StorageRows).buffer;
      },
    };
  }

  /** three.js would map the buffer, which takes as long as to upload as many zeros. */
  prepare({ backend }: WebGPURenderer): void {
    const { device, get } = backend as unknown as {
      device: GPUDevice;
      get(of: object): { buffer?: GPUBuffer };
    };
    const kept = get.call(backend, this.buffer);
    kept.buffer ??= device.createBuffer({ size: this.count * NUMBERS * 4, usage: STORAGE_USAGE });
  }

  dispose(): void {
    this.buffer.dispose();
  }
}

/**
 * For WebGL 2, where three.js computes by transform feedback: a buffer for each row of a matrix. If a buffer has a texture as
 * its property `pbo`, three.js copies to it what was written. three.js would also make that texture itself (`setPBO`), but then
 * every shader that reads it has it built in, and two crowds that share a material would read the same one.
 */
class FeedbackRows implements MatrixRows {
  private readonly attributes: readonly StorageBufferAttribute[];
  // Not `instanceIndex`: then three.js draws one point an instance, which takes five times as long.
  readonly invocation = vertexIndex;

  private readonly textures: readonly Texture[];

  constructor(count: number) {
    const height = Math.ceil(count / ROW);
    this.textures = ROWS.map(() => {
      const texture = new DataTexture(null, ROW, height, RGBAFormat, FloatType);
      // There is nothing to upload.
      texture.source.dataReady = false;
      texture.needsUpdate = true;
      return texture;
    });
    // What is copied is whole rows of the texture.
    this.attributes = this.textures.map((pbo) =>
      Object.assign(new StorageBufferAttribute(ROW * height, 4), { pbo }),
    );
  }

  nodes(): RowsNodes {
    const nodes: TexelNode[] = this.textures.map((texture) => texels(texture));
    return {
      read: (index) => {
        const at = ivec2(index.bitAnd(ROW - 1), index.shiftRight(Math.log2(ROW))).toVar();
        const row = (i: number) => nodes[i].texel(at).toVar();
        return [row(0), row(1), row(2)];
      },
      // Transform feedback goes where the computation was built for: crowds do not share it.
      write: (rows) => {
        this.attributes.forEach((attribute, i) => {
          storage(attribute, 'vec4', attribute.count).element(this.invocation).assign(rows[i]);
        });
      },
      use: (rows) => {
        nodes.forEach((node, i) => {
          node.value = (rows as FeedbackRows).textures[i];
        });
      },
    };
  }

  prepare(renderer: WebGPURenderer): void {
    // Nothing is copied to textures that the renderer does not have.
    for (const texture of this.textures) renderer.initTexture(texture);
  }

  dispose(): void {
    for (const texture of this.textures) texture.dispose();
    for (const attribute of this.attributes) attribute.dispose();
  }
}
