/** `tocsin ingest replay`: has Stored Snapshots of a period processed once more (ingestion §9, operations §10). */
import { appendAudit } from '../../storage/access/audit.ts';
import { replaySnapshots } from '../../storage/snapshots/stored-snapshots.ts';
import { systemClock } from '../clock.ts';
import { type Command, EXIT, type OptionValues, parseDuration } from './command.ts';
import { readActor, refuse, SINCE_RULE, withDatabase, wrongUsage } from './command-database.ts';

const NAME = 'tocsin ingest replay';

export const ingestReplay: Command = {
  name: 'ingest replay',
  summary: 'have Stored Snapshots of a period processed once more',
  help: `Usage: tocsin ingest replay --since <duration> --actor <name> [--integration <name>] [--json]

Sets the Stored Snapshots that were received within the period back to pending, in one transaction with an entry of the
Audit log, and prints how many. A running service finds them within half a minute; a stopped one when it starts. Works on
the database named by SVC_DATABASE_*, with the environment of the service.

What was processed before changes nothing, however often it is replayed. What failed is processed as if it came now,
with the time at which it was received: in full when its sender's group was not heard later, otherwise only what it says
of resolved alerts.

  --since <duration>    how far back: minutes, hours or days, such as 90m, 12h or 3d
  --actor <name>        who does it, for the Audit log
  --integration <name>  only Snapshots of this Integration
  --json                print one JSON object: {"count"}

Exit codes: 0 done, 1 failed or refused, 2 wrong usage.`,
  options: {
    since: { type: 'string' },
    actor: { type: 'string' },
    integration: { type: 'string' },
    json: { type: 'boolean' },
  },
  async run(values, io) {
    const asked = readAsked(values);
    if ('wrong' in asked) return wrongUsage(io, NAME, asked.wrong);
    const { actor, period, length, integration } = asked;
    return withDatabase(NAME, io, async ({ sql }) => {
      const at = systemClock.now();
      const author = { by: { kind: 'cli', id: null, name: actor }, at, address: null } as const;
      const outcome = await replaySnapshots(sql, appendAudit, {
        ...{ since: at - length, period, integration, author },
      });
      if (outcome === 'unknown') return refuse(io, NAME, `there is no Integration "${integration}".`);
      const { count } = outcome;
      io.out(values.json ? JSON.stringify({ count }) : `Set back to pending: ${count}`);
      return EXIT.done;
    });
  },
};

interface Asked {
  readonly period: string;
  /** µs. */
  readonly length: number;
  readonly actor: string;
  readonly integration: string | null;
}

function readAsked({ since, actor, integration }: OptionValues): Asked | { readonly wrong: string } {
  const author = readActor({ actor });
  if ('wrong' in author) return author;
  if (typeof since !== 'string') return { wrong: '--since is needed, such as 90m, 12h or 3d.' };
  const length = parseDuration(since);
  if (length === null) return { wrong: SINCE_RULE };
  return {
    ...{ period: since, length, actor: author.actor },
    integration: typeof integration === 'string' ? integration : null,
  };
}
