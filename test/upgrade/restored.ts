/** An installation with the data of the version before, as if its service had been killed a few minutes ago. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DAY, HOUR, MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import { connect } from '../../storage/postgres/connection.ts';
import { startEmbeddedPostgres } from '../../storage/postgres/embedded/embedded.ts';
import { dayOf, ensurePartitions } from '../../storage/postgres/partitions.ts';
import { PARTITIONED_TABLES } from '../../storage/postgres/retention.ts';
import { Installation } from '../harness/tocsin.ts';
import { type Filled, PUBLIC_URL } from './filled.ts';

const read = (file: string) =>
  gunzipSync(readFileSync(path.join(import.meta.dirname, file))).toString('utf8');

export const filled = JSON.parse(read('filled.json.gz')) as Filled;

/** Idempotency-Keys that the bridge remembers, as they are after the restore. */
export function rememberedKeys(shift: Micros): ReadonlyMap<string, string> {
  return new Map(JSON.parse(moved(JSON.stringify(filled.answered), {}, shift)) as Filled['answered']);
}

/** Times of the dump that move: from a day before the kill to the last deadline set then. Those of Alerts stay. */
const MOVES = { from: filled.filledAt - DAY, until: filled.filledAt + 40 * DAY };

/**
 * @param origins where the fakes are now, by their names in the fixture
 * @param shift by how much every stored time is later, µs; whole seconds
 * @returns an installation that was not started yet
 */
export async function restored(
  origins: Readonly<Record<string, string>>,
  shift: Micros,
): Promise<Installation> {
  const tocsin = new Installation({ SVC_PUBLIC_URL: PUBLIC_URL });
  const server = await startEmbeddedPostgres({ dataDir: path.join(tocsin.dataDir, 'postgres') });
  const sql = connect(server.settings, { max: 1, applicationName: 'restore' });
  const first = filled.filledAt + shift - HOUR;
  const dump = moved(read('filled.sql.gz'), origins, shift);
  const data = dump.indexOf('-- Data for Name:');
  await sql.unsafe(dump.slice(0, data));
  await sql.unsafe('set search_path = public; set client_min_messages = warning');
  await ensurePartitions(sql, first, PARTITIONED_TABLES);
  await sql.unsafe(dump.slice(data));
  // Bodies are looked for on the day on which they came: that may be two days now.
  await sql`
    insert into public.snapshot_bodies
    select ${dayOf(filled.filledAt + shift)}::integer, hash, body from public.snapshot_bodies
    on conflict do nothing`;
  await sql.end();
  await server.stop();
  await writeFile(path.join(tocsin.dataDir, 'secret-keys'), filled.keys, { mode: 0o600 });
  // Empty: what a first start makes was shown.
  await writeFile(path.join(tocsin.dataDir, 'first-start'), '', { mode: 0o600 });
  return tocsin;
}

/** Times are stored as µs, a Storm also as the second of its start, the starts that make one in base 36. */
function moved(text: string, origins: Readonly<Record<string, string>>, shift: Micros): string {
  const later = (at: Micros) => (at >= MOVES.from && at < MOVES.until ? at + shift : at);
  const day = (at: Micros) => `\t(${dayOf(at)}, '\\x`;
  return Object.entries(filled.origins)
    .reduce((all, [name, origin]) => all.replaceAll(origin, origins[name] ?? origin), text)
    .replaceAll(day(filled.filledAt), day(filled.filledAt + shift - MINUTE))
    .replace(/(?<![\da-f])1\d{15}(?![\da-f])/g, (at) => String(later(Number(at))))
    .replace(/(?<=-RT[0-9A-Z]{12}-|'RT[0-9A-Z]{12}-)1\d{9}(?!\d)/g, (at) =>
      String(later(Number(at) * SECOND) / SECOND),
    )
    .replace(/(?<="starts": ")[0-9a-z]{10}/g, (at) => later(Number.parseInt(at, 36)).toString(36));
}
