// All devices of the workspace and what is known of them now. Readings may come
// in by the hundreds a second: they are put aside as they arrive, and shown once
// per frame, so only what is on the screen and has changed is drawn again.
import { api, ask, pages, type Alert, type Coverage, type Device, type EquipmentType, type Failure, type Latest, type Site, type Summary } from '../api/client';
import { clock } from './clock.svelte';
import { away, keep, kept } from './kept';
import { unpressed } from './press';
import { stream, type Listener, type StreamEvent } from './stream.svelte';
import { limited, pending, snapshot, Unit, worstFirst, type Snapshot } from './unit.svelte';

const reorderAfter = 300; // ms: cards are not to jump about under a finger
const newsEvery = 1000; // ms
const pollEvery = 10_000; // ms
const heartbeat = 15_000; // ms within which the summary must come
const patience = 4000; // ms
const pageSize = 1000; // the server may give less
const pagesAtOnce = 3;
const firstAttention = 100; // devices that need attention, asked for first
const firstOthers = 60; // and of all, as many as a screen shows
const mostAtOnce = 2000; // devices; of a larger fleet the stream says what is new, and the summary how many there are of what
const manyEvents = 500; // so many without a summary between are more than usual
const past = 36 * 3_600_000; // ms of resolved alerts; some began before the day that is shown
const mostPast = 2000; // resolved alerts
const mostKept = 1000; // devices, the worst first
const keepEvery = 60_000; // ms

/** LastKnown is what is shown of the fleet while the server is away. */
interface LastKnown {
  workspace: number;
  devices: Device[];
  alerts: Alert[];
  sites: Site[];
  types: EquipmentType[];
  summary: Summary | null;
  coverage?: Coverage | null;
  total: number;
}

class Fleet implements Listener {
  status = $state<'idle' | 'loading' | 'ready' | 'failed'>('idle');
  failure = $state.raw<Error | null>(null);
  /** Every device, worst first. */
  units = $state.raw<Unit[]>([]);
  sites = $state.raw<Site[]>([]);
  types = $state.raw<EquipmentType[]>([]);
  summary = $state.raw<Summary | null>(null);
  /** Whether somebody would be notified of a critical alert, and what holds messages back. */
  coverage = $state.raw<Coverage | null>(null);
  /** Cases that wait for documentation. */
  paperwork = $state(0);
  checks = $state.raw({ due: 0, missed: 0 });
  /** The mark of a device of whose alerts nobody is told, '' of others; it comes with the bar that says so. */
  markOf = $state.raw<((d: Device) => string) | null>(null);
  /** The number of devices, known before all are here. */
  total = $state(0);
  /** Whether all devices are here; until then the summary knows how many there are of what. */
  complete = $state(false);
  /** Changes when any alert has; pages that list alerts ask again. */
  alertsChanged = $state(0);
  /** Active alerts that are not about one device. */
  other = $state.raw<Alert[]>([]);

  private byID = new Map<number, Unit>();
  private dirty = new Set<Unit>();
  private ended = new Set<number>(); // alerts
  private frame = 0;
  private orderTimer: ReturnType<typeof setTimeout> | undefined;
  private orderWait = reorderAfter;
  private pollTimer: ReturnType<typeof setTimeout> | undefined;
  private newsTimer: ReturnType<typeof setTimeout> | undefined;
  private newsAt = 0;
  private keepTimer: ReturnType<typeof setInterval> | undefined;
  private workspace = 0;
  private generation = 0;
  private held: StreamEvent[] | null = null;
  private loads = 0; // under way
  private unsummed = 0; // events since the last summary

  /** start loads the fleet of a workspace and keeps it up to date until stop. */
  async start(workspace = this.workspace) {
    const generation = ++this.generation;
    this.workspace = workspace;
    this.status = 'loading';
    this.failure = null;
    stream.start(this);
    this.watch();
    // A network that swallows everything says nothing: meanwhile, what was last known.
    const slow = setTimeout(() => stream.connection !== 'live' && void this.restore(generation), patience);
    try {
      // What is on the screen first, all at once: no answer waits for another.
      const [types, sites] = await Promise.all([ask(api.GET('/v1/equipment-types')), ask(api.GET('/v1/sites')), this.loadSummary(), this.holding(generation, () => this.loadFirst(generation))]);
      if (generation !== this.generation) return;
      this.types = types.equipment_types;
      this.sites = sites.sites;
      this.status = 'ready';
      clearTimeout(slow);
      // First listen, then ask for all: so nothing falls between.
      await stream.opened(1000);
      await this.load(generation);
    } catch (e) {
      clearTimeout(slow);
      if (generation !== this.generation) return;
      if (this.status !== 'ready' && !(away(e) && (await this.restore(generation)))) {
        if (generation !== this.generation) return;
        stream.stop();
        this.failure = e as Error;
        this.status = 'failed';
        return;
      }
      stream.answered(false); // what is here stays; the rest is asked for again
    }
    if (generation === this.generation) this.pollSoon();
  }

  private watch() {
    clearInterval(this.keepTimer);
    this.keepTimer = setInterval(this.keepNow, keepEvery);
    addEventListener('pagehide', this.keepNow);
    document.addEventListener('visibilitychange', this.seen);
  }

  /** pause stops asking until resume; what is here stays. */
  pause() {
    this.generation++;
    stream.stop();
    clearInterval(this.keepTimer);
    clearTimeout(this.pollTimer);
    removeEventListener('pagehide', this.keepNow);
    document.removeEventListener('visibilitychange', this.seen);
  }

  resume() {
    if (this.status === 'idle') return; // whoever was signed in has left
    if (this.status !== 'ready') return void this.start();
    stream.start(this);
    this.watch();
    this.refetch();
    this.pollSoon();
  }

  // Somebody looks again: what is asked for at intervals was not, meanwhile.
  private seen = () => {
    if (document.visibilityState === 'visible' && stream.connection === 'polling' && this.status === 'ready') this.pollSoon(0);
    else this.keepNow();
  };

  // What will be shown when the server is away: what is known while it is not.
  private keepNow = () => {
    if (this.status !== 'ready' || (stream.connection !== 'live' && stream.connection !== 'polling')) return;
    const units = this.units.slice(0, mostKept);
    const known: LastKnown = {
      workspace: this.workspace, devices: units.map((u) => u.next.device), alerts: [...this.other, ...units.flatMap((u) => u.next.alerts)],
      sites: this.sites, types: this.types, summary: this.summary, coverage: this.coverage, total: this.total,
    };
    void keep('fleet', known, stream.heardAt);
  };

  /** restore shows what was last known, and reports whether anything was. */
  private async restore(generation: number): Promise<boolean> {
    const had = await kept<LastKnown>('fleet');
    if (!had || had.data.workspace !== this.workspace || generation !== this.generation || this.status !== 'loading') return false;
    const { devices, alerts, sites, types, summary, coverage = null, total } = had.data;
    Object.assign(this, { sites, types, summary, coverage, total });
    for (const d of devices) this.put(d);
    this.spread(alerts);
    this.order();
    this.complete = devices.length === total;
    this.status = 'ready';
    stream.shows(had.at);
    return true;
  }

  stop() {
    this.pause();
    this.held = null;
    clearTimeout(this.orderTimer);
    clearTimeout(this.newsTimer);
    this.orderTimer = this.newsTimer = undefined;
    this.byID.clear();
    this.dirty.clear();
    this.units = [];
    this.sites = [];
    this.summary = null;
    this.coverage = null;
    this.paperwork = 0;
    this.checks = { due: 0, missed: 0 };
    this.complete = false;
    this.status = 'idle';
  }

  unit(id: number): Unit | undefined {
    return this.byID.get(id);
  }

  bySerial(serial: string): Unit | undefined {
    const s = serial.toLowerCase();
    for (const u of this.byID.values()) if (u.next.device.serial.toLowerCase() === s) return u;
    return undefined;
  }

  /** large reports whether there are more devices than are looked through one by one. */
  get large(): boolean {
    return this.total > mostAtOnce;
  }

  /** active returns the active alerts of all devices that are here, and those of whole sites. */
  active(): Alert[] {
    return [...this.other, ...this.units.flatMap((u) => u.now.alerts)];
  }

  typeOf(slug: string): EquipmentType | undefined {
    return this.types.find((t) => t.slug === slug);
  }

  // ---- loading

  /** holding runs a load. What the stream says meanwhile is held back: the
   * answers may be older. */
  private async holding(generation: number, run: () => Promise<void>) {
    this.loads++;
    this.held ??= [];
    try {
      await run();
    } finally {
      if (--this.loads === 0) {
        const held = this.held ?? [];
        this.held = null;
        if (generation === this.generation) for (const e of held) this.event(e);
      }
    }
  }

  /** loadFirst asks for what the overview shows before anybody scrolls. */
  private async loadFirst(generation: number) {
    const of = (query: { per_page: number; attention?: 'true' }) => ask(api.GET('/v1/devices', { params: { query } }));
    const [attention, some, { alerts }] = await Promise.all([
      of({ per_page: firstAttention, attention: 'true' }),
      of({ per_page: firstOthers }),
      ask(api.GET('/v1/alerts', { params: { query: { status: 'active', per_page: 100 } } })),
    ]);
    if (generation !== this.generation) return;
    this.total = some.pagination.total ?? 0;
    for (const d of [...attention.devices, ...some.devices]) this.put(d);
    this.spread(alerts, false);
    this.order();
  }

  /** load asks for everything. */
  private load(generation: number) {
    return this.holding(generation, () => this.loadAll(generation));
  }

  private async loadAll(generation: number) {
    const [alerts, devices] = await Promise.all([this.loadAlerts(), this.loadDevices()]);
    if (generation !== this.generation) return;
    const seen = new Set<number>();
    for (const d of devices) {
      seen.add(d.id);
      this.put(d);
    }
    for (const [id] of this.byID) if (!seen.has(id)) this.byID.delete(id);
    this.total = this.byID.size;
    this.spread(alerts);
    this.order();
    this.complete = true;
    this.status = 'ready';
    if (!this.large) await this.loadLatest();
  }

  /** All devices, several pages at a time. Pages by number leave a device out
   * when another is deleted meanwhile: the whole list is then asked for again. */
  private async loadDevices(): Promise<Device[]> {
    const page = (n: number) => ask(api.GET('/v1/devices', { params: { query: { per_page: pageSize, page: n } } }));
    for (;;) {
      const first = await page(1);
      const { total, last_page: last } = first.pagination;
      const got = [first];
      let next = 2;
      const fetcher = async () => {
        while (next <= (last ?? 1)) {
          const n = next++;
          got[n - 1] = await page(n);
        }
      };
      await Promise.all(Array.from({ length: pagesAtOnce }, fetcher));
      if (got.every((p) => (p.pagination.total ?? 0) >= (total ?? 0))) return got.flatMap((p) => p.devices);
    }
  }

  /** The active alerts, and those of the last day for the history strips. */
  private async loadAlerts(): Promise<Alert[]> {
    const since = new Date(clock.exact() - past).toISOString();
    const read = async (query: { status: 'active' | 'resolved'; since?: string }, most: number) => {
      const out: Alert[] = [];
      for await (const page of pages((cursor) => ask(api.GET('/v1/alerts', { params: { query: { ...query, per_page: pageSize, cursor } } })))) {
        out.push(...page.alerts);
        if (out.length >= most) break;
      }
      return out;
    };
    return (await Promise.all([read({ status: 'active' }, Infinity), read({ status: 'resolved', since }, mostPast)])).flat();
  }

  private async loadLatest() {
    for (const r of (await ask(api.GET('/v1/readings/latest'))).readings) this.reading(r);
  }

  async loadSummary(signal?: AbortSignal) {
    const generation = this.generation;
    const before = this.summary;
    const got = await ask(api.GET('/v1/devices/health/summary', { signal }));
    this.unsummed = 0;
    if (generation !== this.generation) return;
    this.coverage = got.coverage ?? null; // the stream has none
    this.paperwork = got.paperwork?.cases ?? 0;
    this.checks = { due: got.paperwork?.checks_due ?? 0, missed: got.paperwork?.checks_missed ?? 0 };
    if ((this.summary === before || got.computed_at > this.summary?.computed_at!)) this.summary = got; // or a newer one has come meanwhile
  }

  /** loadSites asks for the sites again, after they were edited. */
  async loadSites() {
    this.sites = (await ask(api.GET('/v1/sites'))).sites;
  }

  // ---- changes

  /** put takes a device as the API returns it, new or changed. */
  put(device: Device) {
    const u = this.byID.get(device.id);
    const known = u?.next.device;
    // An answer that was long on its way may be older than the last reading.
    if (known?.last_seen_at && (device.last_seen_at ?? '') < known.last_seen_at) device = { ...device, current_temp: known.current_temp, current_temp_at: known.current_temp_at, last_seen_at: known.last_seen_at };
    if (!u) this.total = Math.max(this.total, this.byID.set(device.id, new Unit(device)).size);
    else this.change(u, snapshot(device, u.next.latest, u.next.alerts, u.next.past));
    this.reorder(); // it may have another name, or another site
  }

  // When a whole fleet falls silent, thousands of alerts open within a second: whoever asks for each would ask for nothing else.
  private alertNews() {
    this.newsTimer ??= setTimeout(() => {
      this.newsTimer = undefined;
      this.newsAt = Date.now();
      this.alertsChanged++;
    }, Math.min(newsEvery, this.newsAt + newsEvery - Date.now())); // a clock may be set back
  }

  /** putAlert takes an alert as the API returns it, new or changed. */
  putAlert(a: Alert) {
    if (a.status === 'resolved') this.ended.add(a.id);
    else if (this.ended.has(a.id)) return; // no alert opens again: an answer that was long on its way
    this.alertNews();
    const u = this.byID.get(a.device_id ?? 0);
    if (!u) {
      const rest = this.other.filter((x) => x.id !== a.id);
      this.other = a.status === 'active' ? [a, ...rest] : rest;
      return;
    }
    const rest = u.next.alerts.filter((x) => x.id !== a.id);
    const alerts = a.status === 'active' ? [...rest, a] : rest;
    const past = u.next.past.filter((x) => x.id !== a.id);
    if (a.status === 'resolved') past.push(a);
    const device = { ...u.next.device, active_alerts: alerts.length };
    this.change(u, snapshot(device, u.next.latest, alerts, past));
  }

  /** addAlerts takes the active alerts of a device that a page has asked for before they have come with all others: they are no news. */
  addAlerts(u: Unit, alerts: Alert[]) {
    const more = alerts.filter((a) => a.status === 'active' && !this.ended.has(a.id) && !u.next.alerts.some((x) => x.id === a.id));
    if (!more.length) return;
    u.now = u.next = snapshot(u.next.device, u.next.latest, [...u.next.alerts, ...more], u.next.past);
    this.reorder();
  }

  /** takeBack puts in what an alert was before a change that was shown at once and has failed, unless it has changed since. */
  takeBack(shown: Alert, before: Alert) {
    const u = this.byID.get(shown.device_id ?? 0);
    if (![...(u?.next.alerts ?? []), ...(u?.next.past ?? []), ...this.other].includes(shown)) return;
    this.ended.delete(shown.id);
    this.putAlert(before);
  }

  /** spread replaces all alerts, or by the first of them those that it names. */
  private spread(alerts: Alert[], all = true) {
    const byDevice = new Map<number, Map<number, Alert>>();
    const other: Alert[] = [];
    for (const a of alerts) {
      const device = a.device_id ?? 0; // 0: the alert of a whole site
      if (!this.byID.has(device) && a.status === 'active') other.push(a);
      const mine = byDevice.get(device);
      if (mine) mine.set(a.id, a);
      else byDevice.set(device, new Map([[a.id, a]]));
    }
    this.other = other;
    for (const u of this.byID.values()) {
      const mine = [...(byDevice.get(u.id)?.values() ?? [])];
      const old = u.next;
      if (!mine.length && (!all || (!old.alerts.length && !old.past.length))) continue;
      const active = mine.filter((a) => a.status === 'active').concat(all ? [] : old.alerts.filter((a) => !mine.some((m) => m.id === a.id)));
      this.change(u, snapshot(old.device, old.latest, active, mine.filter((a) => a.status === 'resolved')));
    }
    this.alertNews();
  }

  private reading(r: Partial<Latest> & { device_id: number; recorded_at: string; received_at: string }) {
    const u = this.byID.get(r.device_id);
    if (!u) return;
    const old = u.next;
    const device = { ...old.device };
    const newer = !old.latest?.recorded_at || r.recorded_at >= old.latest.recorded_at;
    if (!r.imported && (!device.last_seen_at || r.received_at > device.last_seen_at)) device.last_seen_at = r.received_at;
    if (newer && r.product_zone_temp != null) {
      device.current_temp = r.product_zone_temp;
      device.current_temp_at = r.recorded_at;
      if (!r.imported) device.judged ||= limited(device.limits);
    }
    this.change(u, snapshot(device, newer ? r : old.latest, old.alerts, old.past));
  }

  private change(u: Unit, next: Snapshot) {
    if (next.condition !== u.next.condition || pending(next) !== pending(u.next)) this.reorder();
    u.next = next;
    this.dirty.add(u);
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  private draw() {
    this.frame = 0;
    for (const u of this.dirty) u.now = u.next;
    this.dirty.clear();
  }

  private reorder() {
    this.orderTimer ??= setTimeout(() => unpressed(() => this.order()), this.orderWait);
  }

  private order() {
    clearTimeout(this.orderTimer);
    this.orderTimer = undefined;
    const began = Date.now();
    this.draw();
    this.units = [...this.byID.values()].sort(worstFirst);
    // What shows them follows at once, and takes longer the more they are: when thousands change one after the other, most of
    // the time is for them.
    queueMicrotask(() => (this.orderWait = reorderAfter + 3 * (Date.now() - began)));
  }

  // ---- the stream

  event(e: StreamEvent) {
    if (this.held) {
      this.held.push(e);
      return;
    }
    const { device, reading, alert, summary } = e.data as { device?: Device; reading?: Latest; alert?: Alert; summary?: Summary };
    // When a large fleet comes back, its summary waits behind the events of all devices: an answer overtakes them.
    let behind = this.large && ++this.unsummed === manyEvents;
    if (summary) {
      this.unsummed = 0;
      behind = summary.computed_at < this.summary?.computed_at!; // or the clock was set back
      if (!behind) this.summary = summary;
    } else if (reading) this.reading(reading);
    else if (alert) this.putAlert(alert);
    else if (device && e.event !== 'device.deleted') this.put(device);
    else if (device && this.byID.delete(device.id)) {
      this.total = this.byID.size;
      this.alertNews(); // those of a device that moved out of sight are no more to be seen
      this.reorder();
    }
    if (behind) this.loadSummary().catch(() => {}); // another will come by the stream
  }

  refetch() {
    const generation = this.generation;
    Promise.all([this.load(generation), this.loadSites()]).then(
      () => generation === this.generation && stream.answered(true),
      () => generation === this.generation && stream.missed(),
    );
  }

  /** every is how often everything is asked for while there is no stream, in ms. A large fleet is asked for less often: it costs the server more. */
  get every(): number {
    return Math.min(60_000, pollEvery * Math.ceil(this.total / 500 || 1));
  }

  /** pollSoon asks for everything again while there is no stream, and for the
   * summary from time to time in any case. */
  private pollSoon(wait = stream.connection === 'live' && this.complete ? 30_000 : this.every) {
    const generation = this.generation;
    clearTimeout(this.pollTimer);
    this.pollTimer = setTimeout(async () => {
      try {
        if (document.visibilityState === 'visible') {
          // This finds a connection that has died without a word.
          await this.loadSummary(AbortSignal.timeout(heartbeat));
          if (stream.connection !== 'live' || !this.complete) await this.load(generation);
          if (generation === this.generation) stream.answered(true);
        }
      } catch (e) {
        // Whoever refuses is there: a stream that is live stays so.
        if (generation === this.generation && (stream.connection !== 'live' || (e as Failure).offline)) stream.answered(false);
      }
      if (generation === this.generation) this.pollSoon();
    }, wait);
  }
}

export const fleet = new Fleet();
