/** What a screen in a room shows, as its address says; it may carry a token, so that nobody signs in there (ui §3.1). */
import type { Query } from '../../api/client.ts';
import {
  type GroupFilters,
  listQuery,
  NO_FILTERS,
  parseFilters,
  SEVERITIES,
  shownStatuses,
} from '../alert-group-list/filters.ts';

export interface WallView {
  /** Empty: the screen names it itself. */
  readonly name: string;
  readonly filters: GroupFilters;
}

/** Hours of the day; from 22 to 7 is over midnight. */
export interface Night {
  readonly from: number;
  readonly to: number;
}

export interface Wall {
  /** Shown in turn; at least one. */
  readonly views: readonly WallView[];
  readonly secondsOfView: number;
  readonly night: Night | null;
  /** Null: it shows what the person may see who is signed in. */
  readonly token: string | null;
}

const MOST_VIEWS = 20;
const SECONDS = { least: 5, most: 3_600, usual: 20 } as const;
const USUAL_NIGHT: Night = { from: 22, to: 7 };
const NIGHT = /^(\d{1,2})-(\d{1,2})$/;
/** Characters of a token, which are those of base64url. */
const TOKEN = /^[\w-]{1,200}$/;

/**
 * @param search `view=<name>?<query string of the list>`, several in turn; `every`, the seconds of each; `night`, such as
 * `22-7` or `off`
 * @param hash `token=…`; what follows `#` is never sent to a server
 */
export function parseWall(search: string, hash: string): Wall {
  const params = new URLSearchParams(search);
  const views = params.getAll('view').slice(0, MOST_VIEWS).map(viewOf);
  const seconds = Number(params.get('every') ?? Number.NaN);
  const isSensible = seconds >= SECONDS.least && seconds <= SECONDS.most;
  const token = new URLSearchParams(hash.replace(/^#/, '')).get('token');
  return {
    views: views.length > 0 ? views : [{ name: '', filters: NO_FILTERS }],
    secondsOfView: isSensible ? seconds : SECONDS.usual,
    night: nightOf(params.get('night')),
    // What is no token is refused like one that was revoked.
    token: token === null || TOKEN.test(token) ? token : 'none',
  };
}

/** The path, query and token of a screen. @param views the query strings of the list with their names */
export function wallAddress(
  views: readonly { readonly name: string; readonly query: string }[],
  token: string,
): string {
  const params = new URLSearchParams(
    views.slice(0, MOST_VIEWS).map(({ name, query }) => ['view', `${name.replaceAll('?', ' ')}?${query}`]),
  );
  return `/wall${params.size > 0 ? `?${params}` : ''}#token=${token}`;
}

function viewOf(text: string): WallView {
  const [name = '', ...query] = text.split('?');
  return { name: name.trim().slice(0, 100), filters: parseFilters(query.join('?')).filters };
}

function nightOf(text: string | null): Night | null {
  if (text === 'off') return null;
  const [, from, to] = NIGHT.exec(text ?? '') ?? [];
  const night = { from: Number(from), to: Number(to) };
  return night.from < 24 && night.to < 24 ? night : USUAL_NIGHT;
}

/** @param hour of the screen's own clock, 0 to 23 */
export function isNight(night: Night | null, hour: number): boolean {
  if (night === null) return false;
  const { from, to } = night;
  return from <= to ? hour >= from && hour < to : hour >= from || hour < to;
}

/**
 * The readings of a view, one after the other until the screen is full: firing ones by severity, then what somebody has,
 * then what is resolved. So no page of newer groups hides what is critical.
 * @param now ms since the epoch
 */
export function readingsOf(filters: GroupFilters, now: number): readonly Query[] {
  if (filters.number !== null) return [listQuery(filters, now)];
  const statuses = shownStatuses(filters);
  const severities = filters.severities.length > 0 ? filters.severities : SEVERITIES;
  const firing = severities.map((severity) => ({ tab: 'firing', severities: [severity] }) as const);
  const held = statuses.filter((status) => status === 'acknowledged' || status === 'snoozed');
  const parts: readonly Partial<GroupFilters>[] = [
    ...(statuses.includes('firing') ? firing : []),
    ...held.map((tab) => ({ tab })),
    ...(statuses.includes('resolved') ? [{ tab: 'resolved' } as const] : []),
  ];
  return parts.map((part) => listQuery({ ...filters, notStatuses: [], ...part }, now));
}

/** What is Urgent and fires in the view; null where nothing can be. @param now ms since the epoch */
export function urgentQuery(filters: GroupFilters, now: number): Query | null {
  if (filters.number !== null || filters.flags.urgent === false) return null;
  if (!shownStatuses(filters).includes('firing')) return null;
  const flags = { ...filters.flags, urgent: true };
  return listQuery({ ...filters, notStatuses: [], tab: 'firing', flags }, now);
}

/** Tiles of a room of these pixels. */
export function tilesIn(width: number, height: number, tile: { width: number; height: number }): number {
  const across = Math.max(1, Math.floor(width / tile.width));
  return Math.min(MOST_TILES, across * Math.max(1, Math.floor(height / tile.height)));
}

const MOST_TILES = 120;

/** Requests of a screen carry its token and no cookie: who is signed in in the same browser does not matter. */
export function fetchAs(token: string, fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('Authorization', `Bearer ${token}`);
    return fetch(input, { ...init, headers, credentials: 'omit' });
  };
}
