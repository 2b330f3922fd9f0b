import { describe, expect, test } from 'vitest';
import { InstancePlayback } from '../../../lib/playback/InstancePlayback.js';
import {
  CLIP_COUNT,
  CLIP_FADE,
  CLIP_RATE,
  CLIP_START,
  CLIP_TIME,
  FADES_STRIDE,
  SLOT_STRIDE,
} from '../../../lib/playback/instanceLayout.js';
import { type BakedClip, ClipTable } from '../../../lib/poses/ClipTable.js';
import { createPoseMix } from '../../../lib/poses/PoseMix.js';

const clip = (name: string, start: number): BakedClip => ({
  name,
  start,
  count: 31,
  duration: 1,
  fps: 30,
  bounds: [0, 0, 0, 1, 1, 1],
  rootMotion: null,
  markers: [],
});
const TABLE = new ClipTable([clip('A', 1), clip('B', 32)]);
const [A, B] = TABLE.clips;

const create = (capacity: number) => new InstancePlayback(capacity, () => TABLE);

/** What an instance shows, as numbers. */
function shown(playback: InstancePlayback, index: number): number[] {
  const { clips, count } = playback.pose(index, true, createPoseMix());
  return clips.slice(0, count).flatMap(({ frame0, alpha, weight }) => [frame0, alpha, weight]);
}

/** Four instances: one that fades, one that is paused, one that plays in reverse, and one that does nothing. */
function createBusy(): InstancePlayback {
  const playback = create(4);
  playback.play(0, A, {}, 'test');
  playback.play(1, B, { time: 0.3 }, 'test');
  playback.play(2, B, { timeScale: -0.5, time: 0.9 }, 'test');
  playback.advance(0.25);
  playback.play(0, B, { fade: 0.4 }, 'test');
  playback.pause(1);
  playback.advance(0.1);
  return playback;
}

describe('the numbers that shaders read', () => {
  test('of the newest clip', () => {
    const playback = createBusy();
    const slot = playback.state.data.subarray(2 * SLOT_STRIDE, 3 * SLOT_STRIDE);
    expect(slot[CLIP_START]).toBe(32);
    expect(slot[CLIP_COUNT] >> 5).toBe(31);
    expect(slot[CLIP_TIME]).toBeCloseTo(27, 5);
    expect(slot[CLIP_RATE]).toBe(-15);
    expect(slot[CLIP_FADE]).toBe(0);
    expect(playback.buffer.array).toBe(playback.state.data);
  });

  test('of the clip that fades out under it', () => {
    const playback = createBusy();
    expect(playback.fades.data[CLIP_START]).toBe(1);
    expect(playback.fades.data[CLIP_TIME]).toBeCloseTo(0, 5);
    expect(playback.fades.data[FADES_STRIDE / 2 + CLIP_START], 'nothing below').toBe(0);
    expect(shown(playback, 0).map((number) => Math.round(number * 1e6) / 1e6)).toEqual([
      35, 0, 0.25, 11, 0.5, 0.75,
    ]);
  });

  test('hold no texture for fades until something fades', () => {
    const playback = create(1000);
    playback.play(0, A, {}, 'test');
    expect(playback.fades.data.length).toBeLessThan(1000 * FADES_STRIDE);
    playback.play(0, B, { fade: 0.1 }, 'test');
    expect(playback.fades.data.length).toBeGreaterThanOrEqual(1000 * FADES_STRIDE);
  });
});

describe('resize', () => {
  test.each([3, 4, 9])('to %i keeps what the instances play', (capacity) => {
    const playback = createBusy();
    const before = [0, 1, 2].map((index) => shown(playback, index));
    playback.resize(capacity);
    expect(playback.capacity).toBe(capacity);
    for (const index of [0, 1, 2]) expect(shown(playback, index)).toEqual(before[index]);
    expect(playback.isPaused(1)).toBe(true);
    for (let index = 3; index < capacity; index++) {
      expect(playback.clipOf(index)).toBeNull();
      expect(playback.isPaused(index)).toBe(false);
      playback.play(index, A, { fade: 0.1 }, 'test');
    }
    expect(playback.state.data.length).toBeGreaterThanOrEqual(capacity * SLOT_STRIDE);

    const other = createBusy();
    for (const one of [playback, other]) {
      one.resume(1);
      one.advance(0.05);
    }
    for (const index of [0, 1, 2]) expect(shown(playback, index)).toEqual(shown(other, index));
  });

  test('frees the textures that it replaces', () => {
    const playback = createBusy();
    const freed: string[] = [];
    playback.state.plain.addEventListener('dispose', () => freed.push('state'));
    playback.fades.plain.addEventListener('dispose', () => freed.push('fades'));
    playback.resize(8);
    expect(freed).toEqual(['state', 'fades']);
  });
});

test('copy takes over clock, fades and pauses; swap exchanges them', () => {
  const source = createBusy();
  const copy = create(4).copy(source);
  expect(copy.elapsed).toBe(source.elapsed);
  for (const index of [0, 1, 2, 3]) expect(shown(copy, index)).toEqual(shown(source, index));
  copy.swap(0, 1);
  expect(shown(copy, 0)).toEqual(shown(source, 1));
  expect(shown(copy, 1)).toEqual(shown(source, 0));
  expect(copy.isPaused(0)).toBe(true);
  expect(copy.isPaused(1)).toBe(false);
});
