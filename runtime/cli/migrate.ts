/** `tocsin migrate`: brings the schema of the database to the version that this build knows. */
import { migrate as applyMigrations } from '../../storage/migrate.ts';
import { connect } from '../../storage/postgres/connection.ts';
import { reachDatabase } from '../../storage/postgres/database-check.ts';
import { systemMonotonic } from '../clock.ts';
import { type Command, EXIT } from './command.ts';
import { reportStartFailure } from './run-service.ts';
import { logFor, readSettings, thisMachine } from './settings.ts';

export const migrate: Command = {
  name: 'migrate',
  summary: 'bring the database schema up to date',
  help: `Usage: tocsin migrate [--json]

Applies the migrations that the database named by SVC_DATABASE_* lacks, while other starters wait and replicas go on
working. Safe to run at any time, and again after it was interrupted; does nothing when the schema is current.`,
  options: { json: { type: 'boolean' } },
  async run(values, io) {
    const machine = thisMachine();
    const log = logFor(io.env, 'warn', machine);
    const read = readSettings(io.env, log, { acceptPrintedKeys: true, machine });
    if ('errors' in read) {
      for (const line of read.errors) io.err(line);
      return EXIT.failed;
    }
    // The server rolls back the step that is under way.
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(EXIT.failed));
    try {
      await reachDatabase(read.settings.sessionDatabase, {
        applicationName: 'tocsin migrate',
        monotonic: systemMonotonic,
      });
    } catch (error) {
      return reportStartFailure(error, io, log);
    }
    const session = connect(read.settings.sessionDatabase, { max: 1, applicationName: 'tocsin migrate' });
    try {
      const { from, to } = await applyMigrations(session, { log });
      const sentence =
        from === to ? `The schema is current: version ${to}.` : `Migrated from version ${from} to ${to}.`;
      io.out(values.json ? JSON.stringify({ from, to }) : sentence);
      return EXIT.done;
    } catch (error) {
      return reportStartFailure(error, io, log);
    } finally {
      await session.end({ timeout: 5 });
    }
  },
};
