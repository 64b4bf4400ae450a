// The first look at every page, when there is nothing yet.
import { beforeAll, it } from 'vitest';
import { phone } from './browser';
import { openShop, type Shop } from './shop';

let { visitor } = {} as Shop;
const shop = openShop({ viewport: phone });
beforeAll(() => ({ visitor } = shop));

const pages = ['/', '/alerts', '/alerts?status=all', '/alerts/1', '/rounds', '/reports', '/work', '/work/1', '/compare', '/connect', '/sites', '/sites/1', '/labels', '/wall', '/devices/NO-1', '/account/tokens', '/settings/devices', '/settings/sources', '/settings/sites', '/settings/members', '/settings/notifications', '/settings/webhooks', '/settings/quiet', '/settings/limits', '/settings/rounds', '/settings/predictions', '/settings/audit', '/policies/none'];

it.each(pages)('%s', async (path) => {
  visitor.nothingAt = /^\/api\/v1\/(alerts\/1|work-orders\/1|devices\/NO-1|policies\/none)(\/|$)/; // of what the address names, there is nothing
  await visitor.to(path);
  await visitor.fineIn(`${path}, empty`, ['light']);
});
