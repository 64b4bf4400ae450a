// Who is limited to sites, in the forms of invitations, members and tokens.
import { beforeAll, describe, expect, it } from 'vitest';
import { Api } from './server';
import { openShop, type Shop } from './shop';

let { office, page, server, visitor } = {} as Shop;
const shop = openShop({ fill: async ({ api }) => void (await api.send('POST', '/v1/devices', { serial: 'WIF-1', equipment_type: 'walkin_freezer' })) });
beforeAll(() => ({ office, page, server, visitor } = shop));

const dialog = () => page.getByRole('dialog');
const button = (name: string, within: ReturnType<typeof dialog> | typeof page = page) => within.getByRole('button', { name, exact: true });
/** closed waits until the open dialog is done. */
const closed = () => dialog().waitFor({ state: 'detached' });

describe('sites', () => {
  it('limit whom one invites, a member and a token to their own', async () => {
    const sites: number[] = [];
    for (const name of ['Mill', 'Harbour']) sites.push((await office.send('POST', '/v1/sites', { name, timezone: 'Europe/Berlin' })).site.id);
    await office.hire('technician');
    await page.goto('/settings/members');
    await button('Invite').click();
    await dialog().getByLabel('E-mail').fill('cy@example.com');
    await dialog().getByLabel('Role').selectOption('viewer');
    await dialog().getByLabel('Sites', { exact: true }).selectOption({ label: 'Mill' });
    await visitor.fine('an invitation to one site');
    await dialog().getByLabel('E-mail').press('Enter');
    await dialog().getByTestId('invitation').waitFor();
    await button('Done', dialog()).click();
    await closed();
    await page.getByTestId('pending').getByText('Mill').waitFor();
    expect((await office.send('GET', '/v1/members')).invitations).toMatchObject([{ email: 'cy@example.com', role: 'viewer', site_ids: [sites[0]] }]);

    await button('Sites of technician').click();
    await dialog().getByLabel('Sites', { exact: true }).selectOption({ label: 'Harbour' });
    await button('Save', dialog()).click();
    await closed();
    const member = async () => (await office.send('GET', '/v1/members')).members.find((m: { name: string }) => m.name === 'technician');
    expect(await member()).toMatchObject({ site_ids: [sites[1]] });
    await page.getByText('Harbour').first().waitFor();
    // An owner sees all: there is nothing to limit.
    expect(await button('Sites of Ada').count()).toBe(0);

    await page.goto('/account/tokens?new=1');
    await dialog().getByLabel('Name').fill('Gateway of the mill');
    await dialog().getByRole('radio', { name: /Full access/ }).check();
    await dialog().getByLabel('Sites', { exact: true }).selectOption({ label: 'Mill' });
    await button('Create token', dialog()).click();
    const plain = (await dialog().getByTestId('plain-token').textContent()) ?? '';
    await button('Done', dialog()).click();
    await closed();
    await page.getByText('Mill').first().waitFor();
    // The unit of no site does not exist for it.
    expect((await new Api(server.url, plain).send('GET', '/v1/devices')).data.devices).toEqual([]);
    await visitor.fine('a token of one site');
  });

  it('have contacts, which one calls', async () => {
    await office.send('POST', '/v1/sites', { name: 'Quay', timezone: 'Europe/Berlin' });
    await visitor.atOnce();
    await page.goto('/settings/sites');
    await button('Add contact').click();
    await dialog().getByLabel('Site').selectOption({ label: 'Quay' });
    await dialog().getByLabel('Name').fill('Polar Service');
    await dialog().getByLabel('Phone number').fill('+1 555-0142');
    await visitor.fine('a contact');
    await button('Save', dialog()).click();
    await closed();
    expect(await page.getByRole('link', { name: '+1 555-0142' }).getAttribute('href')).toBe('tel:+15550142');
    await button('Remove Polar Service').click();
    await button('Remove', dialog()).click();
    await closed();
    await page.getByText('There is no contact yet.').waitFor();
  });
});
