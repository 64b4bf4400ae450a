import { RimewatchError } from './error.js';

export interface Backoff {
  /** Tries after the first. Default 4. */
  retries: number;
  /** ms before the first retry, doubling. Default 200. */
  minBackoff: number;
  /** ms at most between tries. Default 5,000. */
  maxBackoff: number;
  /** ms: a longer Retry-After is not waited for and ends the call. Default 60,000. */
  maxWait: number;
}

/** The wait before retry number `attempt`, in ms: a random half shorter, so that many clients do not come back at once. */
export function backoff(o: Backoff, attempt: number): number {
  const longest = Math.min(o.maxBackoff, o.minBackoff * 2 ** attempt);
  return longest / 2 + Math.random() * (longest / 2);
}

/**
 * How long to wait before a failed call is tried again, in ms; undefined = not again. After 429 and 503 the service has
 * done nothing; after everything else of a network or gateway nobody knows, so that only calls that may happen twice go again.
 */
export function again(o: Backoff, error: unknown, attempt: number, idempotent: boolean): number | undefined {
  if (attempt >= o.retries) return undefined;
  const wait = backoff(o, attempt);
  if (!(error instanceof RimewatchError)) return idempotent ? wait : undefined;
  const ours = error.code !== 'not_the_api';
  switch (error.status) {
    case 429:
    case 503: {
      const asked = error.retryAfter * 1000;
      return (ours || idempotent) && asked <= o.maxWait ? Math.max(wait, asked * 1.25) : undefined;
    }
    case 502:
    case 504:
      return idempotent ? wait : undefined;
    default:
      return undefined;
  }
}

export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
