// Addresses of a server. Pure.

/** isLoopback reports whether only this computer can reach a host. */
export function isLoopback(host: string): boolean {
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[?::1\]?|0\.0\.0\.0)$/i.test(host);
}

/** addressOf is the address that somebody typed, as it stands before a path; '' where it is none. */
export function addressOf(text: string): string {
  try {
    const url = new URL(/^https?:/i.test(text.trim()) ? text.trim() : `http://${text.trim()}`);
    return url.hostname ? (url.origin + url.pathname).replace(/\/+$/, '') : '';
  } catch {
    return '';
  }
}
