/** What the palette finds for what was typed (ui §1.8). */
import type { SavedView } from '../api/shapes.ts';
import type { PageCommand } from '../app/context.ts';
import { NAVIGATION } from '../app/pages.ts';
import type { I18n } from '../i18n/i18n.svelte.ts';

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
  const isWanted = (text: string) => text.toLowerCase().includes(wanted.toLowerCase());
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
    ...NAVIGATION.filter((entry) => may(entry.permission) && isWanted(t(entry.text))).map((entry) =>
      choice(entry.href, t(entry.text), entry.href),
    ),
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

function choice(key: string, text: string, to: string): Choice {
  return { key, text, kind: null, to };
}
