import { expect, test } from 'vitest';
import type { Hold } from '../api/client';
import { heldFor } from './held';

const hold = (h: Partial<Hold>): Hold => ({ kind: 'silence', id: 1, ends_at: '', comment: '', created_by: '', severities: [], types: [], site_ids: [], equipment_types: [], device_ids: [], ...h });
const unit = { id: 7, equipment_type: 'walkin_cooler', site: { id: 3 } };

test.each([
  ['nothing holds', [], null],
  ['everything', [hold({})], 'all'],
  ['its site and its type', [hold({ site_ids: [3], equipment_types: ['walkin_cooler'] })], 'all'],
  ['its site, another type', [hold({ site_ids: [3], equipment_types: ['walkin_freezer'] })], null],
  ['another device', [hold({ device_ids: [8] })], null],
  ['only warnings', [hold({ severities: ['warning'] })], 'some'],
  ['only a type, and itself', [hold({ types: ['high_vibration'] }), hold({ device_ids: [7] })], 'all'],
  ['work at its site or on another device', [hold({ kind: 'maintenance', site_ids: [3], device_ids: [8] })], 'all'],
  ['work on another device', [hold({ kind: 'maintenance', device_ids: [8] })], null],
] as const)('%s', (_, list, want) => expect(heldFor([...list], unit)).toBe(want));
