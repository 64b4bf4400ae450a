/** s by which the clock of a sender may differ, as Standard Webhooks has it. */
const TOLERANCE = 5 * 60;

/**
 * Verifies a webhook: whether one of its signatures was made with `secret`, at most five minutes ago. `body` is the
 * text as it came, not JSON that was written again. Drop a `Webhook-Id` that you have seen: webhooks come at least once.
 */
export async function verifyWebhook(secret: string, headers: Headers | Record<string, string | string[] | undefined>, body: string | Uint8Array, now = new Date()): Promise<boolean> {
  const header = (name: string) => {
    if (headers instanceof Headers) return headers.get(name) ?? '';
    const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1] ?? '';
    return Array.isArray(value) ? (value[0] ?? '') : value;
  };
  const [id, at, signatures] = [header('webhook-id'), header('webhook-timestamp'), header('webhook-signature')];
  if (!id || !/^\d+$/.test(at) || Math.abs(now.getTime() / 1000 - Number(at)) > TOLERANCE) return false;
  const bytes = Uint8Array.from(atob(secret.replace(/^whsec_/, '')), (c) => c.charCodeAt(0));
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  const text = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const head = new TextEncoder().encode(`${id}.${at}.`);
  const signed = new Uint8Array(head.length + text.length);
  signed.set(head);
  signed.set(text, head.length);
  for (const one of signatures.split(' ')) {
    const [version, base64] = [one.slice(0, one.indexOf(',')), one.slice(one.indexOf(',') + 1)];
    if (version !== 'v1' || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) continue;
    const signature = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    if (await crypto.subtle.verify('HMAC', key, signature, signed)) return true;
  }
  return false;
}
