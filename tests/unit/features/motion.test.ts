import { defineMotion, type Motion } from 'skinned-instanced-mesh';
import { Matrix4, Raycaster, Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { breathing } from '../../../demos/lib/motions/breathing.js';
import { flutter } from '../../../demos/lib/motions/flutter.js';
import { wind } from '../../../demos/lib/motions/wind.js';
import {
  bakeCharacter,
  getVertexPosition,
  type InstanceMotions,
  SkinnedInstancedMesh,
} from '../../support/library.js';
import { bladeRoot, random, somewhere } from '../../support/meadow.js';
import { moveBy } from '../../support/moveBy.js';

const INSTANCES = 20;

function createGrass(...motions: Motion[]): SkinnedInstancedMesh {
  // Scaled, so that it moves less before skinning than after it.
  const root = bladeRoot();
  root.children[0].scale.setScalar(0.5);
  const crowd = new SkinnedInstancedMesh(bakeCharacter(root, []), INSTANCES);
  const next = random(5);
  for (let i = 0; i < INSTANCES; i++) crowd.setMatrixAt(i, somewhere(next, 30));
  moveBy(crowd, ...motions);
  return crowd;
}

/** Where the vertices of an instance are, in its own space. */
function verticesOf(crowd: SkinnedInstancedMesh, instance: number): Vector3[] {
  const inverse = crowd.getMatrixAt(instance, new Matrix4()).invert();
  const { count } = crowd.geometry.getAttribute('position');
  return Array.from({ length: count }, (_, vertex) =>
    getVertexPosition(crowd, instance, vertex, new Vector3()).applyMatrix4(inverse),
  );
}

const hop = defineMotion({
  name: 'hop',
  uniforms: { height: 0.5 },
  maxOffset: ({ height }) => height,
  glsl: 'position.y += height * abs( sin( 3.0 * time + 6.28 * random ) );',
  cpu: ({ position, time, random: own, uniforms: { height } }) => {
    position.y += height * Math.abs(Math.sin(3 * time + 6.28 * own));
  },
});

/** Those of the demos, which users copy, with strong numbers. */
const KINDS: Record<string, () => Motion[]> = {
  'wind by height': () => [wind({ strength: 0.8, turbulence: 1, direction: new Vector3(1, 0.2, 2) })],
  'wind by colour': () => [wind({ strength: 0.6, channel: 'r', gusts: 1 })],
  flutter: () => [flutter({ strength: 0.3 })],
  'flutter along an axis': () => [flutter({ strength: 0.2, axis: new Vector3(1, 2, 0), channel: 'g' })],
  breathing: () => [breathing({ depth: 0.2, speed: 1 })],
  'breathing by colour': () => [breathing({ depth: 0.1, channel: 'r' })],
  'all at once': () => [breathing({ depth: 0.1 }), flutter({ strength: 0.1 }), wind({ strength: 0.3 })],
};

describe.each(Object.entries(KINDS))('%s', (_name, make) => {
  test('never moves a vertex farther than it says, and bounds hold', () => {
    const still = createGrass();
    const motions = make();
    const crowd = createGrass(...motions);
    const reach = motions.reduce((sum, one) => sum + one.maxOffset, 0);
    const next = random(9);
    let farthest = 0;
    let outside = 0;
    const rest = Array.from({ length: INSTANCES }, (_, i) => verticesOf(still, i));
    for (let round = 0; round < 50; round++) {
      crowd.update(next() * 3);
      const box = crowd.bounds.ofPoses();
      for (let i = 0; i < INSTANCES; i++) {
        for (const [v, vertex] of verticesOf(crowd, i).entries()) {
          farthest = Math.max(farthest, vertex.distanceTo(rest[i][v]));
          outside = Math.max(outside, box.distanceToPoint(vertex));
        }
      }
    }
    expect(outside).toBeLessThan(1e-6);
    expect(farthest).toBeLessThanOrEqual(reach * (1 + 1e-6));
    expect(farthest, 'and it does move').toBeGreaterThan(reach / 4);
  });
});

test('time stands still where the clock does, and goes on where it was when the rate changes', () => {
  const crowd = createGrass();
  const breeze = wind({ strength: 0.4 });
  moveBy(crowd, breeze);
  crowd.update(2);
  const before = verticesOf(crowd, 3);
  crowd.update(0);
  expect(verticesOf(crowd, 3)).toEqual(before);
  breeze.uniforms.speed.value = 40;
  expect(verticesOf(crowd, 3), 'a gust does not jump').toEqual(before);
  crowd.update(0.1);
  expect(verticesOf(crowd, 3)).not.toEqual(before);
  breeze.uniforms.speed.value = 4;
  const copy = crowd.clone();
  expect((copy.instanceMotions as InstanceMotions).motions).toEqual([breeze]);
  expect(verticesOf(copy, 3), 'a copy goes on from there').toEqual(verticesOf(crowd, 3));
});

test('rays hit what is moved', () => {
  const crowd = new SkinnedInstancedMesh(bakeCharacter(bladeRoot(), []), 1);
  moveBy(crowd, hop({ height: 5 }));
  for (let step = 0; step < 5; step++) {
    crowd.update(0.37);
    crowd.updateMatrixWorld();
    const top = getVertexPosition(crowd, 0, 8, new Vector3());
    const aim = top
      .clone()
      .setX(0)
      .setY(top.y - 0.1);
    const [hit] = new Raycaster(aim.clone().setZ(3), new Vector3(0, 0, -1)).intersectObject(crowd);
    expect(hit?.point.distanceTo(aim)).toBeLessThan(0.05);
  }
});

describe('errors name what was wrong', () => {
  const crowd = createGrass();
  test.each([
    ['wind: no uniform "power"; there are strength', () => wind({ power: 1 } as never)],
    ['wind: strength is NaN', () => wind({ strength: Number.NaN })],
    ['wind: direction is 3; use Vector3', () => wind({ direction: 3 } as never)],
    ['wind: maxOffset of "wind" is -1', () => wind({ maxOffset: -1 })],
    ['wind: maxOffset of "wind" is Infinity', () => wind({ maxOffset: Number.POSITIVE_INFINITY })],
    ['wind: maxOffset of "wind" is NaN', () => wind({ maxOffset: Number.NaN })],
    ['defineMotion: maxOffset of "x" is undefined', () => defineMotion({ name: 'x', glsl: '' } as never)],
    [
      'defineMotion: "time" is no name for a uniform',
      () => defineMotion({ name: 'x', glsl: '', maxOffset: 0, uniforms: { time: 1 } }),
    ],
    [
      'Motion.maxOffset: that of "hop" is Infinity',
      () => {
        const bad = hop();
        bad.uniforms.height.value = Number.POSITIVE_INFINITY;
        return bad.maxOffset;
      },
    ],
    [
      'Motion.maxOffset: that of "hop" is NaN',
      () => {
        const bad = hop();
        bad.uniforms.height.value = Number.NaN;
        moveBy(crowd, bad);
        crowd.bounds.ofPoses();
      },
    ],
  ])('%s', (message, run) => {
    expect(run).toThrow(message);
    moveBy(crowd);
  });
});
