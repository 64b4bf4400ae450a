// theme.js is there before the code and has it loaded while that is on its way: it has to know the names of its parts.
const first = /^\0virtual:language\/([\w-]+)\/first$/;

/** ahead is a plugin that writes into index.html which parts the overview needs beyond those of every page, and which every page
 * of a language. */
export function ahead() {
  return {
    name: 'ahead',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle }) {
        const parts = {};
        for (const c of Object.values(bundle)) {
          const tag = first.exec(c.facadeModuleId ?? '')?.[1];
          if (tag) parts[tag] = ['/' + c.fileName];
          if (c.facadeModuleId?.endsWith('/Overview.svelte')) parts.overview = [c.fileName, ...c.imports.filter((name) => !html.includes(name))].map((i) => '/' + i);
        }
        if (!parts.overview) throw new Error('no part is the overview');
        return html.replace('src="/theme.js"', `$& data-parts='${JSON.stringify(parts)}'`);
      },
    },
  };
}
