/** Runs the service in this process until a signal ends it: shared by `serve` and `quickstart`. */
import type { ListenAddress } from '../../http/server/listeners.ts';
import { isUnavailable } from '../../storage/postgres/connection.ts';
import { type Clock, SECOND, systemClock } from '../clock.ts';
import { type OpenOptions, openDatabase, type ServiceSettings } from '../compose/database.ts';
import { askOf } from '../compose/placement.ts';
import { startService } from '../compose/service.ts';
import type { Log } from '../log.ts';
import { readVersion } from '../version.ts';
import { type Command, type CommandIo, EXIT } from './command.ts';
import { logFor, readSettings, thisMachine } from './settings.ts';

/** How long everything may take to end after a signal, ms (operations §2.3). */
const GRACE_MS = 20_000;

/** Undoes a step of the start. It may be called while the step is under way. */
export type Cleanup = () => Promise<void>;

export interface Run {
  readonly settings: ServiceSettings;
  readonly log: Log;
  readonly env: CommandIo['env'];
  readonly migrate: boolean;
  readonly cleanups: Cleanup[];
  readonly alsoEnsure?: OpenOptions['alsoEnsure'];
}

export interface Started {
  readonly adminCreated: boolean;
  readonly urls: { readonly app: string; readonly ingest: string; readonly internal: string };
}

/**
 * Runs a start and then waits for SIGTERM or SIGINT, which may come during the start as well. In the end, and when the
 * start fails, what was begun is undone, the latest first.
 * @param start adds how to undo each step before the step is waited for; false: it refused and said why
 * @returns the exit code, once everything has ended
 */
export async function runUntilStopped(
  io: CommandIo,
  log: Log,
  start: (cleanups: Cleanup[]) => Promise<boolean>,
): Promise<number> {
  exitOnCrash(log);
  const stopped = stopSignal(log);
  const cleanups: Cleanup[] = [];
  try {
    const outcome = await Promise.race([start(cleanups), stopped]);
    if (outcome === 'stopped') return await endEarly(cleanups, log);
    if (outcome) await stopped;
    await undo(cleanups, log);
    if (outcome) log('process_stopped');
    return outcome ? EXIT.done : EXIT.failed;
  } catch (error) {
    await undo(cleanups, log);
    return reportStartFailure(error, io, log);
  }
}

/** Starts the service; resolves once it acts and answers. @throws when the start fails */
export async function startHere(run: Run): Promise<Started> {
  const { settings } = run;
  const version = readVersion(run.env);
  run.log('process_started', { ...version });
  const database = await openDatabase({
    settings,
    migrate: run.migrate,
    clock: systemClock,
    log: run.log,
    ...(run.alsoEnsure ? { alsoEnsure: run.alsoEnsure } : {}),
  });
  run.cleanups.push(() => database.close());
  const log = tellOutagesOnce(run.log, () => askOf(database), systemClock);
  const { bound } = await startService({ settings, version, database, clock: systemClock, log }, (stop) =>
    run.cleanups.push(stop),
  );
  return {
    adminCreated: database.adminCreated,
    urls: { app: urlOf(bound.app), ingest: urlOf(bound.ingest), internal: urlOf(bound.internal) },
  };
}

/** One line for people and one for the log about a start that failed. */
export function reportStartFailure(error: unknown, io: CommandIo, log: Log): number {
  const message = error instanceof Error ? error.message : String(error);
  log('startup_failed', { error: message });
  io.err(`tocsin: ${message}`);
  return EXIT.failed;
}

/** Ends the process, because what the start still waits for would keep it alive. */
async function endEarly(cleanups: readonly Cleanup[], log: Log): Promise<never> {
  await undo(cleanups, log);
  log('process_stopped');
  return process.exit(EXIT.done);
}

/** Every step is undone, whatever comes of the others. */
async function undo(cleanups: readonly Cleanup[], log: Log): Promise<void> {
  for (const cleanup of cleanups.toReversed()) {
    try {
      await cleanup();
    } catch (error) {
      log('shutdown_step_failed', { error: String(error) });
    }
  }
}

function urlOf({ host, port }: ListenAddress): string {
  const everywhere = host === '' || host === '0.0.0.0' || host === '::';
  return `http://${everywhere ? 'localhost' : host}:${port}`;
}

/** Logs a defect that nothing caught and ends the process: a damaged one is not kept alive. */
function exitOnCrash(log: Log): void {
  const crash = (error: unknown) => {
    const fault = error instanceof Error ? error : new Error(String(error));
    log('process_crashed', { error: fault.message, stack: fault.stack });
    process.exit(EXIT.failed);
  };
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', (error) => {
    // The driver rejects what it started itself (a COPY that broke off) where nobody can wait for it. Whoever depends
    // on the connection is told by the statement that follows.
    if (isUnavailable(error)) log('database_unavailable', { error: String(error) });
    else crash(error);
  });
}

/** Resolves with SIGTERM or SIGINT. From then on everything has the grace to end; a second signal ends it at once. */
function stopSignal(log: Log): Promise<'stopped'> {
  return new Promise((resolve) => {
    let isStopping = false;
    const onSignal = () => {
      if (isStopping) process.exit(EXIT.failed);
      isStopping = true;
      log('shutdown_requested', { grace_seconds: GRACE_MS / 1000 });
      setTimeout(() => {
        log('shutdown_grace_exceeded');
        process.exit(EXIT.done);
      }, GRACE_MS).unref();
      resolve('stopped');
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}

/**
 * A log that tells of an outage once, however many notice it, and of its end.
 * @param ask resolves when the database answers
 */
export function tellOutagesOnce(log: Log, ask: () => Promise<unknown>, clock: Clock): Log {
  let isOut = false;
  const askAgain = () => {
    clock.after(SECOND, () => {
      ask().then(() => {
        isOut = false;
        log('database_restored');
      }, askAgain);
    });
  };
  return (event, fields) => {
    if (event === 'database_unavailable') {
      if (isOut) return;
      isOut = true;
      askAgain();
    }
    log(event, fields);
  };
}

/** `tocsin serve`: production. Everything comes from SVC_* variables; nothing is generated. */
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
