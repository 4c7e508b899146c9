/**
 * Texts in the language of the person; switching needs no reload (ui §1.7). Only the language in use is loaded: first
 * the texts of the list, then those of the page of a group, then those of all other pages (ui §13).
 */
import { untrack } from 'svelte';
import type { Language } from '../state/preferences.svelte.ts';
import type { Catalogue, en } from './en.ts';
import { formatMessage, type Values } from './message.ts';

export type Key = keyof Catalogue;
type Arguments<K extends Key> = keyof Values<(typeof en)[K]> extends never
  ? []
  : [values: Values<(typeof en)[K]>];

export type Translate = <K extends Key>(key: K, ...values: Arguments<K>) => string;

export interface I18n {
  readonly language: Language;
  /** BCP 47 tag for `Intl`. */
  readonly locale: string;
  readonly t: Translate;
  /** The text of a code, or the code itself when this build does not know it (a newer server may send more). */
  word(family: Family, code: string): string;
  /** Loads the texts of a language and shows them. */
  use(language: Language): Promise<void>;
  /** Loads the texts of the page of a group. @throws when they did not arrive */
  withGroup(): Promise<void>;
  /** Loads the texts of all pages. @throws when they did not arrive */
  complete(): Promise<void>;
}

/** Families of texts that are looked up by a code of the API. */
export type Family =
  | 'commandLoss'
  | 'status'
  | 'severity'
  | 'event'
  | 'deliveryEvent'
  | 'deliveryState'
  | 'transport'
  | 'systemReason'
  | 'oidcWarning'
  | 'oidcLinkError'
  | 'kind'
  | 'mention'
  | 'reason'
  | 'refusal'
  | 'fieldError'
  | 'signInError'
  | 'sessionEnd'
  | 'role'
  | 'userStatus'
  | 'userSource'
  | 'signInMethod'
  | 'heartbeat'
  | 'warning'
  | 'destinationType'
  | 'destinationCheck'
  | 'destinationRemedy'
  | 'testStep'
  | 'testClass'
  | 'connectionType'
  | 'connectionName'
  | 'connectionWarning'
  | 'checkStep'
  | 'checkRemedy'
  | 'checkVia'
  | 'weekday'
  | 'templateName'
  | 'integrationIssue'
  | 'profile'
  | 'actorKind'
  | 'suggestion'
  | 'requestError'
  | 'requestCheck'
  | 'auditArea'
  | 'auditVerb'
  | 'auditActor';

type Texts = Partial<Catalogue>;

const LOADERS = {
  en: {
    first: async (): Promise<Texts> => (await import('./en/first.ts')).first,
    group: async (): Promise<Texts> => (await import('./en/group.ts')).group,
    rest: async (): Promise<Texts> => (await import('./en/rest.ts')).rest,
  },
  ru: {
    first: async (): Promise<Texts> => (await import('./ru/first.ts')).first,
    group: async (): Promise<Texts> => (await import('./ru/group.ts')).group,
    rest: async (): Promise<Texts> => (await import('./ru/rest.ts')).rest,
  },
} satisfies Record<Language, Record<'first' | 'group' | 'rest', () => Promise<Texts>>>;

interface First {
  readonly language: Language;
  readonly messages: Texts;
  readonly plurals: Intl.PluralRules;
  readonly numbers: Intl.NumberFormat;
}

const NO_TEXTS: Texts = {};

export async function createI18n(root: HTMLElement, language: Language): Promise<I18n> {
  let first = $state.raw(await loadFirst(language));
  /** Apart from the first ones, and from each other: what is drawn with those is not drawn anew when these come. */
  let group = $state.raw(NO_TEXTS);
  let rest = $state.raw(NO_TEXTS);
  let wanted = { language, group: false, rest: false };
  root.lang = language;

  /** Undefined: a part of the list that opens before all texts are there, shows its own when they come. */
  const messageOf = (key: string) => first.messages[key as Key] ?? group[key as Key] ?? rest[key as Key];

  function text(key: Key, values: Readonly<Record<string, string | number>>): string {
    const message = messageOf(key);
    return message === undefined ? '' : formatMessage(message, values, first.plurals, first.numbers);
  }

  async function show(): Promise<void> {
    const { language, ...parts } = wanted;
    // Whoever asks for texts does not follow them.
    const isShown = () =>
      untrack(
        () =>
          first.language === language &&
          (!parts.group || group !== NO_TEXTS) &&
          (!parts.rest || rest !== NO_TEXTS),
      );
    if (isShown()) return;
    const before = untrack(() => first);
    const [next, ofGroup, others] = await Promise.all([
      before.language === language ? before : loadFirst(language),
      parts.group ? LOADERS[language].group() : NO_TEXTS,
      parts.rest ? LOADERS[language].rest() : NO_TEXTS,
    ]);
    if (wanted.language !== language) return show();
    first = next;
    if (parts.group) group = ofGroup;
    if (parts.rest) rest = others;
    root.lang = language;
  }

  return {
    get language() {
      return first.language;
    },
    get locale() {
      return first.language === 'en' ? 'en-GB' : 'ru-RU';
    },
    t: (key, ...values) => text(key, values[0] ?? {}),
    word(family, code) {
      const key = `${family}.${code}`;
      return messageOf(key) === undefined ? code : text(key as Key, {});
    },
    use(next) {
      wanted = { ...wanted, language: next };
      return show();
    },
    withGroup() {
      wanted = { ...wanted, group: true };
      return show();
    },
    complete() {
      wanted = { ...wanted, group: true, rest: true };
      return show();
    },
  };
}

async function loadFirst(language: Language): Promise<First> {
  return {
    language,
    messages: await LOADERS[language].first(),
    plurals: new Intl.PluralRules(language),
    numbers: new Intl.NumberFormat(language),
  };
}

/** The language to show: the choice in this browser, else the profile's, else the browser's first known one, else English. */
export function chooseLanguage(
  chosen: Language | null,
  profile: string | null,
  browser: readonly string[],
): Language {
  const wished = [chosen, profile, ...browser.map((tag) => tag.slice(0, 2).toLowerCase())];
  return wished.find((tag): tag is Language => tag === 'en' || tag === 'ru') ?? 'en';
}
