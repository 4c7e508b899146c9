/** The HTTP API as `tocsin groups` calls it: where it is, the token, and what its answers mean (operations §10). */
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import * as v from 'valibot';
import type { CommandIo, OptionValues } from '../command.ts';

/** For one request and its answer, ms. */
const TIMEOUT = 15_000;
/** A page of 500 Alert Groups with long texts stays below it. */
const ANSWER_BYTES = 16 * 1_048_576;
const FILE_BYTES = 65_536;

/** A sentence for the person at the terminal; the command exits with 1. */
export class ApiError extends Error {}

export interface CliApi {
  /** Of Tocsin, as given, without a slash at the end. */
  readonly address: string;
  get(path: string): Promise<unknown>;
  post(path: string, body: unknown): Promise<unknown>;
  delete(path: string): Promise<unknown>;
}

const File = v.object({ api_url: v.optional(v.string()), token: v.optional(v.string()) });
const Problem = v.object({
  title: v.string(),
  detail: v.optional(v.string()),
  errors: v.optional(v.array(v.object({ pointer: v.string(), detail: v.string() }))),
});

/**
 * Address and token: `--url` and `--token-file`, else SVC_API_URL and SVC_API_TOKEN (or its _FILE form), else the file
 * `~/.config/tocsin/cli.json` with `{"api_url", "token"}`. A token is never an argument: arguments are public.
 * @throws {ApiError} when one of them is missing or cannot be read
 */
export function openApi(values: OptionValues, env: CommandIo['env']): CliApi {
  const file = readOwnFile(env);
  const address = textOf(values.url) ?? textOf(env.SVC_API_URL) ?? file.api_url;
  const token = readToken(values, env) ?? file.token;
  if (!address) throw new ApiError('Say where the API is: --url, or the variable SVC_API_URL.');
  if (!URL.canParse(address) || !/^https?:/.test(address)) {
    throw new ApiError('The address of the API begins with http:// or https://.');
  }
  const { username, password } = new URL(address);
  if (username !== '' || password !== '') {
    throw new ApiError('The address of the API holds no login: leave it out, the token says who you are.');
  }
  if (!token) throw new ApiError('Give a token: --token-file, or the variable SVC_API_TOKEN.');
  const origin = address.replace(/\/+$/, '');
  const base = `${origin}/api/v1`;
  return {
    address: origin,
    get: (target) => send(`${base}${target}`, token, 'GET'),
    post: (target, body) => send(`${base}${target}`, token, 'POST', body),
    delete: (target) => send(`${base}${target}`, token, 'DELETE'),
  };
}

function readToken(values: OptionValues, env: CommandIo['env']): string | undefined {
  const named =
    textOf(values['token-file']) ?? (env.SVC_API_TOKEN ? undefined : textOf(env.SVC_API_TOKEN_FILE));
  return named === undefined ? textOf(env.SVC_API_TOKEN) : readSmall(named).trim();
}

function readOwnFile(env: CommandIo['env']): v.InferOutput<typeof File> {
  const folder = env.XDG_CONFIG_HOME || path.join(env.HOME || homedir(), '.config');
  const name = path.join(folder, 'tocsin', 'cli.json');
  const stat = statSync(name, { throwIfNoEntry: false });
  if (!stat) return {};
  if ((stat.mode & 0o077) !== 0) throw new ApiError(`Others may read ${name}: chmod 600 it.`);
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), File), readSmall(name));
  if (!parsed.success) throw new ApiError(`${name} is not {"api_url": "…", "token": "…"}.`);
  return parsed.output;
}

export function readSmall(name: string): string {
  const size = statSync(name, { throwIfNoEntry: false })?.size;
  if (size === undefined) throw new ApiError(`There is no file ${name}.`);
  if (size > FILE_BYTES) throw new ApiError(`${name} is larger than ${FILE_BYTES} bytes.`);
  return readFileSync(name, 'utf8');
}

export async function send(url: string, token: string, method: string, body?: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method,
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT),
    headers: {
      authorization: `Bearer ${token}`,
      'x-tocsin-client': 'cli',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw new ApiError(`The API does not answer: ${reasonOf(error)}.`);
  });
  const answer = parsed(await readBounded(response));
  if (response.ok) return answer;
  throw new ApiError(refusalText(response.status, answer));
}

function reasonOf(error: unknown): string {
  const fault = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return fault instanceof Error ? fault.message : String(fault);
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > ANSWER_BYTES) throw new ApiError('The answer is larger than 16 MiB.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // An address that is no API answers with a page; the status says what to do about it.
    return null;
  }
}

function refusalText(status: number, answer: unknown): string {
  const problem = v.safeParse(Problem, answer);
  if (!problem.success) return `The API answered ${status}. Is the address right?`;
  const { title, detail = title, errors = [] } = problem.output;
  return [detail, ...errors.map((error) => `${error.pointer || 'body'}: ${error.detail}`)].join('\n');
}

export function textOf(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Alert Groups at a terminal. */
const Named = v.looseObject({ name: v.string() });

export const Group = v.looseObject({
  id: v.string(),
  number: v.number(),
  title: v.string(),
  summary: v.nullable(v.string()),
  status: v.string(),
  severity_level: v.string(),
  owner: v.nullable(Named),
  snooze_until: v.nullable(v.string()),
  urgent: v.boolean(),
  route: Named,
  started_at: v.string(),
  firing_alert_count: v.number(),
  resolved_alert_count: v.number(),
  group_labels: v.record(v.string(), v.string()),
  links: v.array(v.looseObject({ name: v.string(), url: v.string() })),
  allowed_commands: v.array(v.string()),
});
export type Group = v.InferOutput<typeof Group>;

export const Page = v.looseObject({ items: v.array(Group), next_cursor: v.nullable(v.string()) });

/** Texts come from alerts: what a terminal would obey, and what turns other text around, is left out. */
function shown(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

const LONGEST_TITLE = 80;

function cut(text: string): string {
  const points = [...shown(text)];
  return points.length <= LONGEST_TITLE ? points.join('') : `${points.slice(0, LONGEST_TITLE - 1).join('')}…`;
}

function statusOf({ status, snooze_until: until }: Group): string {
  return until === null ? status : `${status} until ${localTime(until)}`;
}

/** To the minute, in the time zone of the terminal. The locale writes as ISO 8601 does. */
function localTime(instant: string): string {
  return new Date(instant).toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'short' });
}

/** One line a group, in columns. */
export function table(groups: readonly Group[]): readonly string[] {
  const rows = groups.map((group) => [
    `#${group.number}`,
    statusOf(group),
    group.severity_level,
    group.urgent ? 'urgent' : '-',
    localTime(group.started_at),
    shown(group.route.name),
    group.owner ? shown(group.owner.name) : '-',
    cut(group.title),
  ]);
  const all = [['GROUP', 'STATUS', 'SEVERITY', 'URGENT', 'STARTED', 'ROUTE', 'OWNER', 'TITLE'], ...rows];
  const widths =
    all[0]?.map((_, column) => Math.max(...all.map((row) => [...(row[column] ?? '')].length))) ?? [];
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Everything about one group that fits a terminal. */
export function details(group: Group): readonly string[] {
  const lines: (readonly [string, string])[] = [
    ['Status', statusOf(group)],
    ['Severity', group.severity_level],
    ['Urgent', group.urgent ? 'yes' : 'no'],
    ['Owner', group.owner ? shown(group.owner.name) : '-'],
    ['Route', shown(group.route.name)],
    ['Started', localTime(group.started_at)],
    ['Alerts', `${group.firing_alert_count} firing, ${group.resolved_alert_count} resolved`],
    ...Object.entries(group.group_labels).map(([name, value]) => [shown(name), shown(value)] as const),
    ...group.links.map(({ name, url }) => [shown(name), shown(url)] as const),
    ['Commands', group.allowed_commands.join(', ') || '-'],
  ];
  const width = Math.max(...lines.map(([name]) => name.length));
  const summary = group.summary ? [shown(group.summary)] : [];
  return [
    `#${group.number}  ${shown(group.title)}`,
    ...summary,
    ...lines.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`),
  ];
}
