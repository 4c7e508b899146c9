/** `tocsin quickstart`: a complete installation in one folder, for trying out and for single machines. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { alertmanagerSnippet, ingestEndpoint } from '../../actors/integration/snippets.ts';
import {
  ensureFirstIntegration,
  ensureFirstMessenger,
  type FirstIntegration,
  type FirstMessenger,
  findFirstIntegration,
  hasMessenger,
} from '../../storage/configuration/first-rows.ts';
import { startEmbeddedPostgres } from '../../storage/postgres/embedded/embedded.ts';
import { systemClock } from '../clock.ts';
import type { ServiceSettings } from '../compose/database.ts';
import { namesDatabase, parseHostPort } from '../config.ts';
import { isOpenWithoutHttps } from '../config-values.ts';
import { readDocuments } from '../documents.ts';
import type { Log } from '../log.ts';
import { type Command, type CommandIo, EXIT, type OptionValues } from './command.ts';
import {
  hadMessenger,
  MESSENGER_CHANNEL,
  MESSENGER_PORT,
  type RunningMessenger,
  startMessenger,
} from './first-messenger.ts';
import { createWhole, type FirstStart, forgetFirstStart, readFirstStart } from './first-start.ts';
import { type Cleanup, runUntilStopped, type Started, startHere } from './run-service.ts';
import { logFor, readSettings, thisMachine } from './settings.ts';

const HELP = `Usage: tocsin quickstart [--data-dir DIR] [--app HOST:PORT] [--ingest HOST:PORT]
                         [--internal HOST:PORT] [--messenger PORT|off] [--json]

Makes a folder with an embedded PostgreSQL and a master key on first use, migrates, makes a first Admin and an
Integration, and serves. Prints the address, the login with its password, the Integration token and a snippet for
Alertmanager. Password and token are shown on the first start only: afterwards only their hashes are known.

  --data-dir DIR        where everything is kept (default ./data)
  --app HOST:PORT       UI and API (default :8080)
  --ingest HOST:PORT    where senders post (default :8081)
  --internal HOST:PORT  health and metrics (default 127.0.0.1:8082)
  --messenger PORT|off  a messenger in memory to try Tocsin with, at this port of 127.0.0.1 (default 8090; off with --json
                        unless a port is given). On the first start it gets a Connection and a channel, the Default route
                        is told there, and the outbound policy allows 127.0.0.1. A restart forgets its messages
  --json                print one JSON line once ready, for programs; logs go to stderr

SVC_* variables count as for "serve"; SVC_DATABASE_* names a database to use instead of the embedded one.`;

const MESSENGER_NAME = 'Messenger to try out';
const LOGIN = 'admin';
const LISTENERS = ['app', 'ingest', 'internal'] as const;

export const quickstart: Command = {
  name: 'quickstart',
  summary: 'make what is missing in a folder and serve: for trying out and single machines',
  help: HELP,
  options: {
    'data-dir': { type: 'string' },
    app: { type: 'string' },
    ingest: { type: 'string' },
    internal: { type: 'string' },
    messenger: { type: 'string' },
    json: { type: 'boolean' },
  },
  run: (values, io) => runQuickstart(values, io, 'on'),
};

/** Runs until it is told to stop. Only the bench of the accept path asks for `paused`. */
export async function runQuickstart(
  values: OptionValues,
  io: CommandIo,
  processing: ServiceSettings['processing'],
): Promise<number> {
  const wrong = LISTENERS.find((name) => !isListenAddress(values[name]));
  if (wrong) {
    io.err(`tocsin quickstart: --${wrong} takes HOST:PORT or :PORT.`);
    return EXIT.usage;
  }
  const messengerPort = messengerPortOf(values);
  if (messengerPort === 'wrong') {
    io.err('tocsin quickstart: --messenger takes a port, or off.');
    return EXIT.usage;
  }
  const machine = thisMachine();
  // With --json, stdout carries the one line that programs wait for, and nothing else.
  const log = logFor(io.env, 'warn', machine, values.json ? io.err : undefined);
  const folder = path.resolve(textOf(values['data-dir']) ?? 'data');
  return runUntilStopped(io, log, async (cleanups) => {
    const env = await prepareFolder(folder, values, io.env, log, cleanups);
    const read = readSettings(env, log, { acceptPrintedKeys: true, machine });
    if ('errors' in read) {
      for (const line of read.errors) io.err(line);
      return false;
    }
    const given = read.settings.bootstrap;
    const first = await readFirstStart(folder);
    const bootstrap = given ?? madeUp(first);
    const settings = { ...read.settings, bootstrap, processing };
    let integration: FirstIntegration | null = null;
    const messenger = await offerMessenger(folder, messengerPort, first !== null, cleanups);
    let hasChannel = false;
    const { adminCreated, urls } = await startHere({
      settings,
      log,
      env: io.env,
      migrate: true,
      cleanups,
      alsoEnsure: async (tx, keyring) => {
        integration = first
          ? await ensureFirstIntegration(tx, { token: first.token, heartbeat: false, now: systemClock.now() })
          : await findFirstIntegration(tx, null);
        if (!messenger) return;
        if (first) await ensureFirstMessenger(tx, keyring, newMessenger(messenger));
        hasChannel = await hasMessenger(tx, messenger.url);
      },
    });
    const isShown = first !== null && !given && (adminCreated || first.wasPending);
    const shown: Shown = {
      isOpenWithoutHttps: isOpenWithoutHttps(settings.publicUrl, settings.listen.app),
      urls: { ...urls, ingestPublic: settings.ingestUrl },
      login: given?.login ?? LOGIN,
      password: isShown ? first.password : null,
      messengerUrl: messenger && hasChannel ? messenger.url : null,
      integration,
    };
    io.out(values.json ? jsonLine(shown) : forPeople(shown));
    if (first) await forgetFirstStart(folder);
    return true;
  });
}

/** Null: none is wanted. */
function messengerPortOf({ messenger, json }: OptionValues): number | 'wrong' | null {
  if (messenger === undefined) return json ? null : MESSENGER_PORT;
  if (messenger === 'off') return null;
  const port = typeof messenger === 'string' && /^\d{1,5}$/.test(messenger) ? Number(messenger) : -1;
  return port >= 0 && port <= 65_535 ? port : 'wrong';
}

/** A folder that is not new has one only if it had one before. Null also when its port is taken. */
async function offerMessenger(
  folder: string,
  port: number | null,
  isFirst: boolean,
  cleanups: Cleanup[],
): Promise<RunningMessenger | null> {
  if (port === null || !(isFirst || (await hadMessenger(folder)))) return null;
  const messenger = await startMessenger(folder, port);
  if (messenger) cleanups.push(() => messenger.close());
  return messenger;
}

function newMessenger({ url, token }: RunningMessenger): FirstMessenger {
  return { url, token, channel: MESSENGER_CHANNEL, name: MESSENGER_NAME, now: systemClock.now() };
}

function isListenAddress(value: OptionValues[string]): boolean {
  return value === undefined || (typeof value === 'string' && parseHostPort(value) !== null);
}

function madeUp(first: FirstStart | null): ServiceSettings['bootstrap'] {
  return first && { login: LOGIN, password: first.password, isMadeUp: true };
}

/** Makes the folder, its key and its database server. @returns the environment with what was not given filled in */
async function prepareFolder(
  folder: string,
  values: OptionValues,
  given: CommandIo['env'],
  log: Log,
  cleanups: Cleanup[],
): Promise<Record<string, string | undefined>> {
  const env: Record<string, string | undefined> = { ...given };
  env.SVC_LISTEN_APP = textOf(values.app) ?? env.SVC_LISTEN_APP ?? ':8080';
  env.SVC_LISTEN_INGEST = textOf(values.ingest) ?? env.SVC_LISTEN_INGEST ?? ':8081';
  env.SVC_LISTEN_INTERNAL = textOf(values.internal) ?? env.SVC_LISTEN_INTERNAL ?? '127.0.0.1:8082';
  env.SVC_PUBLIC_URL ??= urlOf(env.SVC_LISTEN_APP);
  env.SVC_INGEST_URL ??= urlOf(env.SVC_LISTEN_INGEST);
  await mkdir(folder, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'EEXIST' ? 'it is a file' : error.message;
    throw new Error(
      `--data-dir ${folder} cannot be used: ${why}. Name a folder that this user may write to.`,
    );
  });
  if (!env.SVC_SECRET_KEYS && !env.SVC_SECRET_KEYS_FILE) env.SVC_SECRET_KEYS_FILE = await keyFile(folder);
  if (namesDatabase(env)) return env;

  const pool = Number(env.SVC_DATABASE_POOL_MAX) || thisMachine().cpus;
  const starting = startEmbeddedPostgres({
    dataDir: path.join(folder, 'postgres'),
    settings: { max_connections: String(Math.max(LEAST_CONNECTIONS, pool + OTHER_CONNECTIONS)) },
    log,
    // Whoever supervises this process starts both again; without the database there is nothing to serve.
    onLost(reason) {
      log('embedded_database_lost', { reason });
      process.exit(EXIT.failed);
    },
  });
  cleanups.push(async () => (await starting.catch(() => null))?.stop());
  const postgres = await starting;
  const { host, port, database, user, password } = postgres.settings;
  env.SVC_DATABASE_HOST = host;
  env.SVC_DATABASE_PORT = String(port);
  env.SVC_DATABASE_NAME = database;
  env.SVC_DATABASE_USER = user;
  env.SVC_DATABASE_PASSWORD = password ?? '';
  env.SVC_DATABASE_SSLMODE = 'disable';
  return env;
}

function textOf(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The embedded server takes so many connections at least, and so many beside the pool: sessions, and commands. */
const LEAST_CONNECTIONS = 40;
const OTHER_CONNECTIONS = 20;

/** The master keys of the folder; one is made on first use, readable by the owner only. */
async function keyFile(folder: string): Promise<string> {
  const file = path.join(folder, 'secret-keys');
  if (!existsSync(file)) await createWhole(file, `${randomBytes(32).toString('base64')}\n`);
  return file;
}

/** How a browser on this machine reaches a listen address. */
function urlOf(listen: string): string {
  const host = listen.slice(0, listen.lastIndexOf(':'));
  const port = listen.slice(listen.lastIndexOf(':') + 1);
  const everywhere = host === '' || host === '0.0.0.0' || host === '[::]';
  return `http://${everywhere ? 'localhost' : host}:${port}`;
}

export interface Shown {
  /** Other machines reach the app over plain http and cannot sign in there. */
  readonly isOpenWithoutHttps: boolean;
  readonly urls: Started['urls'] & { readonly ingestPublic: string };
  readonly login: string;
  /** Null when it was given, or made by an earlier start. */
  readonly password: string | null;
  readonly integration: FirstIntegration | null;
  /** The page of the messenger to try out; null when there is none. */
  readonly messengerUrl: string | null;
}

function jsonLine({ urls, login, password, integration, messengerUrl }: Shown): string {
  return JSON.stringify({
    ready: true,
    app_url: urls.app,
    ingest_url: urls.ingest,
    internal_url: urls.internal,
    login,
    password,
    integration_id: integration?.id ?? null,
    integration_token: integration?.token ?? null,
    ingest_endpoint: ingestEndpoint(urls.ingestPublic),
    ...(messengerUrl === null ? {} : { messenger_url: messengerUrl }),
  });
}

const render = readDocuments<{ quickstart: Shown & { readonly snippet: string | null } }>(
  path.join(import.meta.dirname, 'documents'),
  String,
);

/** The first screen of a start. */
export function forPeople(shown: Shown): string {
  const { integration, urls } = shown;
  const token = integration?.token;
  const snippet =
    integration && token
      ? alertmanagerSnippet({ name: integration.name, ingestUrl: urls.ingestPublic, token })
      : null;
  return render('quickstart', { ...shown, snippet });
}
