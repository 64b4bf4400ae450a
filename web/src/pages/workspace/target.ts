// Who a step of a route names: channels, members, rotas, contacts, as one list to choose from.
import type { Schemas } from '../../api/client';
import { tr } from '../../words/tr';

export interface People {
  members: Schemas['Member'][];
  rotas: Schemas['Rota'][];
  contacts: Schemas['Contact'][];
}
type Target = Schemas['Target'];

/** keyOf is a target as the value of a choice. */
export const keyOf = (t: Target) => `${t.kind}:${t.id}`;

/** targetOf reads it back. */
export function targetOf(key: string): Target {
  const [kind, id] = key.split(':');
  return { kind: kind as Target['kind'], id: Number(id) };
}

/** targetName is what a target is called; one that is gone says so. */
export function targetName(t: Target, people: People): string {
  switch (t.kind) {
    case 'member': {
      const m = people.members.find((x) => x.user_id === t.id);
      return m ? m.name || m.email : tr('a former member');
    }
    case 'rota':
      return tr('whoever is on duty ({rota})', { rota: people.rotas.find((x) => x.id === t.id)?.name ?? t.id });
    case 'contact':
      return people.contacts.find((x) => x.id === t.id)?.name ?? tr('a removed contact');
    default:
      return String(t.id);
  }
}

/** choices are all that a step can name. */
export function choices(channels: Schemas['Channel'][], people: People): { value: string; label: string }[] {
  const of = (kind: Target['kind'], ids: number[], label: (t: Target) => string) => ids.map((id) => ({ value: keyOf({ kind, id }), label: label({ kind, id }) }));
  const name = (t: Target) => targetName(t, people);
  return [
    ...of('rota', people.rotas.map((r) => r.id), (t) => tr('On duty: {rota}', { rota: people.rotas.find((r) => r.id === t.id)!.name })),
    ...of('member', people.members.map((m) => m.user_id), (t) => tr('{name}, a member', { name: name(t) })),
    ...of('contact', people.contacts.map((c) => c.id), (t) => tr('{name}, a contact', { name: name(t) })),
    ...channels.map((c) => ({ value: keyOf({ kind: 'channel', id: c.id }), label: c.name })),
  ];
}
