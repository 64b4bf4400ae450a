// What sources send, by the names of their templates.
import { api, ask } from '../../api/client';
import { tr } from '../../words/tr';

export interface Template {
  value: string;
  label: string;
}

/** templates asks for those that there are. */
export async function templates(): Promise<Template[]> {
  const got = await ask(api.GET('/v1/source-templates'));
  return got.templates.map((t) => ({ value: t.name, label: t.name === 'auto' ? tr('Recognised automatically') : t.title }));
}

/** labelOf is what people read of a template; while the list is on its way, and of one that is not on it, its name says most. */
export function labelOf(name: string, all: Template[]): string {
  return name === 'own' ? tr('A template of its own') : (all.find((t) => t.value === name)?.label ?? name);
}
