// The workspace of this page, by its slug: each request names it, so that two pages may be in two.
export const here = { slug: '' };

/** named are the headers by which a request names it. */
export const named = (): Record<string, string> => (here.slug ? { 'Rimewatch-Workspace': here.slug } : {});

/** fileOf is the address of a file, for a link, which sends no headers. */
export const fileOf = (url: string) => (here.slug ? `${url}${url.includes('?') ? '&' : '?'}workspace=${here.slug}` : url);
