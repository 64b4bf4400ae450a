import { expect, it } from 'vitest';
import { habits } from './habits';

it.each([
  ['en-US', { units: 'f', clock: '12h', dates: 'mdy' }],
  ['en', { units: 'f', clock: '12h', dates: 'mdy' }], // nothing said: the United States
  ['es-US', { units: 'f', clock: '12h', dates: 'dmy' }],
  ['en-GB', { units: 'c', clock: '24h', dates: 'dmy' }],
  ['es-MX', { units: 'c', clock: '12h', dates: 'dmy' }],
  ['es', { units: 'c', clock: '24h', dates: 'dmy' }],
  ['de-DE', { units: 'c', clock: '24h', dates: 'dmy' }],
  ['sv-SE', { units: 'c', clock: '24h', dates: 'ymd' }],
  ['fa-IR', { units: 'c', clock: '24h', dates: 'ymd' }],
] as const)('%s', (language, want) => expect(habits(language)).toEqual(want));
