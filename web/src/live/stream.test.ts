import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { clock } from './clock.svelte';
import { backoff, stream, type StreamEvent } from './stream.svelte';

// A socket that does what the test says.
class Socket {
  static all: Socket[] = [];
  sent: { op: string; id: number; channel: string; since?: string }[] = [];
  closed = false;
  onopen?: () => void;
  onmessage?: (m: { data: string }) => void;
  onclose?: (e: { code: number }) => void;
  constructor(
    readonly url: string,
    readonly protocol: string,
  ) {
    Socket.all.push(this);
  }
  send(text: string) {
    this.sent.push(JSON.parse(text));
  }
  close() {
    this.closed = true;
  }
  says(frame: object) {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
  /** answers opens and confirms every subscription. */
  answers(recovered = true) {
    this.onopen?.();
    for (const s of this.sent) this.says({ op: 'subscribed', id: s.id, channel: s.channel, last_event_id: 'e0', recovered });
  }
}
const last = () => Socket.all.at(-1)!;
const heard: StreamEvent[] = [];
let refetched = 0;
/** look is what happens when somebody looks at the page again. */
let look = () => {};
const listener = { event: (e: StreamEvent) => void heard.push(e), refetch: () => void refetched++ };

beforeEach(() => {
  vi.useFakeTimers();
  Socket.all = [];
  heard.length = 0;
  refetched = 0;
  const nothing = () => {};
  vi.stubGlobal('WebSocket', Socket);
  vi.stubGlobal('location', { origin: 'https://rime.example' });
  vi.stubGlobal('navigator', { onLine: true });
  vi.stubGlobal('document', { addEventListener: (_: string, f: () => void) => (look = f), removeEventListener: nothing, visibilityState: 'visible' });
  vi.stubGlobal('addEventListener', nothing);
  vi.stubGlobal('removeEventListener', nothing);
  stream.start(listener);
});
afterEach(() => {
  stream.stop();
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const event = (id: string) => ({ op: 'event', channel: 'alerts', id, event: 'alert.opened', at: '', data: {} });

describe('the stream', () => {
  test('subscribes to everything and hands events on', () => {
    expect([last().url, last().protocol]).toEqual(['wss://rime.example/api/v1/stream', 'rimewatch.v1']);
    expect(stream.connection).toBe('connecting');
    last().answers();
    expect(last().sent.map((s) => s.channel)).toEqual(['devices', 'readings', 'alerts', 'summary']);
    expect(stream.connection).toBe('live');
    last().says(event('e1'));
    last().onmessage?.({ data: 'not JSON' });
    expect(heard.map((e) => e.id)).toEqual(['e1']);
  });

  test('comes back with the id of the last event of each channel', () => {
    last().answers();
    last().says(event('e7'));
    last().onclose?.({ code: 1006 });
    expect(stream.connection).toBe('reconnecting');
    vi.advanceTimersByTime(1000);
    expect(Socket.all).toHaveLength(2);
    last().answers();
    expect(last().sent.map((s) => s.since)).toEqual(['e0', 'e0', 'e7', 'e0']);
    expect([stream.connection, refetched]).toEqual(['live', 0]);
  });

  test('asks for everything again when the server cannot tell what was missed', () => {
    last().answers(false);
    expect(refetched).toBe(0); // nothing was missed before the first time
    last().onclose?.({ code: 1012 });
    vi.advanceTimersByTime(1000);
    last().answers(false);
    expect(refetched).toBe(1);
  });

  test('whoever asks first and hears later asks again', async () => {
    const opened = stream.opened(1000);
    vi.advanceTimersByTime(1000);
    await opened;
    last().answers();
    expect(refetched).toBe(1);
  });

  test('whoever waits until it is open has no need to', async () => {
    const opened = stream.opened(1000);
    last().answers();
    await opened;
    vi.advanceTimersByTime(5000);
    expect(refetched).toBe(0);
  });

  test('nobody waits for a stream that is not there', async () => {
    const opened = stream.opened(60_000);
    last().onclose?.({ code: 1006 });
    await opened;
    vi.advanceTimersByTime(1000);
    last().answers();
    expect([stream.connection, refetched]).toEqual(['live', 1]);
  });

  test('without a stream the answers to requests decide between polling and reconnecting', () => {
    last().onclose?.({ code: 1006 });
    expect(stream.connection).toBe('polling');
    stream.answered(false);
    expect(stream.connection).toBe('reconnecting');
    stream.answered(true);
    expect(stream.connection).toBe('polling');
  });

  test('a connection that died without a word is given up when a request fails', () => {
    last().answers();
    const dead = last();
    stream.answered(false);
    expect([dead.closed, stream.connection, Socket.all.length]).toEqual([true, 'reconnecting', 2]);
    dead.onclose?.({ code: 1006 }); // late, and no reason for a third
    vi.advanceTimersByTime(10_000);
    expect(Socket.all).toHaveLength(2);
    last().answers();
    expect(stream.connection).toBe('live');
  });

  test('of a phone that slept for hours is another one, and what was missed is asked for', () => {
    last().answers();
    const asleep = last();
    vi.advanceTimersByTime(3 * 3_600_000);
    look();
    expect([asleep.closed, stream.connection, Socket.all.length]).toEqual([true, 'reconnecting', 2]);
    asleep.onclose?.({ code: 1006 }); // late, and no reason for a third
    last().answers(false);
    expect([stream.connection, refetched, Socket.all.length]).toEqual(['live', 1, 2]);
  });

  test('of whoever looks away for a moment stays, and so does a quiet one while requests are answered', () => {
    last().answers();
    vi.advanceTimersByTime(50_000);
    look();
    stream.answered(true);
    vi.advanceTimersByTime(50_000);
    look();
    expect([stream.connection, Socket.all.length]).toEqual(['live', 1]);
  });

  test('says that what is shown is of the past when it stays away, not while it comes back', () => {
    last().answers();
    const heard = stream.heardAt;
    const later = (ms: number) => {
      vi.advanceTimersByTime(ms);
      clock.now = clock.exact();
    };
    later(3_600_000);
    expect(stream.past).toBe(0);
    look();
    later(1000);
    expect([stream.lost, stream.past]).toEqual([true, 0]);
    later(4000);
    expect(stream.past).toBe(heard);
    last().answers();
    expect(stream.past).toBe(0);
  });

  test('of a laptop that slept in front of somebody is another one', () => {
    last().answers();
    const asleep = last();
    vi.setSystemTime(Date.now() + 8 * 3_600_000); // no timer runs in sleep
    vi.advanceTimersByTime(5000);
    expect([asleep.closed, stream.connection, Socket.all.length]).toEqual([true, 'reconnecting', 2]);
  });

  test('on which nothing comes back is given up, and so is one that opens and says nothing', () => {
    const swallowed = last();
    vi.advanceTimersByTime(16_000);
    expect([swallowed.closed, stream.connection, Socket.all.length]).toEqual([true, 'polling', 2]);
    const silent = last();
    silent.onopen?.();
    vi.advanceTimersByTime(17_000);
    expect([silent.closed, Socket.all.length]).toEqual([true, 3]);
    last().answers();
    vi.advanceTimersByTime(3_600_000);
    expect([stream.connection, Socket.all.length]).toEqual(['live', 3]);
  });

  test('that ends as soon as it is there is tried less and less often, until one has lasted', () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const ends = () => {
      last().answers();
      const before = Socket.all.length;
      last().onclose?.({ code: 1006 });
      return before;
    };
    for (let i = 0; i < 8; i++) {
      const before = ends();
      vi.advanceTimersByTime(backoff(i, 1) - 1);
      expect(Socket.all).toHaveLength(before);
      vi.advanceTimersByTime(1);
      expect(Socket.all).toHaveLength(before + 1);
    }
    last().answers();
    vi.advanceTimersByTime(10_000);
    const before = ends();
    vi.advanceTimersByTime(500);
    expect(Socket.all).toHaveLength(before + 1);
  });

  // After a restart with many devices the server may still be loading them.
  test('asks again for what was missed until it is answered, and is not called live meanwhile', () => {
    last().answers();
    last().onclose?.({ code: 1012 });
    vi.advanceTimersByTime(500);
    last().answers(false);
    expect(refetched).toBe(1);
    stream.missed();
    expect([stream.connection, last().closed]).toEqual(['reconnecting', true]);
    vi.advanceTimersByTime(1000);
    last().answers(); // nothing was missed since the socket before
    expect([stream.connection, refetched]).toEqual(['live', 2]);
  });

  test('tells when the role of who listens has changed, and asks anew for what may be seen now', () => {
    last().answers();
    const before = stream.role;
    last().onclose?.({ code: 4403 });
    expect(stream.role).toBe(before + 1);
    vi.advanceTimersByTime(1000);
    last().answers();
    expect(refetched).toBe(1);
  });

  test('is quiet after stop', () => {
    const socket = last();
    stream.stop();
    socket.onclose?.({ code: 1000 });
    vi.advanceTimersByTime(120_000);
    expect(Socket.all).toHaveLength(1);
  });

  test('waits longer each time, at most 30 s, and never at the same moment as others', () => {
    expect([0, 1, 2, 3, 10].map((n) => backoff(n, 1))).toEqual([500, 1000, 2000, 4000, 30_000]);
    expect(backoff(3, 0)).toBe(2000);
  });
});
