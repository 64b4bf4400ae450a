import { afterEach, describe, expect, test } from 'vitest';
import { read, shown } from './entry';
import { reader } from './reader.svelte';

const units = 'c';
afterEach(() => reader.adopt({ units, clock: '24h', dates: 'dmy' }));

describe.each(['dmy', 'mdy', 'ymd'] as const)('%s', (dates) => {
  test.each(['24h', '12h'] as const)('what is shown by a clock of %s is read as it was', (clock) => {
    reader.adopt({ units, clock, dates });
    for (const v of ['2026-11-20T19:47', '2026-01-02T00:05', '2024-02-29T12:00', '2026-12-31T23:59']) expect(read(shown(v), false)).toBe(v);
    for (const v of ['00:00', '00:30', '09:05', '12:00', '12:59', '22:00']) expect(read(shown(v), true)).toBe(v);
  });
});

test('a value as each reader has it', () => {
  expect([shown('2026-11-20T19:47'), shown('22:00'), shown('')]).toEqual(['20/11/2026 19:47', '22:00', '']);
  reader.adopt({ units, clock: '12h', dates: 'mdy' });
  expect([shown('2026-11-20T19:47'), shown('22:00')]).toEqual(['11/20/2026 7:47 PM', '10:00 PM']);
  reader.adopt({ units, clock: '24h', dates: 'ymd' });
  expect(shown('2026-11-20T19:47')).toBe('2026-11-20 19:47');
});

test.each([
  ['20.11.2026, 19:47', '2026-11-20T19:47'], ['20-11-2026 7 pm', '2026-11-20T19:00'], ['2026-11-20T19:47', '2026-11-20T19:47'],
  ['5/3/2026 7:05 a. m.', '2026-03-05T07:05'], ['20/11/2026 7:47\u202fp.\u00a0m.', '2026-11-20T19:47'],
  ['11/20/2026 19:47', ''], ['29/02/2026 10:00', ''], ['20/11/26 19:47', ''], ['20/11/2026', ''], ['20/11/2026 24:00', ''], ['20/11/2026 13 pm', ''], ['19:47', ''], ['tomorrow', ''], ['', ''],
])('“%s” is read as “%s”', (text, want) => expect(read(text, false)).toBe(want));

test.each([['7', '07:00'], ['19.47', '19:47'], ['12 am', '00:00'], ['20/11/2026 19:47', ''], ['25:00', ''], ['7:5', '']])('the time “%s” is read as “%s”', (text, want) => expect(read(text, true)).toBe(want));
