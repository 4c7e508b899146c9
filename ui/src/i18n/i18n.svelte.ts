/** Texts in the language of the person; switching needs no reload (ui §1.7). Only the language in use is loaded. */
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
}

/** Families of texts that are looked up by a code of the API. */
export type Family =
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

const LOADERS = {
  en: async (): Promise<Catalogue> => (await import('./en.ts')).en,
  ru: async (): Promise<Catalogue> => (await import('./ru.ts')).ru,
} satisfies Record<Language, () => Promise<Catalogue>>;

interface Loaded {
  readonly language: Language;
  readonly messages: Catalogue;
  readonly plurals: Intl.PluralRules;
  readonly numbers: Intl.NumberFormat;
}

export async function createI18n(root: HTMLElement, language: Language): Promise<I18n> {
  let loaded = $state.raw(await load(language));
  let wanted = language;
  root.lang = language;

  const text = (key: Key, values: Readonly<Record<string, string | number>>) =>
    formatMessage(loaded.messages[key], values, loaded.plurals, loaded.numbers);

  return {
    get language() {
      return loaded.language;
    },
    get locale() {
      return loaded.language === 'en' ? 'en-GB' : 'ru-RU';
    },
    t: (key, ...values) => text(key, values[0] ?? {}),
    word(family, code) {
      const key = `${family}.${code}`;
      return key in loaded.messages ? text(key as Key, {}) : code;
    },
    async use(next) {
      wanted = next;
      if (next === loaded.language) return;
      const arrived = await load(next);
      if (wanted !== next) return;
      loaded = arrived;
      root.lang = next;
    },
  };
}

async function load(language: Language): Promise<Loaded> {
  return {
    language,
    messages: await LOADERS[language](),
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
