/** Looks into every place of a running service where something may be written down. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { connect } from '../../storage/postgres/connection.ts';
import { embeddedSettings } from '../../storage/postgres/embedded/embedded.ts';
import type { Api, Json } from './api.ts';
import type { Canaries } from './canaries.ts';
import type { Installation } from './tocsin.ts';

/** What was found: `<secret> in <place>`. */
export type Findings = Set<string>;

export function note(findings: Findings, canaries: Canaries, place: string, text: string | Buffer): void {
  for (const name of canaries.in(text)) findings.add(`${name} in ${place}`);
}

/** Reads by which nothing is shown but a file of the service, or that never end. */
const NOT_WALKED = [
  '/live-updates',
  '/openapi.json',
  '/openapi.yaml',
  '/sessions/oidc/start',
  '/sessions/oidc/callback',
  ...['/heartbeat', '/heartbeat/{ingest_token}', '/health/live', '/health/ready', '/metrics'],
];
/** Actors are read by kind and key. */
const KINDS = ['alert_group', 'connection', 'destination', 'feed', 'integration', 'route'];
const AT_ONCE = 8;
const OWNERS = ['connection', 'destination', 'run'];
const ID = /\b[A-Z]{2}[0-9A-HJKMNP-TV-Z]{12}\b/g;

/**
 * Reads everything that the description of the API lets a person read, with every id that an answer holds.
 * @param most how many ids of a kind a place is asked for
 * @returns paths of the description that never answered 200
 */
export async function walkApi(
  api: Api,
  tell: (place: string, text: string) => void,
  most = Number.POSITIVE_INFINITY,
): Promise<readonly string[]> {
  const { paths } = await api.get('/openapi.json');
  const reads = Object.entries<Json>(paths)
    .filter(([, operations]) => operations.get !== undefined)
    .map(([path]) => path.replace(/^\/api\/v1/, ''))
    .filter((path) => !NOT_WALKED.includes(path));
  const ids = new Set<string>();
  const asked = new Set<string>();
  const answered = new Set<string>();
  /** Kinds of ids that a place took, or did not. */
  const takes = new Map<string, boolean>();
  const counted = new Map<string, number>();

  const read = async (path: string, target: string): Promise<boolean> => {
    if (asked.has(target)) return true;
    asked.add(target);
    const { status, body } = await api.call('GET', target);
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    if (status === 200) answered.add(path);
    tell(`GET ${path} ${status}`, text);
    for (const [id] of text.matchAll(ID)) ids.add(id);
    return status === 200;
  };

  const { items: counts } = await api.get('/actor-counts');
  const listed = counts.flatMap(({ kind, state }: Json) => {
    // Of states beside each other the first one: every actor of the kind is in it.
    const name = typeof state === 'string' ? state : Object.keys(state ?? {})[0];
    return name === undefined ? [] : [`/actors?kind=${kind}&state=${name}`];
  });

  for (let before = -1; before !== asked.size; ) {
    before = asked.size;
    for (const path of reads) {
      for (const place of path === '/actors' ? listed : placesOf(path)) {
        if (!place.includes('*')) await read(path, place);
        else {
          const kindOf = (id: string) => `${place} ${id.slice(0, 2)}`;
          const isWanted = (id: string) => {
            if (takes.get(kindOf(id)) === false || asked.has(place.replace('*', id))) return false;
            const before = counted.get(kindOf(id)) ?? 0;
            counted.set(kindOf(id), before + 1);
            return before < most;
          };
          const wanted = [...ids].filter(isWanted);
          for (let from = 0; from < wanted.length; from += AT_ONCE) {
            const some = wanted.slice(from, from + AT_ONCE).filter((id) => takes.get(kindOf(id)) !== false);
            await Promise.all(
              some.map(async (id) => {
                const isTaken = await read(path, place.replace('*', id));
                takes.set(kindOf(id), isTaken || takes.get(kindOf(id)) === true);
              }),
            );
          }
        }
      }
    }
  }
  return reads.filter((path) => !answered.has(path));
}

/** Where a star stands, an id is to be put. */
function placesOf(path: string): readonly string[] {
  if (path === '/request-records') return OWNERS.map((owner) => `${path}?${owner}=*&limit=200`);
  if (path === '/alert-group-folds') return [`${path}?by=alertname`];
  if (path.includes('{kind}')) return KINDS.map((kind) => `/actors/${kind}/*`);
  return [path.replace(/\{\w+\}/, '*')];
}

/** Every row of every table, as text. */
export async function walkDatabase(
  { dataDir }: Installation,
  tell: (place: string, text: string) => void,
): Promise<void> {
  const sql = connect(await embeddedSettings(path.join(dataDir, 'postgres')), {
    ...{ max: 1, applicationName: 'sweep' },
  });
  try {
    const tables = await sql<{ name: string }[]>`
      select c.relname as name from pg_class c
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by 1`;
    if (tables.length < 30) throw new Error('these are not the tables of the service');
    for (const { name } of tables) {
      const rows = await sql<{ row: string }[]>`select t::text as row from ${sql(name)} t`;
      tell(`table ${name}`, rows.map(({ row }) => row).join('\n'));
    }
  } finally {
    await sql.end();
  }
}

/** Every file below a folder: what was deleted from a table is still in the files of its database. */
export function walkFiles(
  folder: string,
  isLeftOut: (name: string) => boolean,
  tell: (place: string, bytes: Buffer) => void,
): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || isLeftOut(entry.name)) continue;
    const file = path.join(entry.parentPath, entry.name);
    tell(`file ${path.relative(folder, file)}`, readFileSync(file));
  }
}

/** Command lines and environments of a process and of those that it started. */
export function walkProcesses(pid: number, tell: (place: string, text: string) => void): void {
  for (const one of familyOf(pid)) {
    tell(
      `command line of ${one === pid ? 'the service' : 'its child'}`,
      readFileSync(`/proc/${one}/cmdline`, 'latin1'),
    );
    if (one !== pid) tell('environment of its child', readFileSync(`/proc/${one}/environ`, 'latin1'));
  }
}

function familyOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...children.split(' ').filter(Boolean).map(Number).flatMap(familyOf)];
}
