// What is about to happen, in words.
import type { Act } from '../api/client';
import { tr } from './tr';

const named: Record<string, (name: string) => string> = {
  'resolve-alert': (name) => tr('Ending the alert of {name}', { name }),
  'give-feedback': (name) => tr('Ending the prediction of {name} and learning it again', { name }),
  'replace-source-key': (name) => tr('Replacing the key “{name}”', { name }),
  'delete-source-key': (name) => tr('Revoking the key “{name}”', { name }),
  'delete-device': (name) => tr('Retiring {name}', { name }),
};

/** doing says what an act is about to do. */
export function doing(a: Pick<Act, 'does' | 'about'>): string {
  if (a.does === 'create-silence') return tr('Silencing alerts of more than one site');
  const words = named[a.does];
  if (words) return words(a.about);
  return a.about ? tr('Removing {name}', { name: a.about }) : tr('Removing it');
}
