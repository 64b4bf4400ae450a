// The history that the charts of a device show: asked for once per range, then
// carried on with the live readings.
import { api, ask, type Alert, type Schemas } from '../../api/client';
import { appended, seriesOf, type Series } from '../../chart/series';
import type { Range } from '../../chart/range';
import { session } from '../../session.svelte';
import type { Field } from '../../words/measure';

const mostPoints = 1440;

// The server's own choice of a step counts all readings of the span first; of a
// long span it is known beforehand that they are too many.
const steps = [['1m', 60_000], ['5m', 300_000], ['15m', 900_000], ['1h', 3_600_000], ['1d', 86_400_000]] as const;
function stepFor(span: number): 'auto' | (typeof steps)[number][0] {
  if (span <= 36 * 3_600_000) return 'auto';
  return steps.find(([, ms]) => span / ms <= mostPoints)?.[0] ?? '1d';
}

export class DeviceHistory {
  series = $state.raw<Series | null>(null);
  alerts = $state.raw<Alert[]>([]);
  /** What was done to the device, in the span that was asked for, and the maintenance of all. */
  done = $state.raw<{ actions: Schemas['CorrectiveAction'][]; windows: Schemas['MaintenanceWindow'][] }>({ actions: [], windows: [] });
  /** Whether the alerts were asked for, with or without success. */
  alertsLoaded = $state(false);
  /** Whether what was done was asked for, with or without success. */
  doneLoaded = $state(false);
  failure = $state.raw<Error | null>(null);
  /** Whether another span than the one shown is on its way. The same one, asked for again as time passes, is nothing to wait for. */
  loading = $state(false);
  private shown = '';
  private spans = 0; // asked for
  private stop: AbortController | undefined;

  constructor(private serial: string) {}

  /** load asks for a range; a question still under way is dropped. */
  async load(range: Range) {
    this.stop?.abort();
    const stop = (this.stop = new AbortController());
    const asked = range.name ?? `${range.from}-${range.to}`;
    this.loading = asked !== this.shown;
    try {
      const history = await ask(
        api.GET('/v1/devices/{serial}/readings', {
          params: {
            path: { serial: this.serial },
            query: { from: new Date(range.from).toISOString(), to: new Date(range.to + 1000).toISOString(), step: stepFor(range.to - range.from), max_points: mostPoints },
          },
          signal: stop.signal,
        }),
      );
      this.series = seriesOf(history);
      this.shown = asked;
      this.failure = null;
    } catch (e) {
      if (stop.signal.aborted) return;
      this.failure = e as Error;
    } finally {
      if (this.stop === stop) this.loading = false;
    }
  }

  /** loadAlerts asks for the alerts; what fails is asked for again at the next change. */
  async loadAlerts() {
    try {
      const { alerts } = await ask(api.GET('/v1/alerts', { params: { query: { device_serial: this.serial, status: 'all', per_page: 100 } } }));
      this.alerts = alerts;
    } catch {
      // They can wait for the next change.
    } finally {
      this.alertsLoaded = true;
    }
  }

  /** loadDone asks what was done in a span; what fails is asked for again with the next one. */
  async loadDone(range: Range) {
    const mine = ++this.spans;
    try {
      const [{ corrective_actions }, { maintenance_windows }] = await Promise.all([
        ask(api.GET('/v1/devices/{serial}/corrective-actions', { params: { path: { serial: this.serial }, query: { from: new Date(range.from).toISOString(), to: new Date(range.to + 60_000).toISOString() } } })),
        session.limited ? { maintenance_windows: [] } : ask(api.GET('/v1/maintenance-windows', { params: { query: { ended: true } } })),
      ]);
      if (mine === this.spans) this.done = { actions: corrective_actions, windows: maintenance_windows };
    } catch {
      // The charts are there without it.
    } finally {
      this.doneLoaded = true;
    }
  }

  /** live carries the charts on with a reading that has just come in. */
  live(r: Partial<Record<Field, number | null>> & { recorded_at: string }) {
    if (this.series) this.series = appended(this.series, r);
  }

  close() {
    this.stop?.abort();
  }
}
