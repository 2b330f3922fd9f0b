import { VertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import { Vector3 } from 'three';
import { expect, test } from 'vitest';
import { checksumOf } from '../../../lib/files/checksum.js';
import { describeVertices, readVertices } from '../../../lib/files/storedVertices.js';
import { bakeVertices, createArm } from '../../support/bakedFiles.js';
import { assembleCharacter, getVertexPosition, SkinnedInstancedMesh } from '../../support/library.js';
import { random } from '../../support/random.js';
import { THOROUGH } from '../../support/thorough.js';

const COUNT = THOROUGH ? 1_000 : 200;
/** Bytes of arrays that may be made of views as small as these. */
const MEMORY = 8e6;
const HOSTILE = [
  -1,
  0,
  1.5,
  7,
  2 ** 32,
  1e308,
  -1e308,
  null,
  true,
  '',
  '1',
  'half',
  '__proto__',
  [],
  [null],
  {},
];
const NAMES = ['__proto__', 'constructor', 'hasOwnProperty'];

type Place = Record<string, unknown>;

const kinds = Object.values(bakeVertices()).map((texture) => describeVertices(texture.encode()));

/** Gives something in JSON another value, or what all objects have of themselves. */
function change(json: Place, chance: () => number): void {
  const pick = (count: number) => Math.floor(chance() * count);
  let place = json;
  for (;;) {
    const keys = Object.keys(place);
    const key = keys[pick(keys.length)] ?? 'other';
    const inner = place[key];
    if (typeof inner === 'object' && inner !== null && Object.keys(inner).length > 0 && chance() > 0.2) {
      place = inner as Place;
      continue;
    }
    const value = structuredClone(HOSTILE[pick(HOSTILE.length)]);
    const name = chance() < 0.1 ? NAMES[pick(NAMES.length)] : key;
    if (chance() < 0.1) delete place[key];
    else Object.defineProperty(place, name, { value, enumerable: true, configurable: true, writable: true });
    return;
  }
}

test('vertex textures that say anything are an error that says what, or can be played', () => {
  const { root } = createArm();
  let refused = 0;
  for (let seed = 1; seed <= COUNT; seed++) {
    const chance = random(seed * 7919);
    const pick = (count: number) => Math.floor(chance() * count);
    const { json, views } = structuredClone(kinds[pick(kinds.length)]);
    change(json as never, chance);
    const view = views[pick(views.length)];
    for (let i = pick(3); i > 0; i--) view[pick(view.length)] = [0, 127, 255, pick(256)][pick(4)];
    if (chance() < 0.1) views[pick(views.length)] = view.slice(0, pick(view.length));
    const parsed = JSON.parse(JSON.stringify(json));
    parsed.checksum = checksumOf(parsed, views);
    const before = process.memoryUsage().arrayBuffers;
    try {
      const boneTexture = readVertices(parsed, views, VertexTexture as never, 'vertexTexture');
      const crowd = new SkinnedInstancedMesh(assembleCharacter(root, boneTexture), 1);
      boneTexture.clips.forEach((_, clip) => {
        crowd.play(0, clip, { time: 0.3 }).update(0.1);
        const place = getVertexPosition(crowd, 0, 3, new Vector3()).toArray();
        expect(place.every(Number.isFinite), `seed ${seed}`).toBe(true);
      });
    } catch (error) {
      const { name, message, cause } = error as Error;
      if (name === 'AssertionError') throw error;
      refused++;
      expect(message, `seed ${seed}`).toMatch(/^(SIM_baked_animation|SkinnedInstancedMesh).*: .{10}/);
      expect(cause instanceof TypeError || cause instanceof RangeError, `seed ${seed}: ${message}`).toBe(
        false,
      );
    }
    expect(process.memoryUsage().arrayBuffers - before, `seed ${seed}`).toBeLessThan(MEMORY);
  }
  expect(refused).toBeGreaterThan(COUNT / 2);
});

test.each(['half', 'float'])('places beyond all numbers that can be added are refused, %s', (precision) => {
  const { json, views } = structuredClone(kinds[precision === 'half' ? 0 : 1]);
  const view = views[precision === 'half' ? 1 : 2];
  new DataView(view.buffer, view.byteOffset).setFloat32(0, 3e38, true);
  json.checksum = checksumOf(json, views);
  expect(() => readVertices(json, views, VertexTexture as never, 'vertexTexture')).toThrow(
    /the file is damaged: VertexTexture: (boxes|texels) is .*, but has to be (numbers|positions) where vertices may be/,
  );
});
