// The WebSocket of the service: one connection, a subscription per channel, the
// events handed to whoever listens. After a break it comes back with the last
// event's id, so nothing is missed; where the server cannot tell what was
// missed, listeners ask again.
import { fileOf } from '../api/here';
import { clock } from './clock.svelte';

export type Channel = 'devices' | 'readings' | 'alerts' | 'summary';

export interface StreamEvent {
  channel: Channel;
  id: string;
  event: string;
  at: string;
  data: Record<string, unknown>;
}

/** `live`: events arrive. `polling`: no stream to be had, the server is asked
 * at intervals. `reconnecting`: neither for the moment. `offline`: the browser
 * itself has no network. */
export type Connection = 'connecting' | 'live' | 'polling' | 'reconnecting' | 'offline';

export interface Listener {
  event(e: StreamEvent): void;
  /** refetch is called when events may have been missed. */
  refetch(): void;
}

const channels: Channel[] = ['devices', 'readings', 'alerts', 'summary'];
const protocol = 'rimewatch.v1';
const quiet = 60_000; // ms without a word from the server, which a page that is seen asks twice as often
const handshake = 15_000; // ms until a connection on which nothing comes back counts as dead
const stable = 10_000; // ms that a connection must have lasted for the next one to be tried at once

/** backoff is the wait before the nth attempt, with jitter, so that a thousand
 * screens do not come back at the same moment. */
export function backoff(attempt: number, random: number): number {
  const most = Math.min(30_000, 500 * 2 ** attempt);
  return most / 2 + (most / 2) * random;
}

class Stream {
  connection = $state<Connection>('connecting');
  /** When anything last arrived, ms. */
  heardAt = $state(0);

  /** lost reports whether the server cannot be reached. */
  get lost(): boolean {
    return this.connection === 'reconnecting' || this.connection === 'offline';
  }

  /** Changes when the person's role has. */
  role = $state(0);
  private renewedAt = 0; // ms

  /** past is when what is shown was so, 0 while that is now: a restart of the server, or a phone that is taken up again, is over
   * before anybody would have read more. */
  get past(): number {
    return this.lost && clock.now - this.heardAt > quiet && clock.now - this.renewedAt > 3000 ? this.heardAt : 0;
  }

  private socket: WebSocket | null = null;
  private listener: Listener | null = null;
  private last = new Map<Channel, string>();
  private attempt = 0;
  private everLive = false;
  private reachable = true;
  /** Channels that the present socket has still to confirm. */
  private unconfirmed = 0;
  /** Something may have been missed: ask for everything once the stream is live. */
  private owed = false;
  private resuming = false;
  private waiting: (() => void)[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private beat: ReturnType<typeof setInterval> | undefined;

  start(listener: Listener) {
    this.listener = listener;
    this.last.clear();
    this.attempt = 0;
    this.everLive = false;
    this.owed = false;
    this.reachable = true; // or nobody would have asked for the stream
    this.connection = 'connecting';
    addEventListener('online', this.found);
    addEventListener('offline', this.unplugged);
    document.addEventListener('visibilitychange', this.retryNow);
    // A laptop that slept in front of somebody tells by its clock alone.
    let beaten = Date.now();
    clearInterval(this.beat);
    this.beat = setInterval(() => {
      const slept = Date.now() - beaten > quiet;
      beaten = Date.now();
      if (slept) this.retryNow();
    }, 5000);
    this.open();
  }

  /** opened waits until the stream is live, so that what is asked for afterwards
   * and what the stream says leave no gap. Where it takes too long or there is
   * none, nobody waits: what was missed is asked for when it comes. */
  opened(most: number): Promise<void> {
    if (this.connection === 'live' || !this.socket) return Promise.resolve();
    return new Promise((go) => {
      const timer = setTimeout(() => {
        this.owed = true;
        go();
      }, most);
      this.waiting.push(() => {
        clearTimeout(timer);
        go();
      });
    });
  }

  private wake() {
    for (const go of this.waiting.splice(0)) go();
  }

  stop() {
    this.wake();
    this.listener = null;
    removeEventListener('online', this.found);
    removeEventListener('offline', this.unplugged);
    document.removeEventListener('visibilitychange', this.retryNow);
    clearTimeout(this.timer);
    clearInterval(this.beat);
    this.socket?.close(1000);
    this.socket = null;
  }

  /** answered notes that the server answered a request: without a stream, that
   * is what tells reconnecting from polling. */
  answered(ok: boolean) {
    this.reachable = ok;
    if (ok) this.heardAt = clock.exact();
    if (this.connection === 'live') {
      // The server pings, which a page cannot see: a connection that died
      // without a word is found by a request that fails.
      if (!ok) this.renew('reconnecting');
      return;
    }
    if (ok && this.attempt > 0) {
      this.everLive = false;
      this.owed = true;
      this.connection = 'polling';
    }
    if (!ok) this.connection = navigator.onLine ? 'reconnecting' : 'offline';
  }

  /** missed notes that what the stream could not tell was not to be had by asking either: it starts again, and asks then. */
  missed() {
    this.owed = true;
    this.reachable = false;
    if (this.socket) this.drop(this.socket);
  }

  /** shows notes that what is on the screen is from a moment before: the server cannot be reached. */
  shows(at: number) {
    this.heardAt = at;
    this.owed = true;
    this.answered(false);
  }

  private open() {
    clearTimeout(this.timer);
    if (!this.listener) return;
    let socket: WebSocket;
    try {
      socket = new WebSocket(location.origin.replace(/^http/, 'ws') + fileOf('/api/v1/stream'), protocol);
    } catch {
      this.again();
      return;
    }
    this.socket = socket;
    this.timer = setTimeout(() => this.drop(socket), handshake);
    this.resuming = this.everLive;
    this.unconfirmed = channels.length;
    socket.onopen = () => {
      channels.forEach((channel, i) => {
        const since = this.last.get(channel);
        socket.send(JSON.stringify({ op: 'subscribe', id: i + 1, channel, ...(since ? { since } : {}) }));
      });
    };
    socket.onmessage = (m) => this.message(m.data as string);
    socket.onclose = (e) => {
      if (this.socket !== socket) return;
      if (e.code === 4401) this.listener?.refetch(); // signed out elsewhere: the next answer says so
      if (e.code === 4403) {
        this.owed = true; // what may be seen has changed, too
        this.role++;
      }
      this.drop(socket, e.code);
    };
  }

  private drop(socket: WebSocket, code?: number) {
    if (this.socket !== socket) return;
    this.socket = null;
    socket.close();
    if (!this.everLive) this.owed = true; // the first questions are not covered by it
    this.wake();
    this.again(code);
  }

  private message(text: string) {
    let frame: { op: string; channel?: Channel; last_event_id?: string; recovered?: boolean } & Partial<StreamEvent>;
    try {
      frame = JSON.parse(text);
    } catch {
      return;
    }
    const now = clock.exact();
    this.heardAt = now - (now % 1000); // thousands of messages a second are not to be as many changes of the page
    switch (frame.op) {
      case 'subscribed':
        if (frame.channel && frame.last_event_id) this.last.set(frame.channel, frame.last_event_id);
        if (this.resuming && frame.recovered === false) this.owed = true;
        this.confirmed();
        break;
      case 'error':
        if (this.unconfirmed > 0) this.confirmed(); // a channel that this person may not hear
        break;
      case 'event':
        if (frame.channel && frame.id) this.last.set(frame.channel, frame.id);
        this.listener?.event(frame as StreamEvent);
        break;
    }
  }

  private confirmed() {
    if (--this.unconfirmed > 0) return;
    this.connection = 'live';
    this.everLive = true;
    // One that ends as soon as it is there is no better than one that fails.
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.attempt = 0), stable);
    this.wake();
    if (!this.owed) return;
    this.owed = false;
    this.listener?.refetch();
  }

  private again(code?: number) {
    if (!this.listener) return;
    clearTimeout(this.timer);
    if (!navigator.onLine) this.connection = 'offline';
    else this.connection = this.everLive || !this.reachable ? 'reconnecting' : 'polling';
    // A full buffer or a restart is the server's wish for a new connection, not a failure of it.
    const wait = code === 4408 || code === 1012 ? backoff(0, Math.random()) : backoff(this.attempt++, Math.random());
    this.timer = setTimeout(() => this.open(), wait);
  }

  // Somebody looks again. Of a phone that slept, what was open may look open and be dead.
  private retryNow = () => {
    if (document.visibilityState === 'hidden' || (this.socket && clock.exact() - this.heardAt < quiet)) return;
    this.attempt = 0;
    if (this.socket) this.found();
    else this.open();
  };

  // What was open before the network went may look open and be dead.
  private found = () => {
    this.attempt = 0;
    this.renew(this.everLive ? 'reconnecting' : 'connecting');
  };

  private renew(meanwhile: Connection) {
    const old = this.socket;
    this.socket = null;
    old?.close();
    this.renewedAt = clock.exact();
    this.connection = meanwhile;
    this.open();
  }

  private unplugged = () => {
    this.connection = 'offline';
  };
}

export const stream = new Stream();
