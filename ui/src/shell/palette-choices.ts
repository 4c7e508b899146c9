/** What the palette finds for what was typed (ui §1.8). */
import type { SavedView } from '../api/shapes.ts';
import type { PageCommand } from '../app/context.ts';
import { findPage, NAVIGATION } from '../app/pages.ts';
import type { I18n } from '../i18n/i18n.svelte.ts';
import { pathOf, TABS } from '../pages/organization/tabs.ts';

export interface Choice {
  readonly key: string;
  readonly text: string;
  /** What it is, where its text does not say so. */
  readonly kind: 'command' | 'view' | null;
  /** Where it leads, or what it does. */
  readonly to: string | (() => void);
}

interface Found {
  readonly commands: readonly PageCommand[];
  readonly views: readonly Pick<SavedView, 'id' | 'name' | 'query'>[];
  may(permission: string): boolean;
}

/** Commands of the page first, then what is named, then a search. @param typed `#N`, part of a name, or words */
export function paletteChoices(
  typed: string,
  { commands, views, may }: Found,
  { t }: Pick<I18n, 't'>,
): readonly Choice[] {
  const wanted = typed.trim();
  // A text that is still on its way is empty.
  const isWanted = (text: string) => text !== '' && text.toLowerCase().includes(wanted.toLowerCase());
  const number = /^#?(\d{1,15})$/.exec(wanted)?.[1];
  const reads = may('alert-groups:read');
  const search = new URLSearchParams({ tab: 'all', q: wanted });
  return [
    ...(reads && number !== undefined
      ? [
          choice(
            `#${number}`,
            t('palette.number', { number: `#${number}` }),
            `/alert-groups?number=${number}`,
          ),
        ]
      : []),
    ...commands
      .filter(({ text }) => isWanted(text))
      .map(({ name, text, run }): Choice => ({ key: `command.${name}`, text, kind: 'command', to: run })),
    ...placesOf(t)
      .filter(({ permission, text }) => (permission === null || may(permission)) && isWanted(text))
      .map(({ key, href, text }) => choice(key, text, href)),
    ...(reads ? views : [])
      .filter(({ name }) => isWanted(name))
      .map(({ id, name, query }): Choice => {
        const href = query === '' ? '/alert-groups' : `/alert-groups?${query}`;
        return { key: `view.${id}`, text: name, kind: 'view', to: href };
      }),
    ...(reads && wanted !== '' && number === undefined
      ? [choice('search', t('palette.search', { text: wanted }), `/alert-groups?${search}`)]
      : []),
  ];
}

/** The pages of the navigation, the tabs of the Organization, and what the user menu leads to. */
function placesOf(t: I18n['t']) {
  const place = (href: string, text: string) => ({
    key: `page.${href}`,
    href,
    text,
    permission: findPage(href)?.entry.permission ?? null,
  });
  const tabs = TABS.map((tab) => {
    const text = t(`organizationTab.${tab}`);
    return place(pathOf(tab), text === '' ? '' : `${t('nav.organization')} · ${text}`);
  });
  return [
    ...NAVIGATION.map(({ href, text, permission }) => ({ key: href, href, text: t(text), permission })),
    ...tabs,
    place('/profile', t('profile.title')),
    place('/machines', t('machines.title')),
    place('/docs', t('profile.docs')),
  ];
}

function choice(key: string, text: string, to: string): Choice {
  return { key, text, kind: null, to };
}
