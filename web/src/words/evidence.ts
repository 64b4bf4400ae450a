// What an alert rests on, as rows to draw: each measure once, with what it was, what
// it is and what would be usual or allowed.
import type { Alert, Schemas } from '../api/client';
import { measureOf } from './measure';
import { tr } from './tr';

export interface Row {
  metric: string;
  unit: string;
  /** Of the past: when a prediction opened, or the worst of an alert. */
  before: number | null;
  beforeWord: string;
  /** Null when the alert is over. */
  now: number | null;
  /** The usual value, or the limit. */
  reference: number | null;
  referenceWord: string;
  /** Where values are usual or allowed; a null side is open. */
  band: { from: number | null; to: number | null } | null;
}

type Departure = Schemas['Departure'];

const sentencesOnly = ['trend', 'alternatives', 'runner_up', 'common_mode', 'lasts'];
const most = 4; // the strongest come first

/** rowsOf returns the rows of an alert. Opened is its prediction when it opened and
 * present what is known of the device now, where those are known. */
export function rowsOf(a: Alert, opened: Schemas['Prediction'] | null, present: Schemas['DevicePrediction'] | null): Row[] {
  if (a.prediction?.evidence.length) return ofPrediction(a, opened, present);
  if (a.metric == null || a.threshold == null || !measureOf(a.metric)) return [];
  const peak = a.peak_value ?? a.value;
  if (peak == null) return [];
  const now = a.status === 'active' ? a.value : null;
  return [
    {
      metric: a.metric,
      unit: a.unit ?? '',
      before: now === peak ? null : peak,
      beforeWord: tr('peak'),
      now,
      reference: a.threshold,
      referenceWord: tr('limit'),
      band: peak >= a.threshold ? { from: null, to: a.threshold } : { from: a.threshold, to: null },
    },
  ];
}

function ofPrediction(a: Alert, opened: Schemas['Prediction'] | null, present: Schemas['DevicePrediction'] | null): Row[] {
  const active = a.status === 'active';
  return a.prediction!.evidence
    .filter((e) => !sentencesOnly.includes(e.metric))
    .slice(0, most)
    .map((e) => {
      const d = active ? present?.drivers.find((x) => x.metric === e.metric) : undefined;
      const first = opened?.evidence.find((x) => x.metric === e.metric)?.observed ?? null;
      const usual = d?.expected ?? e.expected;
      const half = d ? spread(d, usual) : null;
      return {
        metric: e.metric,
        unit: e.unit,
        before: active ? first : e.observed,
        beforeWord: active ? tr('when it opened') : tr('at last'),
        now: active ? (d?.observed ?? e.observed) : null,
        reference: usual,
        referenceWord: tr('usually'),
        // Without the unit's spread the usual value itself is the band.
        band: { from: usual - (half ?? 0), to: usual + (half ?? 0) },
      };
    });
}

/** spread is how far a measure may be from its usual value before it counts, in the measure's unit. */
function spread(d: Departure, usual: number): number {
  return d.unit === '%' ? Math.abs(usual * d.threshold) / 100 : d.threshold;
}
