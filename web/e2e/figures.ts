// What the tests that compare the pages with the API have in common: how a fleet is drawn, how numbers are read.

/** drawn draws by the seed of SEED, which it prints: always the same without it. */
export function drawn() {
  const seed = Number(process.env.SEED ?? 1);
  console.info(`the fleet of SEED=${seed}`);
  // https://en.wikipedia.org/wiki/Linear_congruential_generator, as in Numerical Recipes
  let state = seed;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const between = (low: number, high: number) => low + Math.floor(random() * (high - low + 1));
  const pick = <T>(of: T[]) => of[between(0, of.length - 1)]!;
  return { seed, random, between, pick };
}

/** plain is a text whose numbers are written without groups and with a hyphen. */
export const plain = (text: string) => text.replaceAll('\u2212', '-').replace(/(\d),(\d{3})/g, '$1$2').replace(/\s+/g, ' ').trim();
/** numbers are those of a text, as the page writes them in English. */
export const numbers = (text: string) => (plain(text).match(/-?\d+(\.\d+)?/g) ?? []).map(Number);
export const rounded = (v: number, digits = 0) => Number(v.toFixed(digits)) + 0; // not −0
