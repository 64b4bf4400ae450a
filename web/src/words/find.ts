// What somebody types into a search box, word by word.

/** finder returns a test for texts that together have all words of a query. Of several words one that is a number means a
 * whole number: "store 7" is not store 17. Case and accents do not count. */
export function finder(query: string): (...texts: (string | null | undefined)[]) => boolean {
  const words = folded(query).split(/\s+/).filter(Boolean);
  const wanted = words.map((w) => (words.length > 1 && /^\d+$/.test(w) ? new RegExp(`(?<!\\d)0*${w.replace(/^0+(?=\d)/, '')}(?!\\d)`) : w));
  if (!wanted.length) return () => true;
  return (...texts) => {
    const text = folded(texts.filter(Boolean).join('\n'));
    return wanted.every((w) => (typeof w === 'string' ? text.includes(w) : w.test(text)));
  };
}

function folded(s: string): string {
  const low = s.toLowerCase();
  return /^[\x00-\x7f]*$/.test(low) ? low : low.normalize('NFD').replace(/\p{M}/gu, ''); // eslint-disable-line no-control-regex
}
