/**
 * How the built UI is cut into files. Everything that the list needs is in the first one; the page names the files of its
 * texts and of the page of a group, so that `public/start.js` asks for them before the code is there (ui §13).
 */
import type { Plugin, Rolldown } from 'vite';

const LANGUAGES = ['en', 'ru'] as const;
/** Modules of so many pages share a file: each request costs a slow line more than its bytes. */
const SHARED_BY = 4;

const GROUP_PAGE = '/pages/alert-group/AlertGroupPage.svelte';

/** Modules of the first load: what the entry imports, directly or through others. */
const first = new Set<string>();
/** Those of the page of a group. */
const ofGroup = new Set<string>();

/** What reads Markdown is large, and few pages need it. */
const isShared = (id: string) => id.includes('/ui/src/') && !id.includes('/components/markup/');

export const CHUNKS = {
  groups: [
    { name: 'index', test: (id: string) => first.has(id), priority: 2 },
    // Apart from the forms: somebody who comes from a messenger to a group waits for none of them.
    {
      name: 'shared',
      test: (id: string) => isShared(id) && ofGroup.has(id),
      minShareCount: SHARED_BY,
      priority: 1,
    },
    { name: 'forms', test: isShared, minShareCount: SHARED_BY, priority: 0 },
  ],
};

export function chunksPlugin(): Plugin {
  return {
    name: 'tocsin-chunks',
    apply: 'build',
    buildEnd() {
      const gather = (modules: Set<string>, isStart: (id: string) => boolean) => {
        const left = [...this.getModuleIds()].filter(isStart);
        for (let id = left.pop(); id !== undefined; id = left.pop()) {
          if (modules.has(id)) continue;
          modules.add(id);
          left.push(...(this.getModuleInfo(id)?.importedIds ?? []));
        }
      };
      gather(first, (id) => this.getModuleInfo(id)?.isEntry === true);
      gather(ofGroup, (id) => id.endsWith(GROUP_PAGE));
    },
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
        const attributes = [
          ...LANGUAGES.map((language) => {
            const parts = ['first', 'group'].map((part) => chunkOf(chunks, `/i18n/${language}/${part}.ts`));
            return `data-${language}="${addresses(parts.map(({ fileName }) => fileName))}"`;
          }),
          `data-group-page="${addresses(filesOf(chunks, GROUP_PAGE))}"`,
        ];
        const script = '<script src="/start.js"';
        if (!html.includes(script)) throw new Error('The page has no start.js');
        return html.replace(script, `${script} ${attributes.join(' ')}`);
      },
    },
  };
}

type Chunks = readonly Rolldown.OutputChunk[];

const addresses = (files: readonly string[]) => files.map((file) => `/${file}`).join(' ');

function chunkOf(chunks: Chunks, module: string): Rolldown.OutputChunk {
  const chunk = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(module));
  if (chunk === undefined) throw new Error(`${module} has no file of its own`);
  return chunk;
}

/** Files of a part that is loaded by itself, without those of the first load: code, then styles. */
function filesOf(chunks: Chunks, module: string): readonly string[] {
  const needed = new Set([chunkOf(chunks, module)]);
  for (const { imports } of needed) {
    for (const chunk of chunks) if (!chunk.isEntry && imports.includes(chunk.fileName)) needed.add(chunk);
  }
  const styles = [...needed].flatMap(({ viteMetadata }) => [...(viteMetadata?.importedCss ?? [])]);
  return [...[...needed].map(({ fileName }) => fileName), ...styles];
}
