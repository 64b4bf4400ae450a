import { describe, expect, test } from 'vitest';
import { match, type Route } from './match';

const page = (path: string): Route => ({ path, load: () => Promise.reject(new Error('not loaded here')) });

describe('match', () => {
  const all = [page('/'), page('/devices/:serial'), page('/wall')];
  test.each<[string, string | undefined, Record<string, string>]>([
    ['/', '/', {}],
    ['/wall/', '/wall', {}],
    ['/devices/WIF-0001', '/devices/:serial', { serial: 'WIF-0001' }],
    ['/devices/a%3Ab', '/devices/:serial', { serial: 'a:b' }],
    ['/devices/%E0%A4%A', '/devices/:serial', { serial: '%E0%A4%A' }],
    ['/devices', undefined, {}],
    ['/devices/a/b', undefined, {}],
  ])('%s', (path, want, params) => {
    const m = match(all, path);
    expect(m?.route.path).toBe(want);
    if (m) expect(m.params).toEqual(params);
  });
});
