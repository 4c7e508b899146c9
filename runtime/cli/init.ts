/** `tocsin init`: writes what Alertmanager and Prometheus need to send here, and tries it (operations §10). */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { webAddress } from '../config-values.ts';
import { openTerminal } from './bridge-check/person.ts';
import { type Command, type CommandIo, EXIT, type OptionValues } from './command.ts';
import { ApiError, type CliApi, openApi, textOf } from './groups/api.ts';
import { groupsNamed, misusedBy, post, read, within } from './messenger-check.ts';

const NAME = 'tocsin init';
/** For the test alert to become an Alert Group, and for it to be resolved, s. */
const ARRIVES_WITHIN = 60;
const ANSWER_WITHIN = 600;
/** The first holds the token. */
const FILES = ['alertmanager.yml', 'tocsin-rules.yml', 'tocsin-heartbeat-rule.yml'] as const;
const DEFAULT_NAME = 'Alertmanager';

const HELP = `Usage: ${NAME} [options]

Asks where senders reach Tocsin and for which Integration, makes a token for it, writes a whole alertmanager.yml and
rules for Prometheus, then posts a test alert as Alertmanager does, waits for its Alert Group, and resolves it. The test
alert takes the Routes like any other alert. An Integration that does not exist is created, with its Heartbeat on.

  --ingest-url URL    address of the ingest listener as senders reach it
  --integration NAME  the Integration, by name or id
  --dir DIR           where the files are written (default: the current folder)
  --force             replace files that exist
  --no-test           write the files only, without a test alert
  --yes               ask nothing: what is not given is what Tocsin says, and the Integration "${DEFAULT_NAME}"
  --url URL           address of the API (default: SVC_API_URL)
  --token-file FILE   file with the token (default: SVC_API_TOKEN, SVC_API_TOKEN_FILE). It needs integrations:read,
                      integrations:write and alert-groups:read
  --json              ask nothing, print one JSON object: {"ok", "files", "integration_id", "group_number", "error"}

alertmanager.yml holds the new token, which is printed nowhere; its mode is 600.

Exit codes: 0 it arrived and was resolved, 1 it did not or something was refused, 2 wrong usage.`;

const Integration = v.looseObject({
  id: v.string(),
  name: v.string(),
  ingest_url: v.optional(v.string()),
  heartbeat: v.looseObject({ enabled: v.boolean() }),
});
type Integration = v.InferOutput<typeof Integration>;
const Page = v.looseObject({ items: v.array(Integration), next_cursor: v.nullish(v.string(), null) });
const Created = v.looseObject({
  token: v.looseObject({ id: v.string() }),
  value: v.string(),
  /** The release before makes none. */
  files: v.optional(v.array(v.object({ name: v.string(), content: v.string() })), []),
});

interface Done {
  files: readonly string[];
  integration_id: string | null;
  group_number: number | null;
}

export const init: Command = {
  name: 'init',
  summary: 'write the files by which Alertmanager and Prometheus send here, and try them',
  help: HELP,
  options: {
    'ingest-url': { type: 'string' },
    integration: { type: 'string' },
    dir: { type: 'string' },
    force: { type: 'boolean' },
    'no-test': { type: 'boolean' },
    yes: { type: 'boolean' },
    url: { type: 'string' },
    'token-file': { type: 'string' },
    json: { type: 'boolean' },
  },
  async run(values, io) {
    const given = textOf(values['ingest-url']);
    if (given !== undefined && !v.is(webAddress, given.trim())) return misusedBy(NAME, io, NOT_AN_ADDRESS);
    const asks = process.stdin.isTTY === true && !values.yes && !values.json;
    if (!asks && !values.yes && !(given && textOf(values.integration))) {
      return misusedBy(NAME, io, 'nobody can be asked here: give --ingest-url and --integration, or --yes.');
    }
    const done: Done = { files: [], integration_id: null, group_number: null };
    const say = (line: string): void => {
      if (!values.json) io.out(line);
    };
    const error = await set(values, io, asks, done, say).catch((fault: unknown) => {
      if (fault instanceof ApiError) return fault.message;
      throw fault;
    });
    if (values.json) io.out(JSON.stringify({ ok: error === null, ...done, error }));
    else if (error !== null) io.err(`${NAME}: ${error}`);
    return error === null ? EXIT.done : EXIT.failed;
  },
};

const NOT_AN_ADDRESS =
  'senders reach Tocsin at an http or https address without a login, query and fragment.';
const NEXT =
  'Start Alertmanager with its file, name both rule files in prometheus.yml, and scrape Tocsin as the job "tocsin".';

/** @returns why it did not work, or null. @throws {ApiError} the API refuses, or a file cannot be written */
async function set(
  values: OptionValues,
  io: CommandIo,
  asks: boolean,
  done: Done,
  say: (line: string) => void,
): Promise<string | null> {
  const api = openApi(values, io.env);
  const folder = path.resolve(textOf(values.dir) ?? '.');
  const there = FILES.map((file) => path.join(folder, file)).filter((file) => existsSync(file));
  if (there.length > 0 && !values.force) return `${there.join(', ')} exists; --force replaces it.`;
  const integrations = await allOf(api);
  const wanted = textOf(values.integration);
  const terminal = asks ? openTerminal(io) : null;
  let name: string;
  let ingestUrl: string;
  try {
    const ask = async (question: string, standard: string): Promise<string> => {
      const typed = await terminal?.ask(`${question} [${standard}]`, ANSWER_WITHIN);
      if (typed === null) throw new ApiError('nobody answered.');
      return typed?.trim() || standard;
    };
    const first = integrations.find((each) => each.ingest_url);
    const known = first?.ingest_url?.replace(/\/api\/v1\/ingest$/, '') ?? api.address;
    ingestUrl =
      textOf(values['ingest-url']) ?? (await ask('Where do senders reach Tocsin (http or https)?', known));
    name = wanted ?? (asks ? await ask('For which Integration?', first?.name ?? DEFAULT_NAME) : DEFAULT_NAME);
  } finally {
    terminal?.close();
  }
  const address = v.safeParse(webAddress, ingestUrl.trim());
  if (!address.success) return NOT_AN_ADDRESS;
  ingestUrl = address.output;
  const found = integrations.find((each) => each.id === name || each.name === name);
  const integration = found ?? (await created(api, name));
  done.integration_id = integration.id;
  const wish = { name: NAME, ingest_url: ingestUrl };
  const tokens = `/integrations/${integration.id}/tokens`;
  const { token, value, files } = read(Created, await api.post(tokens, wish));
  const known = files.filter((file) => FILES.some((name) => name === file.name));
  if (known.length < FILES.length) {
    await api.delete(`${tokens}/${token.id}`);
    return 'this Tocsin is of an earlier release and makes no files. Bring it up to date, and try again.';
  }
  done.files = known.map(({ name: file, content }) =>
    written(path.join(folder, file), content, file === FILES[0] ? 0o600 : 0o644, values.force === true),
  );
  for (const file of done.files) say(`Written: ${file}`);
  say(NEXT);
  const edit = `${api.address}/integrations/${integration.id}/edit`;
  if (!integration.heartbeat.enabled)
    say(`The Heartbeat is off; turn it on to notice a silent sender: ${edit}`);
  return values['no-test'] ? null : tried(api, { url: ingestUrl, token: value }, done, say);
}

async function allOf(api: CliApi): Promise<readonly Integration[]> {
  const all: Integration[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: v.InferOutput<typeof Page> = read(Page, await api.get(`/integrations?limit=500${query}`));
    all.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return all;
}

async function created(api: CliApi, name: string): Promise<Integration> {
  const body = {
    ...{ name, description: '', connection_mode: 'webhook_only', static_labels: {} },
    ...{ duplicate_window_seconds: 45, heartbeat: { enabled: true } },
  };
  return read(Integration, await api.post('/integrations', body));
}

/** The file is new, so that nobody who had the one before open reads the token. */
function written(file: string, text: string, mode: number, force: boolean): string {
  try {
    mkdirSync(path.dirname(file), { recursive: true });
    // What is replaced stays until the new file is whole.
    const fresh = force ? `${file}.new` : file;
    if (force) rmSync(fresh, { force: true });
    writeFileSync(fresh, text, { mode, flag: 'wx' });
    if (force) renameSync(fresh, file);
  } catch (error) {
    throw new ApiError(`${file} cannot be written: ${error instanceof Error ? error.message : error}`);
  }
  return file;
}

async function tried(
  api: CliApi,
  ingest: { readonly url: string; readonly token: string },
  done: Done,
  say: (line: string) => void,
): Promise<string | null> {
  const alert = `TocsinInit${randomBytes(3).toString('hex')}`;
  const on = { api, asked: { labels: { severity: 'info' } }, ingest, startedAt: new Date().toISOString() };
  await post(on, alert, 'firing', ['test']);
  try {
    const group = await within(ARRIVES_WITHIN, async () => (await groupsNamed(on, alert))[0] ?? null);
    if (!group) return `the test alert was accepted, but there is no Alert Group within ${ARRIVES_WITHIN} s.`;
    done.group_number = group.number;
    say(`The test alert arrived: Alert Group #${group.number}`);
  } finally {
    await post(on, alert, 'resolved', ['test']);
  }
  const isOver = await within(ARRIVES_WITHIN, async () => {
    const [group] = await groupsNamed(on, alert);
    return group?.status === 'resolved' ? group : null;
  });
  if (!isOver) return `Alert Group #${done.group_number} was not resolved within ${ARRIVES_WITHIN} s.`;
  say(`Alert Group #${isOver.number} is resolved.`);
  return null;
}
