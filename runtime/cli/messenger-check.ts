/** `tocsin messenger-check`: drives a Destination of a messenger through everything that happens to a message (operations §10). */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import * as v from 'valibot';
import { openTerminal } from './bridge-check/person.ts';
import { type Command, type CommandIo, EXIT, type OptionValues } from './command.ts';
import { ApiError, type CliApi, openApi, readSmall, send, textOf } from './groups/api.ts';

const NAME = 'tocsin messenger-check';
/** For a message to be delivered, s: replies may be collected first, or wait for a copy of the post. */
const DELIVERED_WITHIN = 150;
const PERSON_WITHIN = 300;
/** Between two looks, ms. */
const LOOK_AGAIN = 500;

const HELP = `Usage: ${NAME} <destination> [options]

Drives the Destination of a messenger, named or by its id, through the API: its Connection, its channel, a test message.
With a token of an Integration also a whole Alert Group: an alert, an acknowledgement, an alert more, the resolution.
It prints what it saw, one line a step, and what only a person can see.

  --ingest-url URL           where alerts are posted (default: the address of the API)
  --ingest-token-file FILE   file with the token of an Integration
  --labels NAME=VALUE,…      labels by which a Route sends the alert to this Destination
  --interactive              ask a person to press the button and to look at the message
  --url URL                  address of the API (default: SVC_API_URL)
  --token-file FILE          file with the token (default: SVC_API_TOKEN, SVC_API_TOKEN_FILE). It needs destinations:read,
                             destinations:test, connections:read, connections:write, alert-groups:read and
                             alert-groups:acknowledge
  --json                     print one JSON object: {"ok", "steps": [{"step", "verdict", "detail"}]}

Exit codes: 0 every step passed or was skipped, 1 one failed, 2 wrong usage.`;

type Verdict = 'PASS' | 'FAIL' | 'SKIP';
interface Seen {
  readonly step: string;
  readonly verdict: Verdict;
  readonly detail: string;
}
type Report = (step: string, verdict: Verdict, detail: string) => void;
type Ask = ReturnType<typeof openTerminal>['ask'];

interface Asked {
  readonly destination: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ingest: { readonly url: string; readonly token: string } | null;
}

const Found = v.looseObject({
  id: v.string(),
  name: v.string(),
  type: v.string(),
  connection_id: v.nullish(v.string(), null),
});
const Page = v.looseObject({ items: v.array(Found), next_cursor: v.nullable(v.string()) });
const CheckRun = v.looseObject({
  steps: v.array(
    v.looseObject({
      name: v.string(),
      ok: v.boolean(),
      skipped: v.boolean(),
      message: v.nullable(v.string()),
    }),
  ),
});
const DestinationRun = v.looseObject({
  checks: v.array(v.looseObject({ name: v.string(), ok: v.boolean(), message: v.nullable(v.string()) })),
});
const TestRun = v.looseObject({
  steps: v.array(
    v.looseObject({
      name: v.string(),
      error_class: v.string(),
      error: v.nullable(v.string()),
      response_status: v.nullable(v.number()),
      duration_ms: v.number(),
    }),
  ),
});
const Group = v.looseObject({
  id: v.string(),
  number: v.number(),
  firing_alert_count: v.number(),
  status: v.string(),
  owner: v.nullable(v.looseObject({ name: v.string() })),
});
const Groups = v.looseObject({ items: v.array(Group) });
const Deliveries = v.looseObject({
  items: v.array(
    v.looseObject({
      destination: v.looseObject({ id: v.string() }),
      state: v.string(),
      possible_duplicate: v.boolean(),
      machine: v.looseObject({ thread: v.string() }),
      message_url: v.nullable(v.string()),
      updated_at: v.string(),
      error: v.nullable(v.string()),
    }),
  ),
});

export const messengerCheck: Command = {
  name: 'messenger-check',
  summary: 'drive a Destination of a messenger through every step of a message',
  help: HELP,
  operands: ['destination'],
  options: {
    'ingest-url': { type: 'string' },
    'ingest-token-file': { type: 'string' },
    labels: { type: 'string' },
    interactive: { type: 'boolean' },
    url: { type: 'string' },
    'token-file': { type: 'string' },
    json: { type: 'boolean' },
  },
  async run(values, io) {
    if (values.interactive && values.json) return misused(io, '--interactive and --json exclude each other.');
    const seen: Seen[] = [];
    const report: Report = (step, verdict, detail) => {
      seen.push({ step, verdict, detail });
      if (!values.json) io.out(`${verdict} ${step}: ${shown(detail)}`);
    };
    const terminal = values.interactive ? openTerminal(io) : null;
    try {
      const asked = readAsked(values, io);
      if (typeof asked === 'string') return misused(io, asked);
      await drive(openApi(values, io.env), asked, report, terminal?.ask ?? null);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      report('api', 'FAIL', error.message);
    } finally {
      terminal?.close();
    }
    const isWell = seen.every(({ verdict }) => verdict !== 'FAIL');
    if (values.json) io.out(JSON.stringify({ ok: isWell, steps: seen }));
    return isWell ? EXIT.done : EXIT.failed;
  },
};

function misused(io: CommandIo, why: string): number {
  return misusedBy(NAME, io, why);
}

export function misusedBy(name: string, io: CommandIo, why: string): number {
  io.err(`${name}: ${why}`);
  io.err(`"${name} --help" shows its options.`);
  return EXIT.usage;
}

/** What is wrong, or what was asked. @throws {ApiError} a file cannot be read */
function readAsked(values: OptionValues, io: CommandIo): Asked | string {
  const pairs = (textOf(values.labels) ?? '').split(',').filter((pair) => pair !== '');
  const wrong = pairs.find((pair) => !/^[^=]+=/.test(pair));
  if (wrong !== undefined) return `--labels: "${wrong}" is not NAME=VALUE.`;
  const labels = Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
  const file = textOf(values['ingest-token-file']);
  const url = textOf(values['ingest-url']) ?? textOf(values.url) ?? textOf(io.env.SVC_API_URL) ?? '';
  if (file && !/^https?:\/\//.test(url)) return '--ingest-url is an http or https address.';
  const ingest = file ? { url: url.replace(/\/+$/, ''), token: readSmall(file).trim() } : null;
  return { destination: textOf(values.destination) ?? '', labels, ingest };
}

/** Texts of a messenger: what a terminal would obey is left out. */
function shown(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

export function read<Shape extends v.GenericSchema>(shape: Shape, answer: unknown): v.InferOutput<Shape> {
  const parsed = v.safeParse(shape, answer);
  if (!parsed.success) throw new ApiError('The API answers in another form. Is this the same version?');
  return parsed.output;
}

async function drive(api: CliApi, asked: Asked, report: Report, ask: Ask | null): Promise<void> {
  const destination = await destinationOf(api, asked.destination);
  if (destination === null) return report('destination', 'FAIL', `There is no ${asked.destination}.`);
  const { id, name, type, connection_id: connection } = destination;
  if (connection === null) return report('destination', 'FAIL', `${name} is a ${type}, and no messenger.`);
  report('destination', 'PASS', `${name}, ${type}`);
  await checkConnection(api, connection, report);
  const { checks } = read(DestinationRun, await api.post(`/destinations/${id}/checks`, {}));
  for (const check of checks)
    report(check.name, check.ok ? 'PASS' : 'FAIL', check.message ?? 'as it should be');
  if (checks.some(({ ok }) => !ok)) return;
  await testMessage(api, id, report);
  if (asked.ingest === null) {
    return report('alert_group', 'SKIP', 'needs --ingest-token-file, the token of an Integration');
  }
  const startedAt = new Date().toISOString();
  await journey({ api, asked, ingest: asked.ingest, destination: id, startedAt, report, ask, changedAt: '' });
}

async function destinationOf(api: CliApi, named: string): Promise<v.InferOutput<typeof Found> | null> {
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: v.InferOutput<typeof Page> = read(Page, await api.get(`/destinations?limit=500${query}`));
    const found = page.items.find(({ id, name }) => id === named || name === named);
    if (found) return found;
    cursor = page.next_cursor;
  } while (cursor !== null);
  return null;
}

/** The fields by which a saved Connection is checked: it is sent as it is answered, without what is read only. */
const Saved = v.object({
  type: v.string(),
  ...{ base_url: v.optional(v.string()), server_url: v.optional(v.string()) },
  ...{ bot_api_base_url: v.optional(v.string()), update_mode: v.optional(v.string()) },
  proxy: v.object({
    enabled: v.boolean(),
    ...{ type: v.optional(v.string()), address: v.optional(v.string()) },
    username: v.nullish(v.string()),
  }),
});

async function checkConnection(api: CliApi, id: string, report: Report): Promise<void> {
  const saved = read(Saved, await api.get(`/connections/${id}`));
  const { steps } = read(CheckRun, await api.post('/connections/checks', { ...saved, connection_id: id }));
  for (const { name, ok, skipped, message } of steps) {
    report(`connection ${name}`, skipped ? 'SKIP' : ok ? 'PASS' : 'FAIL', message ?? 'as it should be');
  }
}

async function testMessage(api: CliApi, id: string, report: Report): Promise<void> {
  const { steps } = read(
    TestRun,
    await api.post(`/destinations/${id}/tests`, { source: { kind: 'example' } }),
  );
  for (const { name, error_class: failed, error, response_status: status, duration_ms: took } of steps) {
    const detail = error ?? `${status === null ? 'seen' : `answered ${status}`} after ${Math.round(took)} ms`;
    report(`test ${name}`, failed === 'none' ? 'PASS' : 'FAIL', detail);
  }
}

interface Journey {
  readonly api: CliApi;
  readonly asked: Asked;
  readonly ingest: NonNullable<Asked['ingest']>;
  readonly destination: string;
  readonly startedAt: string;
  readonly report: Report;
  readonly ask: Ask | null;
  /** When the delivery last changed, as it was seen last. */
  changedAt: string;
}

/** A whole Alert Group. What fails ends it; the alert is resolved in any case. */
async function journey(on: Journey): Promise<void> {
  const name = `MessengerCheck${randomBytes(3).toString('hex')}`;
  await post(on, name, 'firing', ['a']);
  try {
    const group = await within(DELIVERED_WITHIN, async () => (await groupsNamed(on, name))[0] ?? null);
    if (!group) return on.report('alert', 'FAIL', `no Alert Group within ${DELIVERED_WITHIN} s`);
    on.report('alert', 'PASS', `Alert Group #${group.number}`);
    if (!(await delivered(on, group.id, 'message'))) return;
    await confirm(on, 'message seen', `Is there one message about ${name}, with buttons?`);
    if (!(await acknowledged(on, group.id))) return;
    if (!(await delivered(on, group.id, 'edit'))) return;
    await confirm(on, 'edit seen', 'Does the message now say that it is acknowledged, and by whom?');
    await post(on, name, 'firing', ['a', 'b']);
    const isAdded = await within(DELIVERED_WITHIN, async () => {
      const { firing_alert_count: count } = read(Group, await on.api.get(`/alert-groups/${group.id}`));
      return count === 2 ? count : null;
    });
    if (isAdded === null) return on.report('reply', 'FAIL', 'the second alert is not in the Alert Group');
    if (!(await delivered(on, group.id, 'reply'))) return;
    await confirm(on, 'reply seen', 'Is there a reply in its Thread about one alert more?');
  } finally {
    await post(on, name, 'resolved', ['a', 'b']);
  }
  const isOver = await within(DELIVERED_WITHIN, async () => {
    const [group] = await groupsNamed(on, name);
    return group?.status === 'resolved' ? group : null;
  });
  if (!isOver) return on.report('resolution', 'FAIL', `not resolved within ${DELIVERED_WITHIN} s`);
  if (!(await delivered(on, isOver.id, 'resolution'))) return;
  await confirm(on, 'resolution seen', 'Does the message say that it is resolved, without buttons?');
}

export async function groupsNamed(
  { api }: Pick<Journey, 'api'>,
  name: string,
): Promise<readonly v.InferOutput<typeof Group>[]> {
  const words = ['firing', 'acknowledged', 'snoozed', 'resolved']
    .map((status) => `status=${status}`)
    .join('&');
  return read(Groups, await api.get(`/alert-groups?q=${name}&${words}`)).items;
}

/** Waits until the delivery changed, the newest state of the group is in the messenger and no reply waits. */
async function delivered(on: Journey, group: string, step: string): Promise<boolean> {
  const { api, destination, report } = on;
  let last = 'this Destination is not one of its Route: see --labels';
  const isThere = await within(DELIVERED_WITHIN, async () => {
    const { items } = read(Deliveries, await api.get(`/alert-groups/${group}/deliveries`));
    const item = items.find((each) => each.destination.id === destination);
    if (!item) return null;
    last = item.error ?? item.state;
    const isWhole = item.state === 'delivered' && item.machine.thread === 'silent';
    if (!isWhole || item.updated_at === on.changedAt) return null;
    on.changedAt = item.updated_at;
    return `${item.message_url ?? 'delivered'}${item.possible_duplicate ? ', perhaps twice' : ''}`;
  });
  report(step, isThere ? 'PASS' : 'FAIL', isThere ?? `not delivered within ${DELIVERED_WITHIN} s: ${last}`);
  return isThere !== null;
}

/** By a press when there is somebody to press, through the API otherwise. */
async function acknowledged({ api, report, ask }: Journey, group: string): Promise<boolean> {
  if (ask === null) {
    await api.post(`/alert-groups/${group}/acknowledge`, {});
    report('press', 'SKIP', 'needs --interactive; acknowledged through the API');
    return true;
  }
  void ask('Press the button "Ack" of the message, with an account that is linked.', PERSON_WITHIN);
  const done = await within(PERSON_WITHIN, async () => {
    const now = read(Group, await api.get(`/alert-groups/${group}`));
    return now.status === 'acknowledged' ? now : null;
  });
  report(
    'press',
    done ? 'PASS' : 'FAIL',
    done ? `by ${done.owner?.name ?? 'nobody'}` : 'nobody acknowledged it',
  );
  return done !== null;
}

async function confirm({ ask, report }: Journey, step: string, question: string): Promise<void> {
  if (ask === null) return report(step, 'SKIP', `look yourself: ${question}`);
  const answer = await ask(`${question} (y/n)`, PERSON_WITHIN);
  const isSo = answer !== null && /^y/i.test(answer.trim());
  report(step, isSo ? 'PASS' : 'FAIL', isSo ? 'as it should be' : `answered: ${answer ?? 'nothing'}`);
}

/** Posts alerts as Alertmanager does. */
export async function post(
  {
    asked,
    ingest,
    startedAt,
  }: Pick<Journey, 'ingest' | 'startedAt'> & { readonly asked: Pick<Asked, 'labels'> },
  name: string,
  status: string,
  pods: readonly string[],
) {
  const labels = { ...asked.labels, alertname: name };
  const body = {
    ...{ version: '4', groupKey: `{}:{alertname="${name}"}`, truncatedAlerts: 0, status, receiver: 'tocsin' },
    ...{ groupLabels: { alertname: name }, commonLabels: labels, commonAnnotations: {}, externalURL: '' },
    alerts: pods.map((pod) => ({
      ...{ status, labels: { ...labels, pod }, annotations: {}, generatorURL: '' },
      startsAt: startedAt,
      endsAt: status === 'resolved' ? new Date().toISOString() : '0001-01-01T00:00:00Z',
    })),
  };
  await send(`${ingest.url}/api/v1/ingest`, ingest.token, 'POST', body);
}

export async function within<T>(seconds: number, look: () => Promise<T | null>): Promise<T | null> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const found = await look();
    if (found !== null || performance.now() > deadline) return found;
    await pause(LOOK_AGAIN);
  }
}
