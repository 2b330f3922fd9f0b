import { beforeEach, describe, expect, test, vi } from 'vitest';
import { check, compare, type Drawn } from '../engines/compare.js';
import { Drawings } from '../engines/drawWith.mjs';
import { KNOWN } from '../engines/known.mjs';
import { Report } from '../engines/Report.mjs';
import { SIZE } from '../support/pictures.js';

const BOUNDS = { pixels: 0.01, numbers: 1e-6 };

/** A scene with a grey square of this many rows, and two vertices of a crowd twice as high as they are long. */
function drawnSquare(rows = 100): Drawn {
  const empty = new Uint8Array(SIZE * SIZE * 4);
  const picture = empty.slice();
  for (let y = 0; y < rows; y++) picture.fill(128, y * SIZE * 4, (y * SIZE + 100) * 4);
  const numbers = { 'crowd: vertices': Float32Array.of(0, 1, 2, 3, 4, 5) };
  return {
    scene: 'square',
    renderer: 'WebGLRenderer',
    backend: 'WebGL 2',
    height: 2,
    seconds: 1,
    picture,
    empty,
    numbers,
  };
}

describe('what two engines drew', () => {
  const failuresOf = (drawn: Drawn) => compare(drawnSquare(), drawn, BOUNDS).failures;

  test('is the same where it differs less than the bounds', () => {
    const drawn = drawnSquare();
    drawn.picture[0] += 8;
    drawn.numbers['crowd: vertices'][5] += 1e-6;
    expect(compare(drawnSquare(), drawn, BOUNDS)).toMatchObject({ covered: 10_000, pixels: 0, failures: [] });
  });

  test('differs by pixels that only one of them covers', () => {
    expect(failuresOf(drawnSquare(98))).toEqual(['2.000 % of 10000 pixels differ, at most 1.000 % may']);
    expect(failuresOf(drawnSquare(102))[0]).toContain('of 10200 pixels differ');
  });

  test('differs by a number, as a share of the height', () => {
    const drawn = drawnSquare();
    drawn.numbers['crowd: vertices'][1] = 1.5;
    expect(failuresOf(drawn)).toEqual([
      'crowd: vertices: off by 2.5e-1 of the height, at most 0.000001 is allowed',
    ]);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])('differs by a number that is %d', (value) => {
    const drawn = drawnSquare();
    drawn.numbers['crowd: vertices'][1] = value;
    expect(failuresOf(drawn)).toContain(`crowd: vertices: number 1 is ${value}`);
    expect(failuresOf(drawn)).toContain(
      'crowd: vertices: off by Infinity of the height, at most 0.000001 is allowed',
    );
  });

  test('differs by numbers that are missing, or too many', () => {
    const fewer = drawnSquare();
    fewer.numbers['crowd: vertices'] = fewer.numbers['crowd: vertices'].slice(1);
    expect(failuresOf(fewer)[0]).toContain('off by Infinity');
    expect(failuresOf({ ...fewer, numbers: {} })[0]).toContain('off by Infinity');
    const more = drawnSquare();
    more.numbers['crowd: palette'] = new Float32Array(3);
    expect(failuresOf(more)[0]).toContain('crowd: palette: off by Infinity');
  });

  test('is wrong where both show nothing', () => {
    const nothing = drawnSquare(0);
    expect(check(nothing)).toEqual(['the crowd covers 0 pixels, fewer than 1500']);
    expect(compare(nothing, nothing, BOUNDS).failures).toHaveLength(1);
  });
});

describe('a report', () => {
  const drawingsOf = (...drawn: Drawn[]) => Object.assign(new Drawings(), { scenes: ['square'], drawn });
  const column = (name: string, ...drawn: Drawn[]) => ({ name, drawings: drawingsOf(...drawn) });
  let report: Report;
  let compareWith: (other: ReturnType<typeof column>) => void;

  beforeEach(() => {
    vi.spyOn(console, 'log').mockImplementation(() => {});
    const baseline = column('Baseline', drawnSquare());
    const comparison = { check, compare, coverage: () => 0, percent: String };
    report = new Report(comparison, baseline);
    const reference = { ...baseline, renderer: 'WebGLRenderer' as const };
    compareWith = (other) => report.compare('WebGLRenderer', [other], reference, () => BOUNDS);
  });

  test('counts what is drawn alike', () => {
    compareWith(column('Other', drawnSquare()));
    expect(report).toMatchObject({ passed: 1, failed: 0, skipped: 0 });
  });

  test('counts what differs, what is not drawn, and what was drawn with an error', () => {
    compareWith(column('Other', drawnSquare(50)));
    expect(report.failures).toEqual([
      expect.stringMatching(/^Other beside Baseline, WebGLRenderer, square: .*differ/),
    ]);
    compareWith(column('Other'));
    expect(report.failures[1]).toContain('not two pictures');
    const loud = column('Other', drawnSquare());
    loud.drawings.problems.push({ scene: 'WebGLRenderer: square', text: 'console.error: oh' });
    compareWith(loud);
    expect(report.failures[2]).toContain('console.error: oh');
    loud.drawings.problems[0].scene = null;
    report.countStray(loud);
    expect(report).toMatchObject({ passed: 0, failed: 4, skipped: 0 });
  });

  test('skips what is known to be wrong, until it is right or wrong in another way', () => {
    const known = {
      engine: 'Other',
      renderer: 'WebGLRenderer',
      scene: 'square',
      says: 'oh',
      why: 'why',
    } as const;
    KNOWN.push(known);
    const loud = column('Other', drawnSquare());
    loud.drawings.problems.push({ scene: 'WebGLRenderer: square', text: 'console.error: oh' });
    compareWith(loud);
    expect(report).toMatchObject({ passed: 0, failed: 0, skipped: 1 });
    loud.drawings.problems = [];
    compareWith(loud);
    loud.drawings.problems = [{ scene: 'WebGLRenderer: square', text: 'console.error: another' }];
    compareWith(loud);
    expect(report).toMatchObject({ passed: 0, failed: 2, skipped: 1 });
    KNOWN.splice(KNOWN.indexOf(known), 1);
  });
});
