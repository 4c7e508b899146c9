/** `tocsin serve`: production. Everything comes from SVC_* variables; nothing is generated. */
import type { Command } from './command.ts';
import { runUntilStopped, startHere } from './run-service.ts';
import { logFor, readSettings, thisMachine } from './settings.ts';

export const serve: Command = {
  name: 'serve',
  summary: 'serve, configured by SVC_* variables only (the default)',
  help: `Usage: tocsin serve

Serves until SIGTERM. Configuration comes from SVC_* variables only; it starts with a database whose schema is current
(see "tocsin migrate") and with the master keys of that database, and never makes either.`,
  options: {},
  run(_values, io) {
    const machine = thisMachine();
    const log = logFor(io.env, 'info', machine);
    return runUntilStopped(io, log, async (cleanups) => {
      const read = readSettings(io.env, log, { acceptPrintedKeys: false, machine });
      if ('errors' in read) {
        for (const line of read.errors) io.err(line);
        return false;
      }
      const { settings, migrateOnStart } = read;
      await startHere({ settings, log, env: io.env, migrate: migrateOnStart, cleanups });
      return true;
    });
  },
};
