/** `tocsin ingest replay`: has Stored Snapshots of a period processed once more (ingestion §9, operations §10). */
import { codePoints } from '../../actors/text.ts';
import { appendAudit, logAudited } from '../../storage/access/audit.ts';
import { requireSchema } from '../../storage/migrate.ts';
import { connect } from '../../storage/postgres/connection.ts';
import { reachDatabase } from '../../storage/postgres/database-check.ts';
import { type ReplayOutcome, replaySnapshots } from '../../storage/snapshots/stored-snapshots.ts';
import { SECOND, systemClock, systemMonotonic } from '../clock.ts';
import { type Command, type CommandIo, EXIT, type OptionValues, parseDuration } from './command.ts';
import { reportStartFailure } from './run-service.ts';
import { logFor, readSettings, thisMachine } from './settings.ts';

const NAME = 'tocsin ingest replay';
/** Somebody waits at a terminal. */
const PATIENCE = 5 * SECOND;
const LONGEST_ACTOR = 200;

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
    if (typeof asked === 'string') {
      io.err(`${NAME}: ${asked}`);
      io.err(`"${NAME} --help" shows its options.`);
      return EXIT.usage;
    }
    const outcome = await onDatabase(io, asked);
    if (outcome === 'failed') return EXIT.failed;
    if (outcome === 'unknown') {
      io.err(`${NAME}: there is no Integration "${asked.integration}".`);
      return EXIT.failed;
    }
    const { count } = outcome;
    io.out(values.json ? JSON.stringify({ count }) : `Set back to pending: ${count}`);
    return EXIT.done;
  },
};

interface Asked {
  readonly period: string;
  /** µs. */
  readonly length: number;
  readonly actor: string;
  readonly integration: string | null;
}

/** What is wrong, or what was asked. */
function readAsked({ since, actor, integration }: OptionValues): Asked | string {
  const name = typeof actor === 'string' ? actor.trim() : '';
  if (name === '') return '--actor is needed: the Audit log names who did it.';
  if (codePoints(name) > LONGEST_ACTOR) return `--actor has at most ${LONGEST_ACTOR} characters.`;
  if (typeof since !== 'string') return '--since is needed, such as 90m, 12h or 3d.';
  const length = parseDuration(since);
  if (length === null) return '--since is a number of minutes, hours or days, such as 90m, 12h or 3d.';
  return {
    ...{ period: since, length, actor: name },
    integration: typeof integration === 'string' ? integration : null,
  };
}

async function onDatabase(io: CommandIo, asked: Asked): Promise<ReplayOutcome | 'failed'> {
  const machine = thisMachine();
  const log = logFor(io.env, 'warn', machine);
  const read = readSettings(io.env, log, { acceptPrintedKeys: true, machine });
  if ('errors' in read) {
    for (const line of read.errors) io.err(line);
    return 'failed';
  }
  const { database, prepareStatements: prepare } = read.settings;
  const sql = connect(database, { max: 1, applicationName: NAME, prepare, onAudited: logAudited(log) });
  try {
    const reach = { applicationName: NAME, monotonic: systemMonotonic, patience: PATIENCE };
    await reachDatabase(database, reach);
    await requireSchema(sql);
    const at = systemClock.now();
    return await replaySnapshots(sql, appendAudit, {
      since: at - asked.length,
      period: asked.period,
      integration: asked.integration,
      author: { by: { kind: 'cli', id: null, name: asked.actor }, at, address: null },
    });
  } catch (error) {
    reportStartFailure(error, io, log);
    return 'failed';
  } finally {
    await sql.end({ timeout: 5 });
  }
}
