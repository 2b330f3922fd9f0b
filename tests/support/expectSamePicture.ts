import { expect } from 'vitest';
import { changedPixels, difference } from './pictures.js';

/** Pixels that a character changes at least in these pictures; fewer, and nothing to speak of was compared. */
const LEAST = 1500;

/** Fails where an object is drawn differently in more than a share of the pixels that it covers. */
export function expectSamePicture(
  label: string,
  expected: Uint8Array,
  drawn: Uint8Array,
  empty: Uint8Array,
  bound: number,
): void {
  const { covered, wrong } = difference(expected, drawn, empty);
  console.log(`${label}: ${(wrong * 100).toFixed(3)} % of ${covered} pixels differ`);
  // Two pictures without the object would be the same too.
  expect(changedPixels(expected, empty), `${label}: the reference shows something`).toBeGreaterThan(LEAST);
  expect(wrong, `${label}: share of the pixels it covers`).toBeLessThanOrEqual(bound);
}
