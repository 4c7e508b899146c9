/**
 * How the built UI is cut into files. Everything that the list needs is in the first one; the page names the files of its
 * texts, so that `public/start.js` asks for them before the code is there (ui §13).
 */
import type { Plugin } from 'vite';

const LANGUAGES = ['en', 'ru'] as const;
/** Modules of so many pages share a file: each request costs a slow line more than its bytes. */
const SHARED_BY = 4;

/** Modules of the first load: what the entry imports, directly or through others. */
const first = new Set<string>();

/** What reads Markdown is large, and few pages need it. */
const isShared = (id: string) => id.includes('/ui/src/') && !id.includes('/components/markup/');

export const CHUNKS = {
  groups: [
    { name: 'index', test: (id: string) => first.has(id), priority: 2 },
    { name: 'shared', test: isShared, minShareCount: SHARED_BY, priority: 1 },
  ],
};

export function chunksPlugin(): Plugin {
  return {
    name: 'tocsin-chunks',
    apply: 'build',
    buildEnd() {
      const left = [...this.getModuleIds()].filter((id) => this.getModuleInfo(id)?.isEntry);
      for (let id = left.pop(); id !== undefined; id = left.pop()) {
        if (first.has(id)) continue;
        first.add(id);
        left.push(...(this.getModuleInfo(id)?.importedIds ?? []));
      }
    },
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const attributes = LANGUAGES.map((language) => {
          const chunk = Object.values(bundle).find(
            (file) => file.type === 'chunk' && file.facadeModuleId?.endsWith(`/i18n/${language}/first.ts`),
          );
          if (chunk === undefined) throw new Error(`The texts of ${language} have no file of their own`);
          return `data-${language}="/${chunk.fileName}"`;
        });
        const script = '<script src="/start.js"';
        if (!html.includes(script)) throw new Error('The page has no start.js');
        return html.replace(script, `${script} ${attributes.join(' ')}`);
      },
    },
  };
}
