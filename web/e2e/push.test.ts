// The lock screen: a phone that was switched on in the account is told of an alert by the
// server, shows it with a button, and the button acknowledges. What stands in for the push
// service of the browser's maker hands on what the server sent.
import { createDecipheriv, createECDH, createSign, generateKeyPairSync, hkdfSync, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server as Receiver } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launch, phone, Visitor, whole } from './browser';
import { Api, Office, Server } from './server';

/** certified returns a key and a certificate of it for 127.0.0.1, in PEM. */
function certified(): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const der = (tag: number, ...parts: Buffer[]): Buffer => {
    const all = Buffer.concat(parts);
    const length = all.length < 128 ? [all.length] : all.length < 256 ? [0x81, all.length] : [0x82, all.length >> 8, all.length & 255];
    return Buffer.concat([Buffer.from([tag, ...length]), all]);
  };
  const hex = (s: string) => Buffer.from(s, 'hex');
  const name = der(0x30, der(0x31, der(0x30, hex('0603550403'), der(0x0c, Buffer.from('push')))));
  const ecdsa = der(0x30, hex('06082a8648ce3d040302'));
  const alternative = der(0x30, hex('0603551d11'), der(0x04, der(0x30, der(0x87, Buffer.from([127, 0, 0, 1])))));
  const valid = der(0x30, der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231000000Z')));
  const body = der(0x30, hex('a003020102'), hex('020101'), ecdsa, name, valid, name, publicKey.export({ type: 'spki', format: 'der' }), der(0xa3, der(0x30, alternative)));
  const signed = der(0x30, body, ecdsa, der(0x03, Buffer.from([0]), createSign('SHA256').update(body).sign(privateKey)));
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), cert: `-----BEGIN CERTIFICATE-----\n${signed.toString('base64')}\n-----END CERTIFICATE-----\n` };
}

const own = createECDH('prime256v1');
own.generateKeys();
const auth = randomBytes(16);

/** opened decrypts what was encrypted for the device (RFC 8291). */
function opened(body: Buffer): string {
  const [salt, sender, sealed] = [body.subarray(0, 16), body.subarray(21, 21 + body[20]!), body.subarray(21 + body[20]!)];
  const derive = (secret: Buffer, salt: Buffer, info: Buffer | string, bytes: number) => Buffer.from(hkdfSync('sha256', secret, salt, info, bytes));
  const secret = derive(own.computeSecret(sender), auth, Buffer.concat([Buffer.from('WebPush: info\0'), own.getPublicKey(), sender]), 32);
  const cipher = createDecipheriv('aes-128-gcm', derive(secret, salt, 'Content-Encoding: aes128gcm\0', 16), derive(secret, salt, 'Content-Encoding: nonce\0', 12));
  cipher.setAuthTag(sealed.subarray(-16));
  const plain = Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]);
  return plain.subarray(0, plain.lastIndexOf(2)).toString(); // the rest is padding
}

let server: Server;
let browser: Browser;
let service: Receiver;
let visitor: Visitor;
let page: Page;
let api: Api;
let cdp: CDPSession;
let registrationId = '';
const pushed: string[] = [];
const files = mkdtempSync(join(tmpdir(), 'rimewatch-push-'));

beforeAll(async () => {
  const { key, cert } = certified();
  service = createServer({ key, cert }, (request, answer) => {
    const parts: Buffer[] = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      pushed.push(opened(Buffer.concat(parts)));
      answer.writeHead(201).end();
    });
  });
  await new Promise<void>((ready) => service.listen(0, '127.0.0.1', ready));
  writeFileSync(join(files, 'cert.pem'), cert);
  process.env.SSL_CERT_FILE = join(files, 'cert.pem');
  [server, browser] = await Promise.all([Server.start('--outbound-allow', '127.0.0.1/32'), launch(whole)]);
  const office = new Office(server.url);
  const owner = await office.open(server.code);
  api = new Api(server.url, await office.token());
  await api.send('POST', '/v1/devices', { serial: 'WIC-1', name: 'Back walk-in', equipment_type: 'walkin_cooler', limits: { temp_max: 5, delay_s: 0, critical_max: 8, critical_delay_s: 0 } });
  visitor = await Visitor.arrive(browser, server, phone, { serviceWorkers: 'allow', permissions: ['notifications'] });
  page = visitor.page;
  // The push service of the maker is not asked: its address is the one above.
  const subscription = { endpoint: `https://127.0.0.1:${(service.address() as AddressInfo).port}/phone`, keys: { p256dh: own.getPublicKey('base64url'), auth: auth.toString('base64url') } };
  await page.addInitScript((s) => {
    PushManager.prototype.subscribe = async () => ({ endpoint: s.endpoint, toJSON: () => s }) as unknown as PushSubscription;
  }, subscription);
  cdp = await page.context().newCDPSession(page);
  cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => (registrationId = registrations.at(-1)?.registrationId ?? registrationId));
  await cdp.send('ServiceWorker.enable');
  await visitor.signIn(owner.email, owner.password);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
  service?.close();
  rmSync(files, { recursive: true, force: true });
});

/**
 * delivered hands what the server has sent since to the browser, and waits until the worker shows it. What is not
 * shown a second later is handed over once more: on a busy machine the browser has lost one.
 */
async function delivered(looks: object) {
  await expect.poll(() => registrationId !== '' && pushed.length > 0).toBe(true);
  const data = pushed.shift()!;
  const { tag } = JSON.parse(data) as { tag: string };
  const look = async () => {
    const before = await shown();
    if (before.some((n) => n.tag === tag)) return before;
    await cdp.send('ServiceWorker.deliverPushMessage', { origin: server.url, registrationId, data });
    return shown();
  };
  await expect.poll(look, { interval: 1000 }).toContainEqual(looks);
}

const shown = () =>
  page.evaluate(async () => {
    const all = await (await navigator.serviceWorker.ready).getNotifications();
    return all.map(({ title, body, tag, requireInteraction, actions }: Notification & { actions?: { title: string }[] }) => ({ title, body, tag, requireInteraction, actions: actions?.map((a) => a.title) }));
  });

it('is switched on in the account, and a test arrives', async () => {
  await page.goto('/account');
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await visitor.answered('POST', '/api/v1/me/push', () => page.getByRole('button', { name: 'Notify me here' }).click());
  await delivered(expect.objectContaining({ tag: 'test', actions: [] }));
  expect(await shown()).toHaveLength(1);
});

it('shows an alert with a button', async () => {
  await api.send('POST', '/v1/readings', { device_serial: 'WIC-1', product_zone_temp: 15.5 });
  await delivered({ title: expect.stringContaining('Back walk-in'), body: expect.stringContaining('15.5'), tag: 'alert-1', requireInteraction: true, actions: ['Acknowledge'] });
});

it('acknowledges by the button, and says so', async () => {
  const [worker] = page.context().serviceWorkers();
  // Nobody can press a button outside of the page here: the worker hears the event that this would be.
  await worker!.evaluate(async () => {
    const scope = globalThis as unknown as { registration: ServiceWorkerRegistration };
    const [notification] = await scope.registration.getNotifications({ tag: 'alert-1' });
    let done: Promise<unknown> = Promise.resolve();
    const pressed = Object.assign(new Event('notificationclick'), { notification, action: 'acknowledge', waitUntil: (p: Promise<unknown>) => (done = p) });
    dispatchEvent(pressed);
    await done;
  });
  await expect.poll(shown).toContainEqual(expect.objectContaining({ tag: 'alert-1', body: 'Acknowledged', requireInteraction: false, actions: [] }));
  const { alert } = (await api.send('GET', '/v1/alerts/1')).data;
  expect(alert.acknowledged_by).toMatch(/^Ada/);
  await page.goto('/alerts/1');
  await page.getByText(/Acknowledged by Ada/).first().waitFor();
});
