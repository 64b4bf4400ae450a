import { encode } from 'uqr';
import { expect, test } from 'vitest';
import { code, sheets, split } from './labels';

test('the path draws the dark modules and no others', () => {
  const text = 'https://cold.example.com/devices/WIF-0001';
  const { size, path } = code(text);
  const drawn = Array.from({ length: size }, () => Array.from({ length: size }, () => false));
  for (const [, x, y, n] of path.matchAll(/M(\d+) (\d+)h(\d+)v1H\d+z/g)) drawn[Number(y)]!.fill(true, Number(x), Number(x) + Number(n));
  expect(drawn).toEqual(encode(text, { ecc: 'Q', border: 0 }).data);
  expect(drawn[0]!.slice(0, 8)).toEqual([true, true, true, true, true, true, true, false]); // a finder pattern
});

test('labels fill sheets', () => {
  const list = Array.from({ length: 25 }, (_, i) => i);
  expect(split(list, sheets[0]!).map((s) => s.length)).toEqual([24, 1]);
  expect(split([], sheets[0]!)).toEqual([]);
  expect(split(list, sheets[1]!).flat()).toEqual(list);
});

test.each(sheets)('$slug fits on its paper', (s) => {
  const [width, height] = s.letter ? [215.9, 279.4] : [210, 297];
  expect(s.left + s.columns * s.width + (s.columns - 1) * s.gap).toBeLessThanOrEqual(width);
  expect(s.top + s.rows * s.height).toBeLessThanOrEqual(height);
});
