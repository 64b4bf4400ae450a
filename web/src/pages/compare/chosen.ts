// Which units are compared, as it stands in the address: /compare?devices=WIF-1,WIF-2.
// Serials have no comma.

/** Units on one chart: of more nobody tells the lines apart. */
export const most = 6;

export function address(serials: string[]): string {
  return '/compare?devices=' + serials.map(encodeURIComponent).join(',');
}

/** chosenOf reads the address: each once, no more than fit. */
export function chosenOf(param: string): string[] {
  const out: string[] = [];
  for (const s of param.split(',')) if (s && !out.some((o) => o.toLowerCase() === s.toLowerCase())) out.push(s);
  return out.slice(0, most);
}
