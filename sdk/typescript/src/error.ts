/** What the service refused. Decide by `code`, which is never renamed; `message` is for people. */
export class RimewatchError extends Error {
  override readonly name = 'RimewatchError';

  constructor(
    /** HTTP status; 0 for an error that came over the stream. */
    readonly status: number,
    /** Such as `validation_failed`; `not_the_api` when something else than the service answered. */
    readonly code: string,
    message: string,
    /** What is wrong with which field. */
    readonly fields: Record<string, string[]> = {},
    readonly requestId = '',
    /** s that the service asks to wait. */
    readonly retryAfter = 0,
  ) {
    super(message);
  }

  /** Reads a failed answer. */
  static async of(response: Response): Promise<RimewatchError> {
    const wait = retryAfter(response.headers);
    try {
      const { error } = (await response.json()) as { error: { code: string; message: string; fields: Record<string, string[]>; request_id: string } };
      return new RimewatchError(response.status, error.code, error.message, error.fields, error.request_id, wait);
    } catch {
      return new RimewatchError(response.status, 'not_the_api', `HTTP ${response.status}: something else than the service answered`, {}, '', wait);
    }
  }
}

/** Seconds of Retry-After, also where it is a date, which counts from the answer's own. */
function retryAfter(headers: Headers): number {
  const value = headers.get('Retry-After');
  if (!value) return 0;
  if (/^\d+$/.test(value)) return Number(value);
  const wait = (Date.parse(value) - Date.parse(headers.get('Date') ?? '')) / 1000;
  return wait > 0 ? wait : 0;
}
