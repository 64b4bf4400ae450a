// What every page loads and what the overview shows have no icon that comes with the other pages.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { needed, source } from '../../scripts/texts.mjs';
import { more } from './icons';

test('the frame and the overview have their icons at once', () => {
  const first = [...needed('App.svelte', needed('pages/overview/Overview.svelte')), ...needed('pages/overview/Table.svelte')];
  expect(first).toContain('frame/Frame.svelte');
  const later = (file) => Object.keys(more).filter((name) => new RegExp(`(name=|icon=|icon: ?|\\? |: )["'{]*${name}["']`).test(readFileSync(join(source, file), 'utf8')));
  expect(first.filter((f) => later(f).length).map((f) => `${f}: ${later(f)}`)).toEqual([]);
  expect(later('pages/device/Device.svelte')).toEqual(['edit', 'wrench']);
});
