import { If, instanceIndex, int, struct, uvec4 } from 'three/tsl';
import { type Node, StorageBufferAttribute } from 'three/webgpu';
import { packCompact, unpackCompact } from '../../../shaders/palette.tsl.js';
import { bitsOf, floatsOf, type Rows, type Structs, structsIn } from '../../../shaders/tsl.js';
import { disposeAttribute } from '../../utils/disposeAttribute.js';
import type { MatrixRows, RowsReader } from './MatrixRows.js';

/** Numbers of 32 bits in a matrix. */
const NUMBERS = 8;

const CompactMatrixStruct = /*@__PURE__*/ struct({ shares: 'uvec4', rest: 'uvec4' }, 'CompactMatrix');

/** Matrices in 32 bytes each, on WebGPU. */
export class CompactRows implements MatrixRows {
  readonly attributes: readonly [StorageBufferAttribute];
  readonly invocation = instanceIndex;

  constructor(private readonly count: number) {
    this.attributes = [new StorageBufferAttribute(new Uint32Array(count * NUMBERS), NUMBERS)];
  }

  write(rows: Rows, isMatrix: Node<'bool'> | null, at?: Node<'int'>): void {
    const element = this.node().element(at ?? this.invocation);
    const pack = () => {
      const { shares, rest } = packCompact(rows);
      element.get('shares').assign(shares);
      element.get('rest').assign(rest);
    };
    if (isMatrix === null) pack();
    else {
      If(isMatrix, pack).Else(() => {
        element.get('shares').assign(bitsOf(rows[0]));
        element.get('rest').assign(uvec4(0));
      });
    }
  }

  copy(rows: CompactRows): void {
    const index = int(this.invocation).toVar();
    const [from, to] = [rows.node().toReadOnly().element(index), this.node().element(this.invocation)];
    for (const member of ['shares', 'rest']) to.get(member).assign(from.get(member));
  }

  reader(): RowsReader {
    const node = this.node().toReadOnly();
    return {
      read: (index) => {
        const element = node.element(index);
        return unpackCompact({ shares: element.get('shares').toVar(), rest: element.get('rest').toVar() });
      },
      readFirst: (index) => floatsOf(node.element(index).get('shares')).toVar(),
      use: ({ attributes }) => {
        node.value = attributes[0];
      },
    };
  }

  prepare(): void {}

  dispose(): void {
    disposeAttribute(this.attributes[0]);
  }

  private node(): Structs<'uvec4'> {
    return structsIn(this.attributes[0], CompactMatrixStruct, this.count);
  }
}
