// The scale of the band gauge: the allowed range in the middle, room on both
// sides, and the same place for the same value always, so that a glance is enough.

export interface Band {
  min: number | null;
  max: number | null;
}

export interface Scale {
  from: number;
  to: number;
  /** Share of the width, 0–1; what lies outside stops at the edge. */
  at(v: number): number;
  beyond(v: number): 'below' | 'above' | null;
}

/** Share of the allowed range that is shown beyond each limit. */
const room = 0.45;
/** K shown on either side where there is only one limit. */
const oneSided = 12;

export function bandScale(b: Band, values: number[] = []): Scale {
  let from: number;
  let to: number;
  if (b.min != null && b.max != null) {
    const span = Math.max(b.max - b.min, 0.5);
    from = b.min - span * room;
    to = b.max + span * room;
  } else if (b.max != null) {
    from = b.max - oneSided;
    to = b.max + oneSided / 2;
  } else if (b.min != null) {
    from = b.min - oneSided / 2;
    to = b.min + oneSided;
  } else {
    const lo = values.length ? Math.min(...values) : -1;
    const hi = values.length ? Math.max(...values) : 1;
    const pad = Math.max((hi - lo) * 0.3, 2);
    from = lo - pad;
    to = hi + pad;
  }
  const at = (v: number) => Math.min(1, Math.max(0, (v - from) / (to - from)));
  return { from, to, at, beyond: (v) => (v < from ? 'below' : v > to ? 'above' : null) };
}
