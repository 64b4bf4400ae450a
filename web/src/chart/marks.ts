// What people did to a device, as marks on its charts: work, corrective actions, maintenance.
import type { Schemas } from '../api/client';

export interface Mark {
  id: string;
  /** When it was done, or began; ms. */
  at: number;
  /** When it ended, of what lasted. */
  to?: number;
  text: string;
  by: string;
  /** The alert that it was done about. */
  alert?: number;
}

type Device = Pick<Schemas['DeviceDetail'], 'serial' | 'site'>;

/** marksOf returns the marks of a span, the oldest first. Plans are not done yet: they have none. */
export function marksOf(device: Device, actions: Schemas['CorrectiveAction'][], windows: Schemas['MaintenanceWindow'][], from: number, to: number, now: number): Mark[] {
  const out: Mark[] = actions.map((a) => ({ id: `a${a.id}`, at: Date.parse(a.performed_at), text: a.action, by: a.performed_by, ...(a.alert_id ? { alert: a.alert_id } : {}) }));
  for (const w of windows) {
    if (concerns(w, device)) out.push({ id: `w${w.id}`, at: Date.parse(w.starts_at), to: Date.parse(w.ends_at), text: w.reason, by: w.created_by });
  }
  return out.filter((m) => m.at <= Math.min(to, now) && (m.to ?? m.at) >= from).sort((a, b) => a.at - b.at);
}

/** concerns reports whether a maintenance window is about a device: of the places it names any, of all where it names none. */
function concerns(w: Schemas['MaintenanceWindow'], d: Device): boolean {
  if (!w.site_ids.length && !w.device_serials.length) return true;
  return (d.site != null && w.site_ids.includes(d.site.id)) || w.device_serials.some((s) => s.toLowerCase() === d.serial.toLowerCase());
}

/** placed returns where the flags of marks stand, in shares of the width, and how
 * much room each has to the next one; those that would lie on one another share a flag. */
export function placed(marks: Mark[], share: (t: number) => number, closest = 3): { marks: Mark[]; left: number; room: number }[] {
  const out: { marks: Mark[]; left: number; room: number }[] = [];
  for (const m of marks) {
    const left = Math.min(100, Math.max(0, share(m.at)));
    const last = out.at(-1);
    if (last && left - last.left < closest) last.marks.push(m);
    else out.push({ marks: [m], left, room: 0 });
  }
  out.forEach((f, i) => (f.room = (out[i + 1]?.left ?? 100) - f.left));
  return out;
}
