import { describe, expect, test } from 'vitest';
import { fileOf, ordered, orderOf, turned, type Standing } from './standing';

const site = (name: string, o: Partial<Standing> = {}) =>
  ({ site_id: name ? name.length : null, name, devices: 2, online: 2, attention: 0, active_alerts: 0, critical_alerts: 0, health_score: 98.5, temperature_compliance: 99, data_coverage: 100, excursions: 0, excursion_minutes: 0, critical_raised: 0, answered: 0, response_s: null, ...o }) as Standing;

describe('sites beside each other', () => {
  const list = [site('Shop 10'), site('Shop 9', { temperature_compliance: null, response_s: 30 }), site('', { attention: 2 }), site('Mill', { attention: 2, temperature_compliance: 91, response_s: 600 })];
  test.each([
    ['', ['Mill', '', 'Shop 9', 'Shop 10']], ['-attention', ['Shop 9', 'Shop 10', 'Mill', '']], ['name', ['Mill', 'Shop 9', 'Shop 10', '']], ['-name', ['', 'Shop 10', 'Shop 9', 'Mill']],
    ['compliance', ['Mill', 'Shop 10', '', 'Shop 9']], ['response', ['Mill', 'Shop 9', 'Shop 10', '']], ['-response', ['Shop 9', 'Mill', 'Shop 10', '']], ['constructor', ['Mill', '', 'Shop 9', 'Shop 10']],
  ])('sorted by %s', (sort, want) => expect(ordered(list, orderOf(sort)).map((s) => s.name)).toEqual(want));
  test('a click on a head: the worst first, then the best', () => {
    expect([turned(orderOf(''), 'attention'), turned(orderOf('-attention'), 'attention'), turned(orderOf(''), 'out'), turned(orderOf('out'), 'out')]).toEqual(['-attention', '', 'out', '-out']);
  });
  test('the file quotes, and gives a spreadsheet no formula', () => {
    expect(fileOf([site('=1+1, "x"', { excursion_minutes: 1.239, response_s: 12 })]).split('\r\n')[1]).toBe(`9,"'=1+1, ""x""",2,2,0,0,98.5,99,100,0,1.24,0,0,12`);
  });
});
