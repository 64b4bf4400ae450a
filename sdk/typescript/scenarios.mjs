// The scenarios that every client passes (e2e/sdk_test.go): scenarios.mjs NAME [ARGUMENT…], against $RIMEWATCH_URL with
// $RIMEWATCH_TOKEN. Each prints a line of JSON for whatever the test wants to see.
import { Rimewatch, RimewatchError, verifyWebhook } from './dist/index.js';

const rime = new Rimewatch(process.env.RIMEWATCH_URL, process.env.RIMEWATCH_TOKEN, { minBackoff: 10, maxBackoff: 100 });
const show = (...values) => console.log(JSON.stringify(values));
const refusal = (call) =>
  call.then(
    () => undefined,
    (e) => {
      if (!(e instanceof RimewatchError)) throw e;
      return e;
    },
  );

const scenarios = {
  async lists(site) {
    const serials = [];
    for await (const device of rime.all('/v1/devices', { query: { site_id: Number(site), 'label.row': '1' } })) serials.push(device.serial);
    show(serials);
  },
  async refused() {
    const e = await refusal(rime.post('/v1/readings', { body: { device_serial: 'S-1', humidity: 500 } }));
    show(e.status, e.code, Object.keys(e.fields).sort(), Boolean(e.requestId));
  },
  async changed(site) {
    const first = await rime.request('get', '/v1/sites/{id}', { path: { id: site } });
    await rime.patch('/v1/sites/{id}', { path: { id: site }, body: { address: '1 High Street' }, ifMatch: first.etag });
    const e = await refusal(rime.patch('/v1/sites/{id}', { path: { id: site }, body: { address: '2 High Street' }, ifMatch: first.etag }));
    show(e.status, e.code);
    show((await rime.get('/v1/sites/{id}', { path: { id: site } })).site.address);
  },
  async merged(serial) {
    await rime.patch('/v1/devices/{serial}', { path: { serial }, body: { labels: { row: null, aisle: '7' } }, merge: true });
    show((await rime.get('/v1/devices/{serial}', { path: { serial } })).device.labels);
  },
  async created(serial) {
    show((await rime.post('/v1/devices', { body: { serial, equipment_type: 'walkin_freezer' } })).device.serial);
  },
  async untimed(serial) {
    await rime.post('/v1/readings', { body: { device_serial: serial, product_zone_temp: -18 } }).catch((e) => {
      if (e instanceof RimewatchError) throw e;
      show('broken');
    });
  },
  async timed(serial, at) {
    show((await rime.post('/v1/readings', { body: { device_serial: serial, recorded_at: at, product_zone_temp: -18 } })).reading.product_zone_temp);
  },
  async history(serials) {
    const rows = [];
    for await (const row of rime.lines('/v1/readings', { query: { serials, step: 'raw' } })) rows.push(row);
    const key = (r) => `${r.device_serial} ${r.recorded_at}`;
    show(rows.length, rows.every((r, i) => i === 0 || key(rows[i - 1]) <= key(r)));
  },
  async events(after, types, n) {
    for await (const event of rime.events({ after, types: types.split(','), every: 50 })) {
      show(event.type, event.subject, event.id);
      if (--n === 0) return;
    }
  },
  async stream(n) {
    for await (const message of rime.stream([{ channel: 'devices' }])) {
      if (message.op === 'subscribed') {
        show('subscribed', message.recovered);
        continue;
      }
      show(message.event, message.data.device.serial);
      if (--n === 0) return;
    }
  },
  async webhook(secret, ...cases) {
    for (const { headers, body, now } of cases.map(JSON.parse)) show(await verifyWebhook(secret, headers, body, new Date(now * 1000)));
  },
  async hooks(url, since) {
    const made = await rime.post('/v1/webhooks', { body: { url, types: ['alert.opened'] } });
    const path = { id: made.webhook.id };
    show(made.webhook.types, made.secret.startsWith('whsec_'));
    const { delivery } = await rime.post('/v1/webhooks/{id}/ping', { path });
    const { deliveries } = await rime.get('/v1/webhooks/{id}/deliveries', { path });
    show(deliveries.length === 1 && deliveries[0].id === delivery.id);
    show((await rime.post('/v1/webhooks/{id}/rotate', { path, body: {} })).secret !== made.secret);
    show((await rime.post('/v1/webhooks/{id}/replay', { path, body: { from: since } })).webhook.id === path.id);
    show((await rime.patch('/v1/webhooks/{id}', { path, body: { description: 'ERP', enabled: false } })).webhook.enabled);
    show((await rime.get('/v1/webhooks', {})).webhooks.map((w) => w.description));
    await rime.delete('/v1/webhooks/{id}', { path });
    const e = await refusal(rime.get('/v1/webhooks/{id}', { path }));
    show(e.status, e.code);
  },
};

await scenarios[process.argv[2]](...process.argv.slice(3));
