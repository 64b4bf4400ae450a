import { describe, expect, test } from 'vitest';
import type { Alert } from '../../api/client';
import { entriesOf } from './order';

const alert = (id: number, more: Partial<Alert> = {}): Alert =>
  ({ id, type: 'high_temperature', severity: 'warning', status: 'active', prediction: null, acknowledged_at: null, suppressed_by: null, condition_started_at: null, triggered_at: `2026-11-20T10:${10 + id}:00Z`, ...more }) as Alert;
const ids = (list: Alert[], sorted = true) => entriesOf(list, sorted).map((e) => [e.alert.id, ...e.explains.map((x) => x.id)]);

describe('the order of alerts', () => {
  test('critical before warning before offline, acknowledged last, the longest first', () => {
    expect(ids([alert(1, { acknowledged_at: 'x', severity: 'critical' }), alert(2, { type: 'device_offline' }), alert(4), alert(3), alert(5, { severity: 'critical' })])).toEqual([[5], [3], [4], [2], [1]]);
  });
  test('what began at once is in the order of names', () => {
    expect(ids([[12, 'Unit 10'], [11, 'Unit 9']].map(([id, device_name]) => alert(id as number, { device_name: device_name as string, triggered_at: '2026-11-20T10:00:00Z' })))).toEqual([[11], [12]]);
  });
  test('what is explained is folded under its cause, and under the cause of that', () => {
    expect(ids([alert(1, { suppressed_by: 2 }), alert(2), alert(3, { suppressed_by: 1 })])).toEqual([[2, 1, 3]]);
  });
  test('a cause that is not in the list folds nothing, and a circle loses nobody', () => {
    expect(ids([alert(1, { suppressed_by: 9 }), alert(2)])).toEqual([[2], [1]]);
    expect(ids([alert(1, { suppressed_by: 2 }), alert(2, { suppressed_by: 1 })]).flat().toSorted()).toEqual([1, 2]);
  });
  test('the past stays in order of time', () => expect(ids([alert(1), alert(5, { severity: 'critical' })], false)).toEqual([[1], [5]]));
});

test('what came again and again within a day is one line, under the last time', () => {
  const past = (id: number, hour: number, more: object = {}) => ({ id, status: 'resolved', device_id: 1, type: 'high_temperature', triggered_at: new Date(hour * 3_600_000).toISOString(), ...more }) as Alert;
  const list = [past(9, 100), past(8, 90), past(7, 80, { type: 'power_loss' }), past(6, 78), past(5, 60), past(4, 70, { device_id: 2 }), past(2, 95, { type: 'sensor_fault', part: 'ambient_temp' }), past(1, 94, { type: 'sensor_fault', part: 'humidity' }), past(3, 99, { status: 'active' })];
  expect(entriesOf(list, false).map((e) => [e.alert.id, e.earlier.map((a) => a.id)])).toEqual([[9, [8, 6]], [7, []], [5, []], [4, []], [2, []], [1, []], [3, []]]);
  expect(entriesOf(list, true).every((e) => e.earlier.length === 0)).toBe(true);
});
