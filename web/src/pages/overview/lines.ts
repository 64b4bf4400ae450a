// The last 24 hours of the figures in the head of the overview, from the alerts
// of that time: how many units were connected, in limits, and free of alerts.
import type { Unit } from '../../live/unit.svelte';
import { startOf } from '../../words/condition';

export interface Lines {
  alerts: number[];
  /** Shares of the fleet, 0–100. */
  online: number[];
  inLimits: number[];
  untroubled: number[];
}

const slots = 96;

/** linesOf returns no line where nothing has ever reported: a perfect day would be a promise without a ground. */
export function linesOf(units: Unit[], now: number): Lines {
  if (!units.some((u) => u.next.lastSeenAt)) return { alerts: [], online: [], inLimits: [], untroubled: [] };
  const step = 86_400_000 / slots;
  const from = now - slots * step;
  const alerts = new Array<number>(slots).fill(0);
  const off = new Array<number>(slots).fill(0);
  const warm = new Array<number>(slots).fill(0);
  const troubled = new Array<number>(slots).fill(0);
  const mark = new Uint8Array(slots); // bits: troubled 1, offline 2, out of limits 4
  for (const u of units) {
    const { alerts: active, past } = u.next;
    if (!active.length && !past.length) continue;
    mark.fill(0);
    for (const a of [...active, ...past]) {
      const end = a.resolved_at ? Date.parse(a.resolved_at) : now;
      const last = Math.min(slots - 1, Math.floor((end - from) / step));
      const bits = 1 | (a.type === 'device_offline' ? 2 : 0) | (a.type === 'high_temperature' || a.type === 'low_temperature' ? 4 : 0);
      for (let i = Math.max(0, Math.floor((startOf(a) - from) / step)); i <= last; i++) mark[i]! |= bits;
      for (let i = Math.max(0, Math.floor((Date.parse(a.triggered_at) - from) / step)); i <= last; i++) alerts[i]!++;
    }
    for (let i = 0; i < slots; i++) {
      if (mark[i]! & 1) troubled[i]!++;
      if (mark[i]! & 2) off[i]!++;
      if (mark[i]! & 4) warm[i]!++;
    }
  }
  const share = (bad: number[]) => bad.map((n) => (1 - n / units.length) * 100);
  return { alerts, online: share(off), inLimits: share(warm), untroubled: share(troubled) };
}
