// The axes that all charts have: time below, values on the left.
import type uPlot from 'uplot';
import { clockTime, date, localTime, number } from '../words/format';

/** axesOf returns the axes; colour reads a colour of the theme, shown is whether the time is written. */
export function axesOf(colour: (name: string) => string, zone: string, shown: boolean): uPlot.Axis[] {
  const stroke = colour('--ink-3');
  const grid = { stroke: colour('--line'), width: 1 };
  const font = `11px ${getComputedStyle(document.body).fontFamily}`;
  const digits = (splits: number[]) => [0, 1].find((d) => splits.every((v) => Math.abs(v * 10 ** d - Math.round(v * 10 ** d)) < 1e-6)) ?? 2;
  return [
    {
      show: shown, size: 26, stroke, font, grid, ticks: { show: false }, space: 64,
      values: (u, splits, __, ___, incr) => fitting(u, splits, splits.map((s, i) => timeLabel(s * 1000, splits[i - 1], incr, zone)), font),
    },
    { size: 48, stroke, font, grid, ticks: { show: false }, space: 28, gap: 6, values: (_, splits) => splits.map((v) => number(v, digits(splits))) },
  ];
}

function timeLabel(at: number, before: number | undefined, incr: number, zone: string): string {
  const day = date(at, zone, at);
  if (incr >= 86_400) return day;
  if (before != null && date(before * 1000, zone, at) === day) return clockTime(at, zone);
  return localTime(at, zone).endsWith('T00:00') ? day : `${day} ${clockTime(at, zone)}`;
}

// Labels in the middle of their lines; none where the edge of the chart would cut it off.
function fitting(u: uPlot, splits: number[], labels: string[], font: string): string[] {
  u.ctx.save();
  u.ctx.font = font;
  const widths = labels.map((l) => u.ctx.measureText(l).width);
  u.ctx.restore();
  return apart(labels, splits.map((s) => u.bbox.left / devicePixelRatio + u.valToPos(s, 'x')), widths, u.width);
}

/** apart leaves out labels that do not fit between 0 and width, or beside others: the longer ones, which name a day, stay. */
export function apart(labels: string[], at: number[], widths: number[], width: number): string[] {
  const gap = 6;
  const kept: number[] = [];
  for (const i of [...labels.keys()].sort((a, b) => widths[b]! - widths[a]! || a - b)) {
    const half = widths[i]! / 2;
    const inside = at[i]! - half >= 0 && at[i]! + half <= width;
    if (inside && kept.every((k) => Math.abs(at[i]! - at[k]!) >= half + widths[k]! / 2 + gap)) kept.push(i);
  }
  return labels.map((l, i) => (kept.includes(i) ? l : ''));
}

/** pointing are the hooks of a chart that says where the pointer is, and which span was drawn across it. */
export function pointing(onzoom: (from: number, to: number) => void, oncursor: (index: number | null) => void): Pick<uPlot.Hooks.Arrays, 'setCursor' | 'setSelect'> {
  return {
    setCursor: [(u) => oncursor(u.cursor.left != null && u.cursor.left >= 0 ? (u.cursor.idx ?? null) : null)],
    setSelect: [
      (u) => {
        if (u.select.width < 6) return;
        onzoom(u.posToVal(u.select.left, 'x') * 1000, u.posToVal(u.select.left + u.select.width, 'x') * 1000);
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      },
    ],
  };
}
