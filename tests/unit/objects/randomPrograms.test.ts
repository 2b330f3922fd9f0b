import { afterEach, describe, expect, test, vi } from 'vitest';
import { CrowdProgram, KINDS } from '../../support/fuzz/CrowdProgram.js';
import { expectRebuilt } from '../../support/fuzz/expectRebuilt.js';
import { THOROUGH } from '../../support/thorough.js';

const SEEDS = Array.from({ length: THOROUGH ? 4 : 1 }, (_, i) => i + 1);
const ROUNDS = THOROUGH ? 6 : 4;
const STEPS = 20;

afterEach(() => vi.restoreAllMocks());

describe.each(KINDS)('$source, layers $layers, merged $merged', (kind) => {
  test.each(SEEDS)('seed %i: after random calls a crowd is as one made from scratch', (seed) => {
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const wrong = vi.spyOn(console, 'error').mockImplementation(() => {});
    const program = new CrowdProgram(seed, kind);
    for (let round = 0; round < ROUNDS; round++) {
      program.run(STEPS);
      program.explain(() => expectRebuilt(program));
    }
    program.dispose();
    program.run(STEPS);
    expect(wrong.mock.calls).toEqual([]);
    for (const [message] of warned.mock.calls) expect(message).toMatch(/^[A-Z].*\.$/s);
  });
});
