// Where this installation is reached: one setting, which mails, sketches and labels share.
import { api, ask, type Schemas } from '../api/client';
import { isLoopback } from '../words/address';

export type Address = Schemas['AddressJSON'];

const patience = 4000; // ms that an address has to answer

/** answers reports whether something answers at an address, as this browser sees it; null where the browser may not try. */
export async function answers(address: string): Promise<boolean | null> {
  const url = new URL(address);
  if (url.origin === location.origin) return true;
  if (location.protocol === 'https:' && url.protocol === 'http:') return null;
  try {
    await fetch(`${address}/healthz`, { mode: 'no-cors', credentials: 'omit', cache: 'no-store', signal: AbortSignal.timeout(patience) });
    return true;
  } catch {
    return false;
  }
}

class Reach {
  now = $state.raw<Address | null>(null);

  async load() {
    this.now = (await ask(api.GET('/v1/address'))).address;
  }

  async set(address: string) {
    this.now = (await ask(api.PATCH('/v1/address', { body: { address } }))).address;
  }

  /** Where links lead: the address, or while nobody has said one, that of this page. */
  get at(): string {
    return this.now?.address ?? location.origin;
  }

  /** Whether what leads there works on this computer alone. */
  get onlyHere(): boolean {
    return isLoopback(new URL(this.at).hostname);
  }
}

export const reach = new Reach();
