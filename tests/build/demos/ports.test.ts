import { expect, test } from 'vitest';
import { expectLinkToSource, look, open, WINDOW } from './site.js';

/** What a port's page found at a moment. */
interface Moment {
  time: number;
  off: number;
  changed: number;
  draws: [plain: number, ported: number];
}

test.each([
  // Flashes, falls, fades and deaths are among these moments; who died is replaced.
  ['arena', '0.6,2,3.6,5.2', 'webgl'],
  ['rts', '0.6,2,3.6,5.2', 'webgpu'],
  ['zoo', '0.6,2,3.6', 'webgl'],
])('the port of the %s takes few lines and looks the same at %s s, %s', async (name, times, renderer) => {
  const page = await open(
    `ports/${name}/index.html?times=${times}&count=12&width=320&renderer=${renderer}`,
    WINDOW,
    true,
  );
  const changedLines = Number.parseInt((await page.textContent('[data-lines]'))!, 10);
  expect(changedLines).toBeGreaterThan(0);
  expect(changedLines).toBeLessThanOrEqual(16);
  const moments: Moment[] = JSON.parse((await page.getAttribute('body', 'data-moments'))!);
  expect(moments).toHaveLength(times.split(',').length);
  for (const { time, off, changed, draws } of moments) {
    console.log(
      `${name}, ${renderer}, ${time} s: ${(off * 100).toFixed(3)} % off, ${draws.join(' → ')} draw calls`,
    );
    expect(off, `at ${time} s`).toBeLessThanOrEqual(0.001);
    expect(changed, `something has happened until ${time} s`).toBeGreaterThan(0.01);
    expect(draws[1], `draw calls at ${time} s`).toBeLessThan(draws[0]);
  }
  await look(page, `port-${name}`, renderer);
  await expectLinkToSource(page, `ports/${name}`);
});
