// What roles are called inside a sentence.
import type { Me } from '../api/client';
import { tr } from './tr';

const roles: Record<Me['role'], string> = { viewer: tr('viewer'), technician: tr('technician'), admin: tr('admin'), owner: tr('owner') };

/** roleName: "technician". */
export function roleName(role: Me['role']): string {
  return roles[role] ?? role;
}
