/** Which pages the docs have, in the order of their navigation. A page is a Markdown file of the repository, or made by the build. */

/** What the build makes: the paths that links lead to, as if they were files. */
export const MADE = {
  cli: 'docs/cli.md',
  api: 'docs/api-reference.md',
  shapes: 'docs/api-shapes.md',
} as const;

/** The page at `/docs`. */
export const HOME = 'README.md';

export interface Section {
  readonly title: string;
  /** Files, or `folder/*` for the rest of a folder by name. */
  readonly files: readonly string[];
}

export const NAVIGATION: readonly Section[] = [
  {
    title: 'Start',
    files: [HOME, 'docs/getting-started.md', 'docs/concepts.md', 'docs/glossary.md'],
  },
  {
    title: 'Alerts and Routes',
    files: ['docs/integrations.md', 'docs/routes-cookbook.md', 'docs/templates.md', 'docs/links.md'],
  },
  {
    title: 'Messengers and webhooks',
    files: [
      ...['docs/mattermost.md', 'docs/telegram.md', 'docs/bridges.md', 'docs/webhooks.md'],
      ...['docs/connections.md', 'docs/destinations.md', 'docs/messages.md', 'docs/account-links.md'],
    ],
  },
  {
    title: 'Running it',
    files: [
      ...['docs/deploying.md', 'docs/operating.md', 'docs/upgrading.md', 'deploy/README.md'],
      ...['docs/performance.md', 'docs/growth.md', 'docs/ui.md'],
      ...['docs/metrics.md', 'docs/internal-alerts.md'],
    ],
  },
  {
    title: 'Security',
    files: ['SECURITY.md', 'docs/single-sign-on.md', 'docs/keys.md', 'docs/outbound.md', 'docs/asvs.md'],
  },
  {
    title: 'Reference',
    files: ['docs/settings.md', MADE.cli, 'docs/api.md', MADE.api, 'docs/api-reference/*', MADE.shapes],
  },
  { title: 'Runbooks', files: ['docs/runbooks/README.md', 'docs/runbooks/*'] },
  {
    title: 'How it is built',
    files: [
      ...['docs/architecture.md', 'docs/engine.md', 'docs/life-of-an-alert.md'],
      ...['docs/machines.md', 'docs/machines/*'],
    ],
  },
  { title: 'Contract', files: ['docs/contract/README.md', 'docs/contract/*'] },
  { title: 'Project', files: ['CHANGELOG.md', 'docs/roadmap.md', 'CONTRIBUTING.md'] },
];

/** @returns where a page is served: `docs/contract/README.md` at `/docs/contract` */
export function addressOf(file: string): string {
  if (file === HOME) return '/docs';
  if (file === 'deploy/README.md') return '/docs/deploy-files';
  const name = file.replace(/^docs\//, '').replace(/(^|\/)README\.md$|\.md$/, '');
  return `/docs/${/^[A-Z]+$/.test(name) ? name.toLowerCase() : name}`;
}

/**
 * Every section with its pages spelled out.
 * @param files all pages there are
 * @throws {Error} when a page is in no section, or a section names a page that is not there
 */
export function sectionsOf(files: readonly string[]): readonly Section[] {
  const named = new Set(NAVIGATION.flatMap((section) => section.files));
  const spelled = (entry: string) =>
    entry.endsWith('/*')
      ? files.filter((file) => !named.has(file) && file.startsWith(entry.slice(0, -1)))
      : [entry];
  const sections = NAVIGATION.map(({ title, files: of }) => ({ title, files: of.flatMap(spelled) }));
  const listed = sections.flatMap((section) => section.files);
  const lost = files.filter((file) => !listed.includes(file));
  const absent = listed.filter((file) => !files.includes(file));
  if (lost.length > 0) throw new Error(`The navigation of the docs has no place for ${lost.join(', ')}`);
  if (absent.length > 0) throw new Error(`The navigation of the docs names ${absent.join(', ')}`);
  return sections;
}
