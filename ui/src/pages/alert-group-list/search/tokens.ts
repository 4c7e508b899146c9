/**
 * The search text of the list and the filters that it stands for (ui §3): words, and tokens: `severity:critical`,
 * `-status:snoozed`, `namespace:payments` or `pod=~"api-.*"`. Reading takes time linear in the text.
 */
import type { EntityRef, GroupStatus, UserRef } from '../../../api/shapes.ts';
import {
  FLAGS,
  type Flag,
  type GroupFilters,
  labelMatcher,
  MAX_LABELS,
  MAX_Q,
  NO_FILTERS,
  SEVERITIES,
  STATUSES,
  statusesOf,
  TABS,
  type Tab,
} from '../filters.ts';

/** Characters of a search text. */
export const MAX_SEARCH = 1_000;

/** The filters that the text says; the others have controls of their own. */
const SAID = [
  'tab',
  'notStatuses',
  'q',
  'severities',
  'flags',
  'owner',
  'routes',
  'integrations',
  'labels',
] as const;
export type SearchFilters = Pick<GroupFilters, (typeof SAID)[number]>;

export type FaultCode =
  | 'quote'
  | 'value'
  | 'severity'
  | 'status'
  | 'is'
  | 'route'
  | 'integration'
  | 'owner'
  | 'negation'
  | 'nothing'
  | 'labels'
  | 'words'
  | 'long';

/** What is wrong, and where: positions of the first character and after the last. */
export interface Fault {
  readonly code: FaultCode;
  readonly from: number;
  readonly to: number;
}

/** Whom and what names stand for; null while they are not known. */
export interface SearchNames {
  readonly routes: readonly EntityRef[] | null;
  readonly integrations: readonly EntityRef[] | null;
  readonly people: readonly Pick<UserRef, 'id' | 'name' | 'login'>[];
}

export type Reading =
  | { readonly ok: true; readonly filters: SearchFilters }
  | { readonly ok: false; readonly fault: Fault };

/** `is:` words in English whatever the language, as the other tokens: a text can be handed on. */
export const IS_WORDS: Readonly<Record<string, Flag>> = {
  urgent: 'urgent',
  unclaimed: 'unclaimed',
  undelivered: 'delivery_problem',
  reopened: 'reopened',
  endless: 'snoozed_no_end',
};
export const KEYS = ['severity', 'status', 'is', 'owner', 'route', 'integration'] as const;
type Key = (typeof KEYS)[number];

export interface Token {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  /** A quote that nothing ends. */
  readonly isOpen: boolean;
}

/** The text by white space outside of quotes. */
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let from = -1;
  let isQuoted = false;
  for (let at = 0; at <= text.length; at++) {
    const character = text[at];
    const isEnd = character === undefined || (!isQuoted && /\s/.test(character));
    if (isEnd) {
      if (from >= 0) tokens.push({ from, to: at, text: text.slice(from, at), isOpen: isQuoted });
      from = -1;
      continue;
    }
    if (from < 0) from = at;
    if (character === '"') isQuoted = !isQuoted;
    else if (character === '\\' && isQuoted && at + 1 < text.length) at += 1;
  }
  return tokens;
}

type Term =
  | { readonly kind: 'words'; readonly text: string }
  | { readonly kind: 'key'; readonly key: Key; readonly value: string }
  | { readonly kind: 'label'; readonly matcher: string; readonly isEmpty: boolean };

const NAME = /^("(?:[^"\\]|\\.)*"|[A-Za-z_][A-Za-z0-9_./-]*)(:~|:|=~|!~|!=|=)/s;

/** What a token says without its minus. */
function termOf(text: string, isNegated: boolean): Term {
  const [begin, name = '', sign = ''] = NAME.exec(text) ?? [];
  if (begin === undefined) return { kind: 'words', text: unquoted(text) };
  const value = unquoted(text.slice(begin.length));
  const key = KEYS.find((each) => each === name);
  if (sign === ':' && key !== undefined) return { kind: 'key', key, value };
  const isPattern = sign.endsWith('~');
  const isExcluded = sign.startsWith('!') !== isNegated;
  const equal = labelMatcher(unquoted(name), value, isExcluded);
  const matcher = isPattern ? equal.replace(/!?="/, isExcluded ? '!~"' : '=~"') : equal;
  return { kind: 'label', matcher, isEmpty: value === '' && sign.startsWith(':') };
}

/** Text with its quotes and escapes taken out. */
function unquoted(text: string): string {
  let plain = '';
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    if (character === '"') isQuoted = !isQuoted;
    else if (character === '\\' && isQuoted && at + 1 < text.length) {
      at += 1;
      plain += text[at] === 'n' ? '\n' : (text[at] ?? '');
    } else plain += character;
  }
  return plain;
}

/** The filters that a text says, or the first thing in it that is wrong. */
export function readSearch(text: string, names: SearchNames): Reading {
  const fault = (code: FaultCode, { from, to }: Pick<Token, 'from' | 'to'>): Reading => ({
    ok: false,
    fault: { code, from, to },
  });
  if (text.length > MAX_SEARCH) return fault('long', { from: MAX_SEARCH, to: text.length });
  const words: string[] = [];
  const labels: string[] = [];
  const routes: string[] = [];
  const integrations: string[] = [];
  const flags: Partial<Record<Flag, boolean>> = {};
  let owner: string | null = null;
  const severities = chosen(SEVERITIES);
  const statuses = chosen(STATUSES);
  let tab: Tab | null = null;

  for (const token of tokensOf(text)) {
    if (token.isOpen) return fault('quote', token);
    const isNegated = token.text.length > 1 && token.text.startsWith('-');
    const term = termOf(isNegated ? token.text.slice(1) : token.text, isNegated);
    if (term.kind === 'words') {
      if (isNegated) return fault('negation', token);
      words.push(term.text);
      if (words.join(' ').length > MAX_Q) return fault('words', token);
      continue;
    }
    if (term.kind === 'label') {
      if (term.isEmpty) return fault('value', token);
      if (!labels.includes(term.matcher)) labels.push(term.matcher);
      if (labels.length > MAX_LABELS) return fault('labels', token);
      continue;
    }
    const { key, value } = term;
    if (value === '') return fault('value', token);
    if (key === 'severity') {
      if (!severities.add(value, isNegated)) return fault('severity', token);
      if (severities.left().length === 0) return fault('nothing', token);
    } else if (key === 'status') {
      const named = TABS.find((each) => each === value);
      if (!isNegated && (named === 'open' || named === 'all')) tab = named;
      else if (!statuses.add(value, isNegated)) return fault('status', token);
    } else if (key === 'is') {
      const flag = IS_WORDS[value];
      if (flag === undefined) return fault('is', token);
      flags[flag] = !isNegated;
    } else {
      if (isNegated) return fault('negation', token);
      const id = idOf(key, value, names);
      if (id === null) return fault(key, token);
      if (key === 'owner') owner = id;
      else (key === 'route' ? routes : integrations).push(id);
    }
  }
  const shown = tabOf(tab, statuses);
  if (shown === null) return fault('nothing', { from: 0, to: text.length });
  return {
    ok: true,
    filters: {
      ...shown,
      q: words.join(' '),
      severities: severities.isPlain() ? [] : severities.left(),
      flags,
      owner,
      routes: [...new Set(routes)],
      integrations: [...new Set(integrations)],
      labels,
    },
  };
}

/** Members that were named, or those that were not excluded. */
function chosen<T extends string>(all: readonly T[]) {
  const wanted = new Set<T>();
  const excluded = new Set<T>();
  return {
    add(value: string, isNegated: boolean): boolean {
      const member = all.find((each) => each === value);
      if (member !== undefined) (isNegated ? excluded : wanted).add(member);
      return member !== undefined;
    },
    isPlain: () => wanted.size === 0 && excluded.size === 0,
    wanted,
    left: () => all.filter((each) => (wanted.size === 0 || wanted.has(each)) && !excluded.has(each)),
  };
}

/** The tab that holds the statuses, and those of it that are left out; null when none remains. */
function tabOf(
  named: Tab | null,
  statuses: ReturnType<typeof chosen<GroupStatus>>,
): Pick<GroupFilters, 'tab' | 'notStatuses'> | null {
  const within = statusesOf(named ?? (statuses.wanted.has('resolved') ? 'all' : 'open'));
  const left = statuses.left().filter((each) => statuses.wanted.size > 0 || within.includes(each));
  const [only] = left;
  if (only === undefined) return null;
  if (left.length === 1 && statuses.wanted.size > 0) return { tab: only, notStatuses: [] };
  const tab = left.includes('resolved') ? 'all' : (named ?? 'open');
  return { tab, notStatuses: statusesOf(tab).filter((each) => !left.includes(each)) };
}

function idOf(key: 'owner' | 'route' | 'integration', value: string, names: SearchNames): string | null {
  if (key === 'owner') {
    if (value === 'me' || value === 'none' || /^SR[0-9A-Z]{12}$/.test(value)) return value;
    return names.people.find(({ login, name }) => login === value || name === value)?.id ?? null;
  }
  if (/^[A-Z]{2}[0-9A-Z]{12}$/.test(value)) return value;
  const known = (key === 'route' ? names.routes : names.integrations) ?? [];
  const wanted = value.toLowerCase();
  return known.find(({ name }) => name.toLowerCase() === wanted)?.id ?? null;
}

/** The text that says these filters. A matcher that is none is left out: its chip alone can take it away. */
export function searchText(filters: SearchFilters, names: SearchNames): string {
  const parts: string[] = [];
  if (filters.tab !== 'open') parts.push(`status:${filters.tab}`);
  for (const status of filters.notStatuses) parts.push(`-status:${status}`);
  for (const level of filters.severities) parts.push(`severity:${level}`);
  for (const [word, flag] of Object.entries(IS_WORDS)) {
    const wanted = filters.flags[flag];
    if (wanted !== undefined) parts.push(`${wanted ? '' : '-'}is:${word}`);
  }
  const person = names.people.find(({ id }) => id === filters.owner);
  if (filters.owner !== null) parts.push(`owner:${quoteIfNeeded(person?.login ?? filters.owner)}`);
  for (const id of filters.routes) parts.push(`route:${nameFor(id, names.routes)}`);
  for (const id of filters.integrations) parts.push(`integration:${nameFor(id, names.integrations)}`);
  for (const matcher of filters.labels) parts.push(...labelToken(matcher));
  if (filters.q !== '') parts.push(isPlainWords(filters.q) ? filters.q : quote(filters.q));
  return parts.join(' ');
}

/** The filters that the text says, of all filters. */
export function saidOf(filters: GroupFilters): SearchFilters {
  return Object.fromEntries(SAID.map((name) => [name, filters[name]])) as unknown as SearchFilters;
}

/** Matchers that no token can say; a text that is edited leaves them as they are. */
export function unsaidLabels(labels: readonly string[]): readonly string[] {
  return labels.filter((matcher) => labelToken(matcher).length === 0);
}

const MATCHER = /^("(?:[^"\\]|\\.)*"|[A-Za-z_:][A-Za-z0-9_:]*)(=~|!~|!=|=)("(?:[^"\\]|\\.)*")$/s;

/** A label as a token: `name:value` where that is enough, else the matcher itself. None for what is no matcher. */
function labelToken(matcher: string): readonly string[] {
  const [, name = '', sign = '', value = ''] = MATCHER.exec(matcher) ?? [];
  const plain = unquoted(value);
  const term = termOf(matcher, false);
  if (term.kind !== 'label' || term.matcher !== matcher) return [];
  const isShort = !sign.endsWith('~') && plain !== '' && /^[A-Za-z_]\w*$/.test(name);
  if (!isShort || KEYS.some((key) => key === name)) return [matcher];
  return [`${sign === '!=' ? '-' : ''}${name}:${quoteIfNeeded(plain)}`];
}

/** Of several with one name each is said by its id. */
function nameFor(id: string, known: readonly EntityRef[] | null): string {
  const name = known?.find((each) => each.id === id)?.name;
  const alike = known?.filter((each) => each.name.toLowerCase() === name?.toLowerCase()) ?? [];
  return name === undefined || alike.length > 1 ? id : quoteIfNeeded(name);
}

export function quoteIfNeeded(value: string): string {
  return /^[^\s"\\~][^\s"\\]*$/.test(value) ? value : quote(value);
}

function quote(value: string): string {
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

function isPlainWords(text: string): boolean {
  return text.split(' ').every((word) => /^[^\s"-][^\s"]*$/.test(word) && !NAME.test(word));
}

/** Whether a text says what is shown already, so that it can stay as somebody typed it. */
export function says(text: string, filters: GroupFilters, names: SearchNames): boolean {
  const reading = readSearch(text, names);
  if (!reading.ok) return false;
  const labels = [...reading.filters.labels, ...unsaidLabels(filters.labels)];
  const same = (one: SearchFilters) =>
    JSON.stringify({ ...one, flags: FLAGS.map((flag) => one.flags[flag]), labels: [...one.labels].sort() });
  return same({ ...reading.filters, labels }) === same(saidOf({ ...NO_FILTERS, ...filters }));
}
