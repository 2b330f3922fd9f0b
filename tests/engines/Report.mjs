import { knownWrong } from './known.mjs';
import { baselineOf, RENDERERS } from './renderers.mjs';

const NAME_WIDTH = 22;
const COLUMN_WIDTH = 25;

/** What stands before the figures in a table. */
const MARKS = { passed: '', failed: 'WRONG ', skipped: 'known ' };

/**
 * What one engine drew under one renderer.
 *
 * @typedef {{ name: string, drawings: import('./drawWith.mjs').Drawings }} Column
 */

/** Compares what engines drew with the baseline, counts it, and prints it. */
export class Report {
  passed = 0;
  failed = 0;
  skipped = 0;
  /** What is wrong, a line each. @type {string[]} */
  failures = [];
  /** What is known to be wrong, a line each. @type {Set<string>} */
  known = new Set();

  /**
   * @param {typeof import('./compare.ts')} comparison
   * @param {Column} baseline
   */
  constructor(comparison, baseline) {
    this.comparison = comparison;
    this.baseline = baseline;
  }

  /**
   * Counts something that was looked at, and keeps what is wrong with it.
   *
   * @param {string} label
   * @param {string[]} wrong
   * @param {ReturnType<typeof knownWrong>} known What is expected to be wrong.
   * @returns {'passed' | 'failed' | 'skipped'} As what it was counted.
   */
  count(label, wrong, known = undefined) {
    const asKnown = known !== undefined && wrong.some((what) => what.includes(known.says));
    if (asKnown) this.known.add(`${known.engine}, ${known.renderer}, ${known.scene}: ${known.why}.`);
    else if (known !== undefined)
      wrong.push(`it did not say "${known.says}": if it is right now, take it from known.mjs`);
    const counted = asKnown ? 'skipped' : wrong.length > 0 ? 'failed' : 'passed';
    this[counted]++;
    if (counted === 'failed') this.failures.push(...wrong.map((what) => `${label}: ${firstLines(what)}`));
    return counted;
  }

  /** Counts what an engine complained of outside of any scene. */
  countStray({ name, drawings }) {
    for (const problem of drawings.strayProblems) this.count(name, [problem]);
  }

  /** Looks at the baseline by itself: the others cannot be right where it shows nothing. */
  checkBaseline() {
    const { name, drawings } = this.baseline;
    for (const renderer of RENDERERS.map(baselineOf)) {
      for (const scene of drawings.scenes) {
        const drawn = drawings.of(renderer, scene);
        const wrong = drawn === undefined ? ['it was not drawn'] : this.comparison.check(drawn);
        this.count(`${name}, ${renderer}, ${scene}`, [...drawings.problemsOf(renderer, scene), ...wrong]);
      }
    }
  }

  /**
   * Compares what was drawn under one renderer with what another engine drew, and prints a table of it.
   *
   * @param {import('./renderers.mjs').RendererName} renderer
   * @param {Column[]} columns
   * @param {Column & { renderer: import('./renderers.mjs').RendererName }} reference
   * @param {(name: string, scene: string) => import('./compare.ts').Bounds} boundsOf
   */
  compare(renderer, columns, reference, boundsOf) {
    if (columns.length === 0) return;
    const print = (name, covered, cells) => {
      const line = cells.map((cell) => cell.padStart(COLUMN_WIDTH)).join('');
      console.log(name.padEnd(NAME_WIDTH) + String(covered).padStart(8) + line);
    };
    const worst = columns.map(() => ({ pixels: 0, numbers: 0 }));

    console.log(
      `\n${renderer} beside ${reference.name}: share of pixels that differ, and how far numbers are apart`,
    );
    print(
      '',
      'pixels',
      columns.map(({ name }) => name),
    );
    for (const scene of this.baseline.drawings.scenes) {
      const expected = reference.drawings.of(reference.renderer, scene);
      const cells = columns.map(({ name, drawings }, i) => {
        const wrong = drawings.problemsOf(renderer, scene);
        const drawn = drawings.of(renderer, scene);
        const verdict = expected && drawn && this.comparison.compare(expected, drawn, boundsOf(name, scene));
        if (verdict === undefined) wrong.push('there are not two pictures to compare');
        else wrong.push(...verdict.failures);
        const known = knownWrong(name, renderer, scene);
        const counted = this.count(`${name} beside ${reference.name}, ${renderer}, ${scene}`, wrong, known);
        if (verdict !== undefined && counted !== 'skipped') {
          worst[i].pixels = Math.max(worst[i].pixels, verdict.pixels);
          worst[i].numbers = Math.max(worst[i].numbers, verdict.numbers);
        }
        return MARKS[counted] + (verdict === undefined ? 'not drawn' : this.words(verdict));
      });
      print(scene, expected === undefined ? 0 : this.comparison.coverage(expected), cells);
    }
    print(
      'worst',
      '',
      worst.map((verdict) => this.words(verdict)),
    );
  }

  words({ pixels, numbers }) {
    return `${this.comparison.percent(pixels)}  ${numbers.toExponential(1)}`;
  }
}

/** The first lines of what an engine says: where in the sources it was says the next one too. */
const firstLines = (text) =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, 4)
    .join('\n');
