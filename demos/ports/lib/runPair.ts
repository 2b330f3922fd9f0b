import { Vector2 } from 'three';
import { find, secondsBetween, showValue, slide, toggle } from '../../lib/page.js';
import type { Pair } from './Pair.js';
import { addRow, percent } from './rows.js';
import { STEP } from './Side.js';

/** Most steps in a frame: slow machines see the simulation in slow motion. */
const MOST_STEPS = 3;
/** Of a frame's milliseconds what counts for the figure that is shown. */
const SMOOTHING = 0.1;

/** Below this a crowd gains nothing. */
const FEW = 60;

/** Lets both versions run, for somebody who looks and clicks. */
export function runPair(pair: Pair, count: number): void {
  const { sides } = pair;
  const js = addRow('JavaScript', 'ms a frame', '', '');
  const draws = addRow('Draw calls', 'a frame', '', '');
  const pixels = addRow('Pixels that differ', 'of the picture', '');
  const worst = addRow('', 'at most so far', '');
  for (const cell of [pixels[0], worst[0]]) cell.colSpan = 2;
  const costs = document.querySelectorAll('[data-cost]');
  let paused = false;
  let most = 0;
  let smooth: number[] | null = null;
  let frames = 0;

  const restart = (value: number) => {
    for (const side of sides) side.restart(value);
    most = 0;
    smooth = null;
    frames = 0;
    showValue('count', String(value));
    find<HTMLElement>('[data-few]').hidden = value >= FEW;
  };
  const slider = find<HTMLInputElement>('[name=count]');
  slider.value = String(count);
  showValue('count', String(count));
  find<HTMLElement>('[data-few]').hidden = count >= FEW;
  slide('count', restart);
  find('[name=restart]').addEventListener('click', () => restart(Number(slider.value)));
  toggle('pause', false, (value) => {
    paused = value;
  });
  for (const { canvas } of sides) {
    canvas.addEventListener('click', ({ offsetX, offsetY }) => {
      const x = (offsetX / canvas.clientWidth) * 2 - 1;
      const y = 1 - (offsetY / canvas.clientHeight) * 2;
      for (const { program } of sides) program.click?.(new Vector2(x, y));
    });
  }

  let last = performance.now();
  let owed = 0;
  const next = (now: number) => {
    owed += secondsBetween(last, now);
    last = now;
    // A mixer poses nothing before its first update, so that one comes first.
    const least = frames === 0 ? 1 : 0;
    const steps = paused ? least : Math.max(least, Math.min(MOST_STEPS, Math.floor(owed / STEP)));
    owed = paused ? 0 : Math.min(Math.max(owed - steps * STEP, 0), STEP);
    const off = pair.frame(steps);
    most = Math.max(most, off);
    // The first frame compiles shaders.
    if (frames++ > 0) {
      smooth = sides.map((side, i) => side.js * SMOOTHING + (smooth?.[i] ?? side.js) * (1 - SMOOTHING));
    }
    sides.forEach((side, i) => {
      js[i].textContent = smooth?.[i].toFixed(2) ?? '–';
      draws[i].textContent = String(side.draws);
      costs[i].textContent = `: ${side.draws} draw calls`;
    });
    pixels[0].textContent = percent(off);
    worst[0].textContent = percent(most);
    const { width, height } = sides[0].canvas;
    const differ = Math.round(off * width * height).toLocaleString('en');
    find('[data-differ]').textContent =
      `${differ} ${differ === '1' ? 'pixel differs' : 'pixels differ'}, in red`;
    document.body.dataset.ready = '1';
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}
