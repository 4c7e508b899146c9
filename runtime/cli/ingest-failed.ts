/** `tocsin ingest failed`: says which bodies were accepted and are no Snapshots (ingestion §4.2, §9, operations §10). */
import { type FailedOfIntegration, readFailedSnapshots } from '../../storage/snapshots/stored-snapshots.ts';
import { formatInstant, systemClock } from '../clock.ts';
import { type Command, EXIT, parseDuration } from './command.ts';
import { SINCE_RULE, withDatabase, wrongUsage } from './command-database.ts';

const NAME = 'tocsin ingest failed';

export const ingestFailed: Command = {
  name: 'ingest failed',
  summary: 'show which accepted bodies were no Snapshots, and why',
  help: `Usage: tocsin ingest failed [--since <duration>] [--json]

Counts, for each Integration, the bodies that were answered 202 within the period and could not be read as Snapshots, and
shows the last one with the reason. Nobody was told of the alerts in them. Works on the database named by SVC_DATABASE_*,
with the environment of the service.

  --since <duration>  how far back: minutes, hours or days, such as 90m, 12h or 3d; 24h unless given
  --json              print one JSON object: {"items": [{"integration", "count", "last": {"id", "received_at", "error"}}]}

Exit codes: 0 none failed, 1 some failed or the database was not reached, 2 wrong usage.`,
  options: { since: { type: 'string' }, json: { type: 'boolean' } },
  async run({ since = '24h', json }, io) {
    const length = typeof since === 'string' ? parseDuration(since) : null;
    if (length === null) return wrongUsage(io, NAME, SINCE_RULE);
    return withDatabase(NAME, io, async ({ sql }) => {
      const items = await readFailedSnapshots(sql, systemClock.now() - length);
      if (json) io.out(JSON.stringify({ items: items.map(itemBody) }));
      else for (const line of linesOf(items, String(since))) io.out(line);
      return items.length === 0 ? EXIT.done : EXIT.failed;
    });
  },
};

function itemBody({ integration, count, last }: FailedOfIntegration) {
  const { id, receivedAt, error } = last;
  return { integration, count, last: { id, received_at: formatInstant(receivedAt), error } };
}

function linesOf(items: readonly FailedOfIntegration[], period: string): readonly string[] {
  if (items.length === 0) return [`No accepted body of the last ${period} failed.`];
  return items.flatMap(({ integration, count, last }) => [
    `${integration.name} (${integration.id}): ${count} of the last ${period} failed; nobody was told of their alerts`,
    `  last ${last.id} at ${formatInstant(last.receivedAt)}: ${last.error}`,
  ]);
}
