// Who made a change, for the pages that tell what was changed.
import { tr } from './tr';

/** actor is who made a change as the audit log has it, in words: people stand as they are. */
export function actor(by: string): string {
  const [, kind, name] = /^(token|source|plan) (.+)$/.exec(by) ?? [];
  if (kind) return kind === 'token' ? tr('token {name}', { name: name! }) : kind === 'plan' ? tr('plan {name}', { name: name! }) : tr('source {name}', { name: name! });
  return by === 'service' ? tr('the service') : by === 'command line' ? tr('the command line') : by;
}

/** person is who did something, without the address: "Ada" of "Ada <ada@example.com>". */
export function person(actor: string): string {
  return actor.replace(/^(.*\S)\s*<[^<>]*>$/, '$1');
}
