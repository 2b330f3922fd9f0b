import { Vector3 } from 'three';
import { describe, expect, test } from 'vitest';
import { describeCharacters, loadCharacter } from '../../support/characters.js';
import { BoneTexture, SkinnedInstancedMesh } from '../../support/library.js';
import { random } from '../../support/random.js';
import { characterHeight, Reference } from '../../support/reference.js';
import { createMorphingStick, createStick } from '../../support/stick.js';

const half = { encoding: 'tracks', precision: 'half' } as const;

/** Megabytes that the knight's 76 clips may take. */
const KNIGHT = { float: 1.5, half: 0.8 };
/** Share of the height by which vertices may be off. Measured: 1.1e-4 at most. */
const OFF = 3e-4;

describeCharacters((name) => {
  test('seed 3: keys of 16 bits take half the memory and put vertices near where three.js does', async () => {
    const { root, clips } = await loadCharacter(name);
    const exact = BoneTexture.bake(root, clips, { encoding: 'tracks' });
    const boneTexture = BoneTexture.bake(root, clips, half);
    const [floats, shorts] = [exact, boneTexture].map(({ byteLength }) => byteLength / 1e6);

    const crowd = SkinnedInstancedMesh.from(root, clips, 1, { boneTexture });
    const reference = new Reference(root);
    const height = characterHeight(root);
    const next = random(3);
    const shown = new Vector3();
    let worst = 0;
    for (const [i, clip] of clips.entries()) {
      // All clips are the same code: for some of the 76 of the knight that is enough.
      if (i % (clips.length > 20 ? 4 : 1) !== 0) continue;
      const time = next() * clip.duration * 0.999;
      crowd.play(0, i, { time });
      reference.pose(clip, time).forEachVertex((vertex, position) => {
        if (vertex % 5 !== 0) return;
        worst = Math.max(worst, crowd.getVertexPositionAt(0, vertex, shown).distanceTo(position) / height);
      });
    }
    const sizes = `${floats.toFixed(2)} MB exact, ${shorts.toFixed(2)} MB of 16 bits`;
    console.log(`${name}, ${clips.length} clips: ${sizes}, off by ${worst.toExponential(1)} of the height`);
    expect(worst).toBeLessThanOrEqual(OFF);
    if (name === 'Knight.glb') {
      expect(floats).toBeLessThanOrEqual(KNIGHT.float);
      expect(shorts).toBeLessThanOrEqual(KNIGHT.half);
    }
  });
});

describe('keys of 16 bits', () => {
  test('are as good in a copy that a worker or a file has had', () => {
    const { root, clips } = createMorphingStick();
    const boneTexture = BoneTexture.bake(root, clips, half);
    const copies = [new BoneTexture(structuredClone(boneTexture.data)), boneTexture.clone()];
    expect(boneTexture.precision).toBe('half');
    for (const copy of copies) {
      expect(copy.byteLength).toBe(boneTexture.byteLength);
      expect(copy.shortKeys).not.toBe(boneTexture.shortKeys);
      expect(copy.shortKeys?.image.data).toEqual(boneTexture.shortKeys?.image.data);
      const crowd = SkinnedInstancedMesh.from(root, clips, 1, { boneTexture: copy });
      crowd.play(0, 0, { time: 0.3 });
      const vertex = crowd.getVertexPositionAt(0, 2, new Vector3());
      // The tip is where the time is, and the morph target stretches it by twice that.
      expect(vertex.x).toBeCloseTo(5.3, 4);
      expect(vertex.y).toBeCloseTo(1.6, 4);
    }
  });

  test('are freed with the bone texture', () => {
    const { root, clips } = createStick();
    const boneTexture = BoneTexture.bake(root, clips, half);
    let freed = 0;
    boneTexture.shortKeys?.addEventListener('dispose', () => freed++);
    boneTexture.dispose();
    expect(freed).toBe(1);
  });

  test('are not there with floats, nor where the data say so', () => {
    const { root, clips } = createStick();
    expect(BoneTexture.bake(root, clips, { encoding: 'tracks' }).shortKeys).toBeNull();
    const { data } = BoneTexture.bake(root, clips, half);
    const tracks = data.tracks!;
    const make = (changes: object) => () => new BoneTexture({ ...data, ...changes });
    expect(make({ precision: 'float' })).toThrow(
      'data.tracks.shorts is Uint16Array of 2048, but has to be null',
    );
    expect(make({ tracks: { ...tracks, shorts: null } })).toThrow('data.tracks.shorts is null');
    const few = tracks.shorts!.slice(0, 8);
    expect(make({ tracks: { ...tracks, shorts: few } })).toThrow('data.tracks.shorts is Uint16Array of 8');
    const table = tracks.table.slice();
    table[table.findIndex((entry) => entry < 9)] = 5000;
    expect(make({ tracks: { ...tracks, table } })).toThrow('among the 512 texels of tracks.shorts');
  });
});
