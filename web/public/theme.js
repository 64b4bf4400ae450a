// Runs before the first paint, so that nobody is blinded by the wrong theme. And what every page asks first is asked while its
// code is on its way: a phone then waits for the network once, not four times (src/api/client.ts takes the answers).
(() => {
  let theme, language;
  try {
    theme = localStorage.getItem('rimewatch.theme');
    language = localStorage.getItem('rimewatch.language');
  } catch {
    // Storage may be forbidden: then the system's theme it is.
  }
  const dark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'rime-dark' : 'rime-light';

  const read = [language, ...navigator.languages].filter(Boolean);
  const parts = JSON.parse(document.currentScript.dataset.parts ?? '{}');
  const slug = /^\/w\/([^/]+)/.exec(location.pathname)?.[1];
  const overview = /^\/(w\/[^/]+\/?)?$/.test(location.pathname);
  const tag = read.flatMap((l) => [l, l.split('-')[0]]).find((l) => l === 'en' || parts[l]);
  for (const href of [...((overview && parts.overview) || []), ...(parts[tag] ?? [])]) document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href }));

  const first = ['me', 'devices?per_page=60', 'devices?per_page=100&attention=true', 'devices/health/summary', 'alerts?status=active&per_page=100', 'sites', 'equipment-types'];
  window.ahead = {};
  const ask = (path) => {
    const url = '/api/v1/' + path;
    const headers = { Accept: 'application/json', 'Accept-Language': read.join(), ...(slug && { 'Rimewatch-Workspace': slug }) };
    const answer = fetch(url, { headers, signal: AbortSignal.timeout(60_000) }).then(async (answer) => {
      const { role } = path === 'setup' && answer.ok ? (await answer.clone().json()).data : {};
      // Nothing that would be refused: the browser would show it as an error.
      if (role) [...(overview && role !== 'viewer' ? ['sources'] : []), ...first].forEach(ask);
      return answer;
    });
    answer.catch(() => {}); // whoever takes it hears of it
    window.ahead[url] = answer;
  };
  ask('setup');
})();
