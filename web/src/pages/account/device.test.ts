import { expect, test } from 'vitest';
import { ability, called, hexOf } from './device';

const browser = (userAgent: string, more = {}) => ({ isSecureContext: true, PushManager: {}, navigator: { userAgent, serviceWorker: {} }, Notification: { permission: 'default' }, ...more });
const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';
const android = 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36';

test('what keeps a browser from being notified', () => {
  expect(ability(browser(android))).toBe('yes');
  expect(ability(browser(android, { isSecureContext: false }))).toBe('insecure');
  expect(ability(browser(android, { Notification: { permission: 'denied' } }))).toBe('denied');
  expect(ability(browser(android, { PushManager: undefined }))).toBe('unsupported');
  expect(ability(browser(iphone, { PushManager: undefined }))).toBe('install');
});

test('browsers have names that people know', () => {
  expect([iphone, android, 'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0', 'x'].map(called)).toEqual(['iPhone, Safari', 'Android, Chrome', 'Linux, Firefox', 'Browser']);
});

test('an endpoint is told as the server tells it', async () => expect(await hexOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'));
