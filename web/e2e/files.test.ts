// The files of loggers, brought to the page of their unit.
import type { Locator } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { desktop, phone } from './browser';
import { openShop, type Shop } from './shop';

let { api, page, visitor } = {} as Shop;
const shop = openShop({ viewport: phone });
beforeAll(() => ({ api, page, visitor } = shop));

const hour = 3_600_000;
const day = new Date(Date.now() - 3 * 24 * hour).toISOString().slice(0, 10);
/** clock is a time of that day as a logger writes it. */
const clock = (minute: number) => `${day} ${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
/** table is a file of a logger: a reading every ten minutes of two hours, the first at an hour of the day. */
const table = (from: number, serial: string, temp: (i: number) => number) =>
  `Serial: ${serial}\n\nNo;Time;Temperature (°C)\n${Array.from({ length: 12 }, (_, i) => `${i + 1};${clock(60 * from + 10 * i)};${temp(i).toFixed(1).replace('.', ',')}`).join('\n')}\n`;
const cold = (file: number) => (i: number) => -20 + ((7 * i + 5 * file) % 12) / 10;
const text = (name: string, content: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(content) });
const stored = async (serial: string) => (await api.send('GET', `/v1/devices/${serial}/readings?from=${day}T00:00:00%2B09:00&to=${new Date().toISOString()}&per_page=1000`)).data.readings as { recorded_at: string }[];

describe('files of loggers', () => {
  beforeAll(async () => {
    for (const serial of ['FILES-1', 'FILES-2']) await api.send('POST', '/v1/devices', { serial, name: `Freezer ${serial}`, equipment_type: 'walkin_freezer' });
  });

  it('stores a folder of five in three taps, on a phone', async () => {
    let taps = 0;
    const tap = async (what: Locator) => {
      taps++;
      await what.click();
    };
    await page.goto('/');
    await tap(page.getByRole('link', { name: /Freezer FILES-1/ }).first());
    await page.getByRole('heading', { name: 'Logger files' }).waitFor();
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), tap(page.getByText('Choose files'))]);
    // The third is warm; the fifth has a row that is none.
    await chooser.setFiles([
      text('monday.csv', table(1, 'TAG-1', cold(0))),
      text('tuesday.csv', table(3, 'TAG-1', cold(1))),
      text('warm.csv', table(5, 'TAG-1', () => -2)),
      text('thursday.csv', table(7, 'TAG-1', cold(2))),
      text('short.csv', table(9, 'TAG-1', cold(3)) + '13;;-19,0\n'),
    ]);
    const dialog = page.getByRole('dialog', { name: 'Add 5 logger files' });
    const warm = dialog.getByRole('listitem').filter({ hasText: 'warm.csv' });
    await warm.getByText(/out of limits for/).waitFor();
    await dialog.getByText('1 row: has no time').waitFor();
    expect(await dialog.getByText('12 new readings').count()).toBe(5);
    await visitor.fine('five files before they are stored');
    await tap(dialog.getByRole('button', { name: 'Add 5 files' }));
    await page.getByText('60 readings added.').waitFor();
    await dialog.waitFor({ state: 'detached' });
    expect(taps).toBeLessThanOrEqual(3);
    // The clock of the logger is that of Tokyo, as the shop's.
    const list = await stored('FILES-1');
    expect(list).toHaveLength(60);
    expect(list[0]!.recorded_at).toBe(new Date(`${day}T01:00:00+09:00`).toISOString());
    await page.getByRole('region', { name: 'Product zone' }).locator('canvas').waitFor();
    const { device } = (await api.send('GET', '/v1/devices/FILES-1')).data;
    expect(device).toMatchObject({ status: 'offline', active_alerts: 0, labels: { logger: 'TAG-1' } });
    await page.getByText('Known by files of a logger alone').waitFor();
    await visitor.fine('a unit that has files alone');
  });

  it('shows a wrong time zone, another logger and several sensors before anything is stored', async () => {
    await page.setViewportSize(desktop);
    await page.goto('/devices/FILES-2');
    await page.getByRole('heading', { name: 'Logger files' }).waitFor();
    const drop = async (name: string, content: string) => {
      const data = await page.evaluateHandle(([n, c]) => {
        const d = new DataTransfer();
        d.items.add(new File([c], n, { type: 'text/csv' }));
        return d;
      }, [name, content] as const);
      await page.locator('label').filter({ hasText: 'Choose files' }).dispatchEvent('drop', { dataTransfer: data });
      const dialog = page.getByRole('dialog', { name: 'Add 1 logger file' });
      await dialog.waitFor();
      return dialog;
    };
    let dialog = await drop('other.csv', table(1, 'TAG-1', cold(0)));
    await dialog.getByText('The logger TAG-1 belongs to Freezer FILES-1.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Nothing new' }).isDisabled()).toBe(true);
    await visitor.fine('a file of another logger');
    await dialog.getByRole('button', { name: 'Add to Freezer FILES-1' }).click();
    await dialog.getByText('12 already stored').waitFor();
    await dialog.getByLabel('Time zone of the logger').selectOption('Asia/Calcutta');
    await dialog.getByText('The same values are stored already, 3.5 h earlier: check the time zone.').waitFor();
    await dialog.getByText(/At the unit: .*4:30/).waitFor();
    await visitor.fine('a file in a wrong time zone');
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    dialog = await drop('two.csv', `sensor,time,temperature\nA,${clock(60)},-18\nB,${clock(60)},4\n`);
    await dialog.getByText('Which sensor is the one of this unit?').waitFor();
    await visitor.fine('a file of two sensors');
    await dialog.getByRole('button', { name: /^A/ }).click();
    await dialog.getByText('1 new reading').waitFor();
    await dialog.getByRole('button', { name: 'Add 1 file' }).click();
    await page.getByText('1 reading added.').waitFor();
    expect(await stored('FILES-2')).toHaveLength(1);

    await visitor.refused('POST', '/api/v1/devices/FILES-2/readings/import', 422, async () => (dialog = await drop('notes.txt', 'It was warm on Monday.\n')));
    await dialog.getByText(/The file has no column with times/).waitFor();
    await visitor.fine('a file that is no table');
  });
});
