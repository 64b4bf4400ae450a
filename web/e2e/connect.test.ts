// Connecting a device: what to copy, what arrives, its first chart.
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { phone, Visitor } from './browser';
import { openShop, type Shop } from './shop';

let { api, page, visitor } = {} as Shop;
const shop = openShop({ viewport: phone });
beforeAll(() => ({ api, page, visitor } = shop));
beforeAll(() => visitor.atOnce());

/** uplink is an event as ChirpStack 4 posts it. */
const uplink = (eui: string, name: string, object: Record<string, number>) =>
  JSON.stringify({ deduplicationId: crypto.randomUUID(), time: new Date().toISOString(), deviceInfo: { applicationName: 'cold', deviceName: name, devEui: eui }, fCnt: 1, fPort: 85, object, rxInfo: [{ rssi: -71 }] });
const post = async (url: string, body: string) => {
  const answer = await fetch(url, { method: 'POST', body });
  expect(answer.status).toBe(200);
};
/** copied is the text of the first thing to copy, with another key where one was made before. */
const copied = async () => {
  const [first, again, make] = [page.getByTestId('to-copy').first(), page.getByRole('button', { name: 'Add a key' }), page.getByRole('button', { name: 'Make its address' })];
  await first.or(again).or(make).waitFor();
  if (await make.count()) await make.click();
  if (await again.count()) await again.click();
  return (await first.textContent()) ?? '';
};

describe('connecting', () => {
  it('shows the first chart of a ChirpStack sensor after three clicks', async () => {
    let clicks = 0;
    const click = async (what: ReturnType<Page['getByRole']>) => {
      clicks++;
      await what.click();
    };
    await page.goto('/');
    await click(page.getByRole('link', { name: 'Connect a device' }));
    await page.getByRole('heading', { name: 'Connect a device' }).waitFor();
    await visitor.fine('what do you have');
    await click(page.getByRole('button', { name: /ChirpStack/ }));
    const url = await copied();
    expect(url).toMatch(new RegExp(`^${shop.server.url}/in/in_[0-9A-Za-z]+$`));
    await page.getByText('Waiting for the first message').waitFor();
    await visitor.fine('what to copy');
    await post(`${url}?event=up`, uplink('24e124136b000001', 'Back freezer', { temperature: -19.4, humidity: 50, battery: 98 }));
    const card = page.locator('[data-sender="24e124136b000001"]');
    await card.getByText('−19.4').first().waitFor();
    await visitor.fine('a sender that waits');
    await click(card.getByRole('button', { name: 'Accept' }));
    await page.getByRole('heading', { name: 'Back freezer' }).waitFor();
    await page.getByRole('region', { name: 'Product zone' }).locator('canvas').waitFor();
    expect(clicks).toBeLessThanOrEqual(3);
    await expect.poll(async () => (await api.send('GET', '/v1/devices')).data.devices).toMatchObject([{ name: 'Back freezer', equipment_type: 'walkin_freezer', current_temp: -19.4, judged: true }]);
  });

  it('lets a person say which value is the product temperature', async () => {
    await page.goto('/connect');
    await page.getByRole('button', { name: /Something else/ }).click();
    await post(await copied(), JSON.stringify({ id: 'odd-1', probeA: 38.3, probeB: 71 }));
    const card = page.locator('[data-sender="odd-1"]');
    await card.getByRole('button', { name: /probeA/ }).click();
    await card.getByRole('button', { name: '°F' }).click();
    await card.getByText('3.5', { exact: false }).first().waitFor();
    await card.getByLabel('Name').fill('Milk cooler');
    await card.getByRole('button', { name: 'Accept' }).click();
    await page.getByRole('heading', { name: 'Milk cooler' }).waitFor();
    await expect.poll(async () => (await api.send('GET', '/v1/devices?q=Milk')).data.devices[0]?.current_temp).toBeCloseTo(3.5, 2);
  });

  it('binds the values of one board, each in its parts of a degree', async () => {
    await page.goto('/connect?with=other');
    await post(await copied(), JSON.stringify({ id: 'raw-1', t_a: -1850, t_b: 35 }));
    const card = page.locator('[data-sender="raw-1"]');
    await card.getByRole('button', { name: /t_a/ }).click();
    await card.getByRole('button', { name: '÷100', exact: true }).click();
    await card.getByText('−18.5').first().waitFor();
    await card.getByRole('button', { name: 'Another probe of this board' }).click();
    const second = card.getByRole('region', { name: 'Probe 2' });
    await second.getByRole('button', { name: /t_b/ }).click();
    await second.getByRole('button', { name: '÷10', exact: true }).click();
    await second.getByText('3.5').first().waitFor();
    await second.getByLabel('Name').fill('Raw cooler');
    await visitor.fine('a board with two values');
    await card.getByRole('button', { name: 'Accept all 2 probes' }).click();
    await expect.poll(() => card.count()).toBe(0);
    const of = async (serial: string) => (await api.send('GET', `/v1/devices/${serial}`)).data.device;
    await expect.poll(async () => (await of('raw-1')).current_temp).toBe(-18.5);
    expect(await of('raw-1-2')).toMatchObject({ name: 'Raw cooler', current_temp: 3.5, equipment_type: 'walkin_cooler' });
    await page.goto('about:blank');
    for (const serial of ['raw-1', 'raw-1-2']) await api.send('DELETE', `/v1/devices/${serial}`);
  });

  it('asks for the address that sensors use, and warns while it is of this computer alone', async () => {
    await page.goto('/connect?with=tts');
    expect(await copied()).toContain('127.0.0.1');
    await page.getByRole('alert').getByText('which only this computer can reach').waitFor();
    await page.getByLabel('Address that your sensors use').selectOption('other');
    await page.getByRole('textbox', { name: 'Another address' }).fill('192.168.1.20:8080');
    await expect.poll(() => page.getByTestId('to-copy').first().textContent()).toMatch(/^http:\/\/192\.168\.1\.20:8080\/in\/in_/);
    expect(await page.getByText('which only this computer can reach').count()).toBe(0);
    await visitor.fine('an address of one\'s own');
    await page.getByRole('button', { name: 'Use this address, in mails and labels too' }).click();
    await page.getByText('Saved.').waitFor();
    expect(await copied()).toContain('http://192.168.1.20:8080/in/in_');
    await page.goto('/labels');
    await page.getByRole('img', { name: 'http://192.168.1.20:8080/w/corner-shop/devices/' }).first().waitFor();
    expect(await page.getByText('only this computer can reach').count()).toBe(0);
    await page.goto('/settings/general');
    await page.getByLabel('Address of this server').selectOption('other');
    await page.getByRole('textbox', { name: 'Another address' }).fill('localhost:8080');
    await page.getByText('Only this computer can reach that address.').waitFor();
    await page.getByLabel('Address', { exact: true }).getByRole('button', { name: 'Save' }).click();
    await page.getByText('http://localhost:8080 is an address that only this computer can reach').waitFor();
    await visitor.fine('an address that leads nowhere');
    await page.evaluate(() => fetch('/api/v1/address', { method: 'PATCH', headers: { 'Content-Type': 'application/json' }, body: '{"address":""}' })); // as the others expect it
  });

  it('makes no source for MQTT where the server does not take it in', async () => {
    const count = async () => (await api.send('GET', '/v1/sources')).data.sources.length;
    const before = await count();
    await page.goto('/connect?with=mqtt');
    await page.getByText('This server does not accept MQTT yet.').waitFor();
    await visitor.fine('MQTT turned off');
    expect(await count()).toBe(before);
  });

  it('takes a phone for a sensor', async () => {
    await page.goto('/connect');
    await page.getByRole('button', { name: /Your phone/ }).click();
    const link = await copied();
    await page.getByRole('img', { name: 'QR code of the link' }).waitFor();
    await page.getByText('A phone cannot reach 127.0.0.1').waitFor();
    await visitor.fine('a phone to be connected');
    const guest = await Visitor.arrive(shop.browser, shop.server, phone);
    const its = guest.page;
    await its.goto(link);
    const send = async (text: string, unit = '°C') => {
      await its.getByLabel('Temperature').fill(text);
      await its.getByLabel('Unit').selectOption(unit);
      await its.getByRole('button', { name: 'Send' }).click();
    };
    // What is no temperature is not sent; what another program sends in its place is not offered.
    for (const [text, why] of [['abc', 'Type a number'], ['500', 'between −100 and 200']] as const) {
      await send(text);
      await its.getByText(why).waitFor();
    }
    await guest.fine('a phone that was told nonsense');
    await post(link.replace('/send#', '/in/'), JSON.stringify({ id: (await its.locator('code').textContent())!, temperature: 'abc', battery: 100 }));
    await page.locator('[data-sender]').getByText('temp').first().waitFor();
    expect(await page.locator('[data-sender]').getByRole('button', { name: /battery/ }).count()).toBe(0);
    await send('38.3', '°F');
    await its.getByText('Accept this phone under Connect a device').waitFor();
    await guest.fine('a phone as a sensor');
    const id = (await its.locator('code').textContent())!;
    const card = page.locator(`[data-sender="${id}"]`);
    await card.getByText('3.5').first().waitFor();
    await expect.poll(() => card.getByLabel('Equipment').inputValue()).toBe('walkin_cooler');
    await card.getByLabel('Name').fill('Thermometer');
    await card.getByRole('button', { name: 'Accept' }).click();
    await page.getByRole('heading', { name: 'Thermometer' }).waitFor();
    await page.getByRole('region', { name: 'Product zone' }).locator('canvas').waitFor();
    await send('−4,5');
    await its.getByText('Stored.').waitFor();
    await expect.poll(async () => (await api.send('GET', `/v1/devices/${id}`)).data.device.current_temp).toBe(-4.5);
    await send('warm');
    await its.getByText('Type a number').waitFor();
    expect(await its.getByText('Stored.').count()).toBe(0); // it was the one before
    await guest.leave();
    await page.goto('about:blank'); // or the page asks for what is gone
    await api.send('DELETE', `/v1/devices/${id}`);
  });

  it('says which values of a known device were left out, and why', async () => {
    await page.goto('/connect');
    await page.getByRole('button', { name: /curl/ }).click();
    const url = /http\S+/.exec(await copied())![0];
    await api.import('serial,name\nknown-1,Known\n');
    await post(url, JSON.stringify({ id: 'known-1', temperature: 'unavailable' }));
    await page.goto('/settings/sources');
    const row = page.locator('[data-source="curl"]');
    await row.getByText('1 value was left out').click();
    await row.getByText('is "unavailable", not a number').waitFor();
    await visitor.fine('what a source left out');
    await page.goto('about:blank');
    await api.send('DELETE', '/v1/devices/known-1');
  });

  it('accepts many at once, and by a list', async () => {
    await page.goto('/connect?with=chirpstack');
    await page.getByText('has a key already').waitFor();
    const url = await copied();
    for (let i = 2; i < 6; i++) await post(url, uplink(`24e124136b00000${i}`, `Probe ${i}`, { temperature: i }));
    await page.getByText('4 devices are waiting').waitFor();
    await page.goto('/');
    await page.getByRole('link', { name: /4 new devices are waiting/ }).click();
    await page.getByRole('button', { name: 'Accept by list' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('List').fill('24e124136b000002,Salad bar,walkin_cooler\n24e124136b000003,Fish counter,fish_cooler\nnobody,X');
    await dialog.getByText('2 devices of this list are waiting.').waitFor();
    await visitor.fine('a list that says which is which');
    await dialog.getByRole('button', { name: 'Accept 2 devices' }).click();
    await page.getByText('2 devices are waiting').waitFor();
    await page.getByRole('button', { name: 'Accept all 2' }).click();
    await expect.poll(async () => (await api.send('GET', '/v1/devices')).data.pagination.total).toBe(6);
    await expect.poll(async () => (await api.send('GET', '/v1/devices?q=Fish')).data.devices[0]).toMatchObject({ equipment_type: 'fish_cooler', current_temp: 3 });
  });

  // Taps from Connect on to the value on the screen, on a phone; what is typed and copied is not counted.
  describe('what people own, in at most six taps', () => {
    let taps = 0;
    const tap = async (what: ReturnType<Page['getByRole']>) => {
      taps++;
      await what.click();
    };
    /** begin chooses a card and makes its address. */
    const begin = async (card: RegExp) => {
      taps = 0;
      await page.goto('/connect');
      await tap(page.getByRole('button', { name: card }));
      await tap(page.getByRole('button', { name: 'Make its address' }));
      return (await page.getByTestId('to-copy').first().textContent())!;
    };
    const overview = async (...names: string[]) => {
      await tap(page.getByRole('link', { name: 'Choose something else' }));
      await tap(page.getByRole('link', { name: 'Back to the overview' }));
      for (const name of names) await page.getByText(name).filter({ visible: true }).first().waitFor();
    };
    const gone = async (serials: string[]) => {
      expect(taps).toBeLessThanOrEqual(6);
      await page.goto('about:blank');
      for (const serial of serials) await api.send('DELETE', `/v1/devices/${serial}`);
    };

    it('a Shelly', async () => {
      const url = await begin(/^Shelly/);
      expect((await fetch(`${url}?hum=55&temp=-18.5&id=shellyht-1`)).status).toBe(200);
      const card = page.locator('[data-sender="shellyht-1"]');
      await card.getByText('−18.5').first().waitFor();
      await tap(card.getByRole('button', { name: 'Accept' }));
      await page.getByRole('heading', { name: 'shellyht-1' }).waitFor();
      await page.getByText('−18.5').first().waitFor();
      await gone(['shellyht-1']);
    });

    it('an ESP32 with two DS18B20', async () => {
      const url = /http:\/\/[^"]+/.exec(await begin(/ESP32/))![0];
      await post(url, JSON.stringify({ id: 'esp32-1', 'DS18B20-1': { Id: '0316A2794C21', Temperature: -18.9 }, 'DS18B20-2': { Id: '0416C17B2E55', Temperature: 3.2 } }));
      const card = page.locator('[data-sender="esp32-1"]');
      for (const shown of ['−18.9', '3.2']) await card.getByText(shown).first().waitFor();
      await visitor.fine('a board with two probes');
      await tap(card.getByRole('button', { name: 'Accept all 2 probes' }));
      await expect.poll(() => card.count()).toBe(0);
      await overview('−18.9', '3.2');
      await gone(['esp32-1-0316A2794C21', 'esp32-1-0416C17B2E55']);
    });

    it('a Zigbee bridge with ten sensors', async () => {
      const key = /token: (\S+)/.exec(await begin(/^Home Assistant/))![1]!;
      const ids = Array.from({ length: 10 }, (_, i) => `zigbee_${i}`);
      const lines = ids.map((id, i) => `°C,domain=sensor,entity_id=${id}_temperature,friendly_name=Cooler\\ ${i} value=${2 + i / 10}`).join('\n');
      expect((await fetch(`${shop.server.url}/api/v2/write`, { method: 'POST', headers: { Authorization: `Token ${key}` }, body: lines })).status).toBe(204);
      await tap(page.getByRole('button', { name: 'Accept all 10' }));
      await expect.poll(() => page.locator('[data-sender]').count()).toBe(0);
      await overview('Cooler 0', '2.1');
      expect((await api.send('GET', '/v1/devices?q=Cooler&per_page=100')).data.devices.filter((d: { name: string }) => /^Cooler \d$/.test(d.name))).toHaveLength(10);
      await gone(ids.map((id) => `sensor.${id}_temperature`));
    });
  });

  it('accepts that silence is noticed later than warm goods', async () => {
    await api.send('POST', '/v1/devices', { serial: 'RARE-1', name: 'Rare cooler', equipment_type: 'walkin_cooler' });
    // What the server offers after days of gaps; who takes it, and what is sent then, is the page's.
    await page.route('**/api/v1/devices/RARE-1', async (route) => {
      if (route.request().method() !== 'GET') return route.continue();
      const answer = await route.fetch();
      const body = await answer.json();
      body.data.device.silence = { ...body.data.device.silence, usually_s: 7200, offered_s: 10800 };
      await route.fulfill({ response: answer, json: body });
    });
    await page.goto('/devices/RARE-1');
    const offer = page.getByRole('region', { name: 'Offline after' });
    await offer.getByText(/Reports every 2\sh: you would hear of silence after 3\sh/).waitFor();
    await visitor.fine('a silence that is offered');
    await offer.getByRole('button', { name: 'Accept' }).click();
    await expect.poll(async () => (await api.send('GET', '/v1/devices/RARE-1')).data.device).toMatchObject({ offline_after_s: 10800, silence: { by: 'declared' } });
    await page.goto('about:blank');
    await page.unroute('**/api/v1/devices/RARE-1');
    await api.send('DELETE', '/v1/devices/RARE-1');
  });

  it('takes a sender for a device that was registered before', async () => {
    await api.send('POST', '/v1/devices', { serial: 'PLAN-1', name: 'Planned cooler', equipment_type: 'walkin_cooler' });
    await page.goto('/connect');
    await page.getByRole('button', { name: /Python/ }).click();
    const url = /urlopen\("([^"]+)"/.exec(await copied())![1]!;
    await post(url, JSON.stringify({ id: 'board-7', temperature: 2.5 }));
    const card = page.locator('[data-sender="board-7"]');
    await card.getByLabel('This is').selectOption('PLAN-1');
    await visitor.fine('a sender for a device that exists');
    await card.getByRole('button', { name: 'Accept' }).click();
    await page.getByRole('heading', { name: 'Planned cooler' }).waitFor();
    await expect.poll(async () => (await api.send('GET', '/v1/devices/PLAN-1')).data.device.current_temp).toBe(2.5);
  });

  it('has several keys, and says who is heard by the one that is replaced', async () => {
    await page.goto('/connect?with=curl');
    const first = /http\S+/.exec(await copied())![0];
    await page.goto('/connect?with=curl');
    const second = /http\S+/.exec(await copied())![0];
    expect(second).not.toBe(first);
    await api.import('serial,name\nkeyed-1,Ice cream\nkeyed-2,Milk\n');
    await post(first, JSON.stringify({ id: 'keyed-1', temperature: -19 }));
    await post(second, JSON.stringify({ id: 'keyed-2', temperature: 3 }));
    await page.goto('/connect?with=curl');
    const key = (name: string) => page.locator('[data-key]').filter({ hasText: `Heard by it: ${name}` });
    await key('Ice cream').getByText('used').waitFor();
    await visitor.fine('the keys of a source');
    await key('Milk').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByText('No longer heard: Milk').waitFor();
    await visitor.fine('a key that is revoked');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await key('Ice cream').getByRole('button', { name: 'Replace' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Heard by it: Ice cream.').waitFor();
    await visitor.fine('a key that is replaced');
    await dialog.getByRole('button', { name: 'Replace' }).click();
    const third = /http\S+/.exec((await page.getByTestId('to-copy').first().textContent())!)![0];
    expect((await fetch(first, { method: 'POST', body: '{"id":"keyed-1","temperature":-18}' })).status).toBe(401);
    await post(second, JSON.stringify({ id: 'keyed-2', temperature: 4 }));
    await page.goto('/settings/sources');
    await page.locator('[data-source="curl"]').getByRole('button', { name: 'Keys' }).click();
    await page.getByText('Not since it was replaced: Ice cream.').waitFor();
    await visitor.fine('who has not come back');
    await post(third, JSON.stringify({ id: 'keyed-1', temperature: -18 }));
    await page.goto('about:blank');
    for (const serial of ['keyed-1', 'keyed-2']) await api.send('DELETE', `/v1/devices/${serial}`);
  });

  it('reads a broker, and says why it cannot', async () => {
    await page.goto('/connect');
    await page.getByRole('button', { name: /Zigbee2MQTT/ }).click();
    await page.getByRole('textbox', { name: 'Broker' }).fill('mqtt://10.255.255.1:1883');
    await visitor.fine('which broker');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByText(/is not public/).waitFor();
    await visitor.fine('a broker that is not allowed');
    await page.getByRole('link', { name: 'Edit' }).click();
    const row = page.locator('[data-source="Zigbee2MQTT"]');
    await row.getByText('unknown devices wait').waitFor();
    await row.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('A device that nobody has registered').selectOption('register');
    await dialog.getByRole('textbox', { name: 'Topics' }).fill('#');
    const made = (await api.send('GET', '/v1/sources')).data.sources.find((s: { name: string }) => s.name === 'Zigbee2MQTT');
    await visitor.refused('PATCH', `/api/v1/sources/${made.id}`, 422, () => dialog.getByRole('button', { name: 'Save' }).click());
    await dialog.getByText('is not a topic that can be subscribed to').waitFor();
    await visitor.fine('a topic that is refused');
    await dialog.getByRole('textbox', { name: 'Topics' }).fill('zigbee2mqtt/# other/+');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText('unknown devices are registered').waitFor();
    await visitor.fine('the sources');
    const now = async () => (await api.send('GET', '/v1/sources')).data.sources.find((s: { name: string }) => s.name === 'Zigbee2MQTT');
    await expect.poll(now).toMatchObject({ kind: 'mqtt', on_unknown: 'register', broker: { topics: ['zigbee2mqtt/#', 'other/+'], status: 'failing' } });
    await row.getByRole('button', { name: 'Remove Zigbee2MQTT' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await row.waitFor({ state: 'detached' });
  });

  it('makes a source with a key of its own', async () => {
    await page.goto('/settings/sources');
    await page.getByRole('button', { name: 'Add source' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Kitchen gateway');
    await dialog.getByLabel('What is sent').selectOption({ label: 'Milesight gateway, or ChirpStack v3' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    const url = (await dialog.locator('code').first().textContent())!;
    await post(url, JSON.stringify({ devEUI: '24e124136b0000aa', applicationID: '1', data: { temperature: 3 } }));
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByText('Kitchen gateway').waitFor();
    await page.goto('/connect');
    await page.getByText('Kitchen gateway: 1 device is waiting').waitFor();
  });
});
