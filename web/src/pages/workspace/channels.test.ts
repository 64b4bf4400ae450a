import { describe, expect, test } from 'vitest';
import { settings, type Values, wayOf, ways, wrongs } from './channels';

const way = (slug: string) => ways.find((w) => w.slug === slug)!;
const hex = (n: number) => 'a1'.repeat(n / 2);

describe('what is copied becomes the credential', () => {
  const cases: [string, Values, string][] = [
    ['slack', { hook: ' https://hooks.slack.com/services/T12345678/B12345678/abcDEF123456abcDEF123456 ' }, 'slack://hook:T12345678-B12345678-abcDEF123456abcDEF123456@webhook'],
    ['teams', { hook: 'https://prod-31.westeurope.logic.azure.com:443/workflows/ab/triggers/manual/paths/invoke?api-version=2016-06-01&sig=x_y' }, 'teams://prod-31.westeurope.logic.azure.com:443/workflows/ab/triggers/manual/paths/invoke?api-version=2016-06-01&sig=x_y'],
    [
      'teams',
      { hook: 'https://shop.webhook.office.com/webhookb2/11111111-4444-4444-8444-cccccccccccc@22222222-4444-4444-8444-cccccccccccc/IncomingWebhook/33333333012222222222333333333344/44444444-4444-4444-8444-cccccccccccc/V2ES' },
      'teams://11111111-4444-4444-8444-cccccccccccc@22222222-4444-4444-8444-cccccccccccc/33333333012222222222333333333344/44444444-4444-4444-8444-cccccccccccc/V2ES?host=shop.webhook.office.com',
    ],
    ['discord', { hook: 'https://discord.com/api/webhooks/123456789/to-ken' }, 'discord://to-ken@123456789'],
    ['telegram', { token: '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw', chat: '-100123' }, 'telegram://110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw@telegram?chats=-100123'],
    ['ntfy', { topic: 'shop-x', server: 'https://ntfy.sh', token: '' }, 'ntfy://ntfy.sh/shop-x'],
    ['ntfy', { topic: 'shop-x', server: 'http://10.0.0.5:8080', token: 'tk_a b' }, 'ntfy://:tk_a%20b@10.0.0.5:8080/shop-x?scheme=http'],
    ['pagerduty', { key: hex(32) }, `pagerduty:///${hex(32)}`],
    ['sms', { sid: `AC${hex(32)}`, token: hex(32), from: '+1 (501) 712-2661', to: '+49 151 12345678' }, `twilio://AC${hex(32)}:${hex(32)}@sms?from=%2B15017122661&to=%2B4915112345678`],
    ['call', { sid: `AC${hex(32)}`, token: hex(32), from: '+1 501 712 2661', to: '+49/151/12345678' }, `twilio://AC${hex(32)}:${hex(32)}@call?from=%2B15017122661&to=%2B4915112345678`],
    ['webhook', { hook: 'https://example.com/x' }, 'https://example.com/x'],
  ];
  test.each(cases)('%s %#', (slug, values, url) => {
    expect(wrongs(way(slug), values)).toEqual({});
    expect(settings(way(slug), values)).toEqual({ url });
  });
  test('e-mail', () => expect(settings(way('email'), { to: 'a@example.com, b@example.com ' })).toEqual({ to: ['a@example.com', 'b@example.com'] }));
});

test.each([
  ['slack', { hook: 'https://example.com/services/T1/B1/x' }, ['hook']],
  ['teams', { hook: 'https://prod.logic.azure.com/workflows/x' }, ['hook']],
  ['telegram', { token: '110201543', chat: 'Kitchen' }, ['token', 'chat']],
  ['ntfy', { topic: 'a b', server: '' }, ['topic', 'server']],
  ['pagerduty', { key: 'x' }, ['key']],
  ['sms', { sid: 'AC1', token: 'x', from: '0151', to: '' }, ['sid', 'token', 'from', 'to']],
  ['call', { sid: `AC${hex(32)}`, token: hex(32), from: `MG${hex(32)}`, to: '+49151' }, ['from', 'to']],
  ['email', { to: '' }, ['to']],
] as [string, Values, string[]][])('what cannot be right is named: %s', (slug, values, fields) => expect(Object.keys(wrongs(way(slug), values))).toEqual(fields));

test('a stored channel is recognised by what is told of it', () => {
  const of = (kind: 'email' | 'webhook' | 'service' | 'call' | 'push', url: string | null) => wayOf({ kind, url }).slug;
  expect([of('email', null), of('webhook', 'https://a/•••'), of('service', 'twilio://•••'), of('service', 'slack://•••'), of('service', 'gotify://•••'), of('call', 'twilio://•••'), of('push', 'https://fcm.googleapis.com/•••')]).toEqual(['email', 'webhook', 'sms', 'slack', 'other', 'call', 'push']);
});

test('a topic that is offered is never twice the same', () => {
  const offer = () => way('ntfy').fields[0]!.from!();
  expect(offer()).not.toBe(offer());
  expect(wrongs(way('ntfy'), { topic: offer(), server: 'https://ntfy.sh' })).toEqual({});
});
