import { afterEach, beforeEach, expect, test, vi } from 'vitest';

// A browser's window, as far as it is listened to.
let events: EventTarget;
let unpressed: (run: () => void) => void;
const happens = (name: string, buttons = 0) => events.dispatchEvent(Object.assign(new Event(name), { buttons }));
const ran: string[] = [];
const moves = (what: string) => unpressed(() => ran.push(what));

beforeEach(async () => {
  vi.useFakeTimers();
  vi.resetModules();
  events = new EventTarget();
  vi.stubGlobal('addEventListener', events.addEventListener.bind(events));
  ran.length = 0;
  ({ unpressed } = await import('./press'));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('what moves things runs at once where nothing is pressed', () => {
  moves('list');
  expect(ran).toEqual(['list']);
});

test('what is pressed stays where it is until it has been clicked', () => {
  happens('pointerdown', 1);
  moves('list');
  moves('fleet');
  vi.advanceTimersByTime(60_000);
  expect(ran).toEqual([]);
  happens('pointerup');
  vi.advanceTimersByTime(99);
  expect(ran).toEqual([]); // the click may be on its way
  vi.advanceTimersByTime(1);
  expect(ran).toEqual(['list', 'fleet']);
  moves('more');
  expect(ran).toEqual(['list', 'fleet', 'more']);
});

test('a second press right after the first holds it, too', () => {
  happens('pointerdown', 1);
  moves('list');
  happens('pointerup');
  vi.advanceTimersByTime(50);
  happens('pointerdown', 1);
  vi.advanceTimersByTime(60_000);
  expect(ran).toEqual([]);
  happens('pointercancel'); // it became a scroll
  vi.advanceTimersByTime(100);
  expect(ran).toEqual(['list']);
});

test('a release that something else took is seen by the next move', () => {
  happens('pointerdown', 1);
  moves('list');
  happens('pointermove', 1);
  vi.advanceTimersByTime(60_000);
  expect(ran).toEqual([]);
  happens('pointermove', 0);
  happens('pointermove', 0);
  vi.advanceTimersByTime(100);
  expect(ran).toEqual(['list']);
});

test('what moves may ask for the next move', () => {
  happens('pointerdown', 1);
  unpressed(() => moves('second'));
  happens('pointerup');
  vi.advanceTimersByTime(100);
  expect(ran).toEqual(['second']);
});
