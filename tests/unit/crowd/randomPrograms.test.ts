import { describe, expect, test, vi } from 'vitest';
import { CrowdProgram, KINDS } from '../../support/fuzz/CrowdProgram.js';
import { expectRebuilt } from '../../support/fuzz/expectRebuilt.js';
import { ENDS } from '../../support/fuzz/features.js';
import { THOROUGH } from '../../support/thorough.js';

const SEEDS = Array.from({ length: Number(process.env.SEEDS ?? (THOROUGH ? 4 : 1)) }, (_, i) => i + 1);
const ROUNDS = THOROUGH ? 6 : 4;
const STEPS = 20;

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

  test.each(Object.keys(ENDS))('of all features only %s is left, as in a crowd that had no other', (name) => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    const program = new CrowdProgram(Object.keys(ENDS).indexOf(name) + 11, kind).run(3 * STEPS);
    const others = Object.keys(ENDS).filter((one) => one !== name);
    while (others.length > 0) {
      const [other] = others.splice(program.dice.below(others.length), 1);
      program.log.push(`ends ${other}`);
      ENDS[other](program);
    }
    program.explain(() => expectRebuilt(program));
    program.dispose();
  });
});
