// The order of the list: the worst first, and what another alert explains under its cause.
import type { Alert } from '../../api/client';
import { conditionOfAlert, conditions, startOf } from '../../words/condition';
import { natural } from '../../words/tr';

export interface Entry {
  alert: Alert;
  /** Those that it explains. */
  explains: Alert[];
  /** Earlier ones of the same device and type, of the day before it: one line says them all. */
  earlier: Alert[];
}

/** worstFirst: what nobody has acknowledged, by condition, the longest first, as on the overview by name where they began together; then what is acknowledged. */
export function worstFirst(a: Alert, b: Alert): number {
  return (
    Number(a.acknowledged_at != null) - Number(b.acknowledged_at != null) ||
    conditions[conditionOfAlert(a)].rank - conditions[conditionOfAlert(b)].rank ||
    startOf(a) - startOf(b) ||
    natural.compare(a.device_name ?? '', b.device_name ?? '')
  );
}

/** entriesOf folds what is explained under its cause, where the cause is in the list. */
export function entriesOf(alerts: Alert[], sorted: boolean): Entry[] {
  const byID = new Map<number, Entry>();
  for (const alert of alerts) byID.set(alert.id, { alert, explains: [], earlier: [] });
  const out: Entry[] = [];
  for (const entry of byID.values()) {
    const cause = byID.get(causeOf(entry.alert, byID));
    if (cause) cause.explains.push(entry.alert);
    else out.push(entry);
  }
  if (!sorted) return folded(out);
  for (const e of out) e.explains.sort(worstFirst);
  return out.sort((a, b) => Number(a.alert.suppressed_by != null) - Number(b.alert.suppressed_by != null) || worstFirst(a.alert, b.alert));
}

const together = 86_400_000; // ms

/** folded puts what came again and again under the last time that it came. */
function folded(entries: Entry[]): Entry[] {
  const heads = new Map<string, Entry>();
  return entries.filter((e) => {
    const a = e.alert;
    if (a.status !== 'resolved' || a.device_id == null || e.explains.length) return true;
    const key = `${a.device_id} ${a.type} ${a.part ?? ''}`;
    const head = heads.get(key);
    if (head && Math.abs(startOf(head.alert) - startOf(a)) <= together) {
      head.earlier.push(a);
      return false;
    }
    heads.set(key, e);
    return true;
  });
}

/** causeOf follows causes of causes to the last one in the list, 0 without one or where they run in a circle. */
function causeOf(a: Alert, known: Map<number, Entry>): number {
  let cause = 0;
  const seen = new Set([a.id]);
  for (let at = a.suppressed_by; at != null && known.has(at); at = known.get(at)!.alert.suppressed_by) {
    if (seen.has(at)) return 0;
    seen.add((cause = at));
  }
  return cause;
}
