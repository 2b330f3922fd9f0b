import { InstancedBufferAttribute, Matrix4, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { InstanceMatrices } from '../../../lib/instances/InstanceMatrices.js';

const COUNT = 1000;

function createMatrices(): InstancedBufferAttribute {
  const matrices = new InstancedBufferAttribute(new Float32Array(COUNT * 16), 16);
  for (let i = 0; i < COUNT; i++) place(matrices, i, i);
  return matrices;
}

function place(matrices: InstancedBufferAttribute, index: number, x: number): void {
  new Matrix4()
    .makeRotationY(x)
    .setPosition(x, 2 * x, 3)
    .toArray(matrices.array, index * 16);
}

/** Where the texels of an instance carry a point. */
function carry(texels: InstanceMatrices, index: number, point: Vector3): number[] {
  const { data } = texels.texture;
  const at = index * texels.texels * 4;
  return [0, 4, 8].map(
    (row) =>
      data[at + row] * point.x +
      data[at + row + 1] * point.y +
      data[at + row + 2] * point.z +
      data[at + row + 3],
  );
}

test('texels carry points where the matrices do, and hold the colours', () => {
  const matrices = createMatrices();
  const colors = new InstancedBufferAttribute(new Float32Array(COUNT * 3).fill(0.5), 3);
  colors.setXYZ(777, 0.1, 0.2, 0.3);
  const texels = new InstanceMatrices(COUNT, true);
  expect(texels.update(matrices)).toBe(true);
  expect(texels.updateColors(colors)).toBe(true);
  for (const i of [0, 1, 255, 256, 777, 999]) {
    const expected = new Vector3(1, -2, 0.5).applyMatrix4(new Matrix4().fromArray(matrices.array, i * 16));
    expect(carry(texels, i, new Vector3(1, -2, 0.5))).toEqual(
      expected.toArray().map((value) => expect.closeTo(value, 3)),
    );
  }
  const { data } = texels.texture;
  expect([...data.subarray(777 * 16 + 12, 777 * 16 + 15)]).toEqual(
    [0.1, 0.2, 0.3].map((value) => expect.closeTo(value, 6)),
  );
});

test('nothing is sent while nothing changes, and of ranges only the layers they are in', () => {
  const matrices = createMatrices();
  const texels = new InstanceMatrices(COUNT, false);
  const { layered } = texels.texture;
  texels.update(matrices);
  texels.prepare({});
  layered.clearLayerUpdates();
  const { version } = layered;
  expect(texels.update(matrices)).toBe(false);
  expect(layered.version).toBe(version);

  place(matrices, 300, -5);
  place(matrices, 10, -7); // not in the range that is given, so not taken
  matrices.addUpdateRange(300 * 16, 16);
  matrices.needsUpdate = true;
  expect(texels.update(matrices)).toBe(true);
  expect([...layered.layerUpdates]).toEqual([1]);
  expect(carry(texels, 300, new Vector3())[0]).toBeCloseTo(-5, 5);
  expect(carry(texels, 10, new Vector3())[0]).toBeCloseTo(10, 5);

  layered.clearLayerUpdates();
  matrices.clearUpdateRanges();
  matrices.needsUpdate = true;
  texels.update(matrices);
  expect([...layered.layerUpdates]).toEqual([0, 1, 2, 3]);
  expect(carry(texels, 10, new Vector3())[0]).toBeCloseTo(-7, 5);
});

test('WebGLRenderer is sent each instance that has moved, in whatever row of the texture, and nothing more', () => {
  const matrices = createMatrices();
  const texels = new InstanceMatrices(COUNT, true);
  const { plain } = texels.texture;
  /** As three.js does it. Returns the instances that were sent. */
  const upload = () => {
    const sent = new Set<number>();
    const ranges = plain.updateRanges.length > 0 ? plain.updateRanges : [{ start: 0, count: COUNT * 16 }];
    for (const { start, count } of ranges) {
      for (let at = start; at < start + count; at += 16) sent.add(at / 16);
    }
    expect(ranges.length).toBeLessThan(5);
    plain.clearUpdateRanges();
    plain.onUpdate?.(plain);
    return [...sent].sort((a, b) => a - b);
  };
  const numbers = (start: number, end: number) => Array.from({ length: end - start }, (_, i) => start + i);
  texels.update(matrices);
  expect(upload()).toEqual(numbers(0, COUNT));

  matrices.addUpdateRange(100 * 16, 600 * 16);
  matrices.needsUpdate = true;
  texels.update(matrices);
  expect(upload()).toEqual(numbers(100, 700));

  matrices.clearUpdateRanges();
  matrices.needsUpdate = true;
  texels.update(matrices);
  texels.swap(3, 900);
  expect(upload(), 'all of them, although two have changed since').toEqual(numbers(0, COUNT));

  texels.swap(3, 900);
  expect(upload()).toEqual([3, 900]);
});

test('another attribute is taken over whole, whatever its version', () => {
  const texels = new InstanceMatrices(COUNT, false);
  texels.update(createMatrices());
  const other = createMatrices();
  place(other, 5, 50);
  expect(texels.update(other)).toBe(true);
  expect(carry(texels, 5, new Vector3())[0]).toBeCloseTo(50, 4);
});

test('two instances are exchanged', () => {
  const texels = new InstanceMatrices(COUNT, false);
  texels.update(createMatrices());
  texels.swap(3, 900);
  expect(carry(texels, 3, new Vector3())[0]).toBeCloseTo(900, 3);
  expect(carry(texels, 900, new Vector3())[0]).toBeCloseTo(3, 3);
});

test('an instance that begins anew has been where it is, also if there is more room meanwhile', () => {
  const matrices = createMatrices();
  let before = new InstanceMatrices(COUNT, false);
  before.update(matrices);
  place(matrices, 7, 70);
  place(matrices, 8, 80);
  before.appear(7);
  before = before.resizedFor(matrices);
  before.settle(matrices);
  expect(carry(before, 7, new Vector3())[0]).toBeCloseTo(70, 4);
  expect(carry(before, 8, new Vector3())[0], 'this one has moved').toBeCloseTo(8, 5);
  place(matrices, 7, 71);
  before.settle(matrices);
  expect(carry(before, 7, new Vector3())[0]).toBeCloseTo(70, 4);
});
