import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { recorded } from '../../demos/benchmark/recorded/index.js';
import { chipOf } from '../../demos/lib/deviceName.js';

test('the first page says what was recorded', () => {
  const page = readFileSync(new URL('../../demos/index.html', import.meta.url), 'utf8');
  const [, count, before, after, chip] =
    /([\d,]+) characters cost <b>([\d.]+) ms<\/b> of JavaScript a frame as SkinnedMeshes, <b>([\d.]+) ms<\/b>.*? an (.*?)\)<\/a>/s.exec(
      page,
    )!;
  const timeOf = (contender: string) =>
    recorded[0].rows.find(
      (row) => row.contender === contender && row.count === Number(count.replace(',', '')),
    )!.js;
  expect(Number(before)).toBe(Number(timeOf('skinned').toPrecision(2)));
  expect(Number(after)).toBe(Number(timeOf('tracks').toPrecision(2)));
  expect(chip).toBe(chipOf(recorded[0].device));
});
