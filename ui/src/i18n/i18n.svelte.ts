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

export type Loaders = Readonly<Record<Language, Readonly<Record<'first' | LaterName, () => Promise<Texts>>>>>;
type LaterName = 'group' | 'rest';

const LOADERS: Loaders = {
  en: {
    first: async () => (await import('./en/first.ts')).first,
    group: async () => (await import('./en/group.ts')).group,
    rest: async () => (await import('./en/rest.ts')).rest,
  },
  ru: {
    first: async () => (await import('./ru/first.ts')).first,
    group: async () => (await import('./ru/group.ts')).group,
    rest: async () => (await import('./ru/rest.ts')).rest,
  },
};

interface First {
  readonly language: Language;
  readonly messages: Texts;
  readonly plurals: Intl.PluralRules;
  readonly numbers: Intl.NumberFormat;
}

const NO_TEXTS: Texts = {};

/** Texts that come after the first ones, a state of its own: what others draw is not drawn anew when they come. */
class Later {
  texts = $state.raw(NO_TEXTS);
  isWanted = false;
  readonly name: LaterName;

  constructor(name: LaterName) {
    this.name = name;
  }
}

export async function createI18n(
  root: HTMLElement,
  language: Language,
  loaders: Loaders = LOADERS,
): Promise<I18n> {
  let first = $state.raw(await loadFirst(language, loaders));
  const group = new Later('group');
  const rest = new Later('rest');
  let wanted = language;
  root.lang = language;

  // Whoever asks for texts does not follow them.
  const shown = () => untrack(() => first.language);
  /** Undefined: a part of the list that opens before its texts are there shows them when they come. */
  const messageOf = (key: string) =>
    first.messages[key as Key] ?? group.texts[key as Key] ?? rest.texts[key as Key];

  function text(key: Key, values: Readonly<Record<string, string | number>>): string {
    const message = messageOf(key);
    return message === undefined ? '' : formatMessage(message, values, first.plurals, first.numbers);
  }

  /** Shows all texts in the wanted language at once. Later ones that do not arrive are left out until asked for. */
  async function change(): Promise<void> {
    const language = wanted;
    if (shown() === language) return;
    const later = [group, rest].filter(({ isWanted }) => isWanted);
    const [next, ...texts] = await Promise.all([
      loadFirst(language, loaders),
      ...later.map(({ name }) => loaders[language][name]().catch(() => NO_TEXTS)),
    ]);
    const isLate = [group, rest].some((part) => part.isWanted && !later.includes(part));
    if (wanted !== language || isLate) return change();
    first = next;
    later.forEach((part, index) => {
      part.texts = texts[index] ?? NO_TEXTS;
    });
    root.lang = language;
  }

  async function load(part: Later): Promise<void> {
    part.isWanted = true;
    if (untrack(() => part.texts) !== NO_TEXTS) return;
    const language = shown();
    const texts = await loaders[language][part.name]();
    if (shown() !== language) return load(part);
    part.texts = texts;
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
      wanted = next;
      return change();
    },
    withGroup: () => load(group),
    async complete() {
      await Promise.all([load(group), load(rest)]);
    },
  };
}

async function loadFirst(language: Language, loaders: Loaders): Promise<First> {
  return {
    language,
    messages: await loaders[language].first(),
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
