import { describe, expect, test } from 'vitest';
import { here } from './api/here';
import { pageAt, parted } from './addresses';
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

describe('addresses of a workspace', () => {
  test.each([
    ['/w/corner-shop/devices/a%3Ab', 'corner-shop', '/devices/a%3Ab'],
    ['/w/corner-shop', 'corner-shop', '/'],
    ['/w/corner-shop/', 'corner-shop', '/'],
    ['/wall', '', '/wall'],
    ['/w', '', '/w'],
  ])('%s', (pathname, slug, path) => expect(parted(pathname)).toEqual({ slug, path }));
  test('pages that anybody may see are in none', () => {
    here.slug = 'corner-shop';
    expect(['/', '/devices/x', '/sign-in?to=/', '/policies/terms', '/status#rw_x', '/statuses', '/w/other/'].map(pageAt)).toEqual([
      '/w/corner-shop/', '/w/corner-shop/devices/x', '/sign-in?to=/', '/policies/terms', '/status#rw_x', '/w/corner-shop/statuses', '/w/other/',
    ]);
    here.slug = '';
    expect(pageAt('/devices/x')).toBe('/devices/x');
  });
});
