/**
 * What the pictures show: a week of a shop's Alert Groups, the same in every run. The whole service lives in the process of
 * the test on a clock that only the story moves, so every time, age, count and chart is the same; ids, ports and what the
 * machine decides are covered before a picture is taken (`camera.ts`).
 */
import { DAY, formatInstant, HOUR, MINUTE, type Micros, SECOND } from '../../../runtime/clock.ts';
import { Api, type Json } from '../../harness/api.ts';
import { Sender } from '../../harness/sender.ts';
import { insertPerson, type Role } from '../../scenarios/by-hand.ts';
import type { World } from '../../scenarios/world.ts';

/** Sunday 2026-10-04, 08:00 UTC. */
export const STORY_BEGINS: Micros = Date.UTC(2026, 9, 4, 8) * 1000;

/** Whom a page is shown to, and what is on it. */
export interface Story {
  /** Value of the session cookie of Ada, an Admin. */
  readonly cookie: string;
  /** `/alert-groups/AG…` by the name of the alert. */
  readonly groups: ReadonlyMap<string, string>;
  readonly route: string;
  readonly integration: string;
  readonly destination: string;
}

interface Trouble {
  readonly alertname: string;
  readonly severity: 'critical' | 'warning' | 'info';
  readonly summary: string;
  readonly namespace: string;
  readonly pods: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

const trouble = (
  alertname: string,
  severity: Trouble['severity'],
  namespace: string,
  summary: string,
  pods: string,
  labels: Trouble['labels'] = {},
): Trouble => ({ alertname, severity, namespace, summary, pods: pods.split(' '), labels });

/** Ended on the days before: hours since the story began, minutes until somebody has it, and until it is over. */
const EARLIER: readonly (readonly [at: number, taken: number, over: number, what: Trouble])[] = [
  [2, 4, 35, trouble('HighLatency', 'warning', 'shop', 'The 99th percentile is above 2 s', 'web-1')],
  [27, 9, 50, trouble('CheckoutErrorRate', 'critical', 'shop', 'Error rate above 5 %', 'api-1 api-3')],
  [30, 2, 20, trouble('DiskFull', 'critical', 'db', 'Less than 5 % left on /var', 'db-2')],
  [51, 12, 95, trouble('KafkaConsumerLag', 'warning', 'orders', 'Consumers are 50,000 behind', 'sync-1')],
  [75, 3, 41, trouble('HighLatency', 'warning', 'shop', 'The 99th percentile is above 2 s', 'web-2')],
  [99, 6, 28, trouble('QueueStuck', 'critical', 'mail', 'Nothing was taken for ten minutes', 'mail-2')],
  [123, 1, 15, trouble('CheckoutErrorRate', 'critical', 'shop', 'Error rate above 5 %', 'api-2')],
  [147, 8, 66, trouble('NodeNotReady', 'critical', 'kube', 'The kubelet posts no status', 'node-3')],
];

/** Of today, oldest first: minutes before the pictures. */
const TODAY: readonly (readonly [before: number, what: Trouble])[] = [
  [190, trouble('DiskFull', 'critical', 'db', 'Less than 5 % left on /var', 'db-1 db-2')],
  [160, trouble('HighLatency', 'warning', 'shop', 'The 99th percentile is above 2 s', 'web-1 web-2')],
  [140, trouble('PodRestarting', 'info', 'cron', 'Restarted five times in ten minutes', 'cron-1')],
  [120, trouble('QuotaNearlyUsed', 'info', 'build', 'Nine tenths of the quota are used', 'build-1')],
  [90, trouble('QueueStuck', 'critical', 'mail', 'Nothing was taken for ten minutes', 'mail-1 mail-2')],
  [70, trouble('KafkaConsumerLag', 'warning', 'orders', 'Consumers are 50,000 behind', 'sync-1 sync-2')],
  [45, trouble('CertificateExpires', 'info', 'edge', 'Ends in fourteen days', 'edge-1')],
  [30, trouble('NodeNotReady', 'critical', 'kube', 'The kubelet posts no status', 'node-7')],
  [20, trouble('CheckoutErrorRate', 'critical', 'shop', 'Error rate above 5 %', 'api-1 api-2 api-3')],
];
const BANKS = ['north', 'south', 'east', 'west'];

/** The people and the Integration, before anything has happened. @returns who looks at the pages */
export async function beginStory(world: World): Promise<Pick<Story, 'cookie'>> {
  const { cookie } = await person(world, 'ada', 'Ada Lovelace', 'admin');
  await person(world, 'maria', 'Мария Орлова', 'responder');
  await person(world, 'vic', 'Vic Read', 'viewer');
  await world.sql`update users set login = 'admin', login_folded = 'admin', name = 'Administrator'
    where name = 'Adm'`;
  await world.ring();
  await world.settle();
  return { cookie };
}

async function person(world: World, login: string, name: string, role: Role) {
  const made = await insertPerson(world.sql, name, role, world.clock.now());
  await world.sql`update users set login = ${login}, login_folded = ${login},
    email = ${`${login}@example.org`} where id = ${made.id}`;
  return made;
}

/** A week passes. @returns what it left */
export async function playStory(world: World, cookie: string): Promise<Story> {
  const ada = await Api.resume(world.running.appUrl, cookie);
  const integration = await integrate(world, ada);
  const { route, destination } = await configure(world, ada);
  /** Since when each pod of an alert fires. */
  const since = new Map<string, string>();
  const happens = (what: Trouble, resolved = false) => send(world, integration.sender, what, resolved, since);
  for (const [at, taken, over, what] of EARLIER) {
    const began = STORY_BEGINS + at * HOUR;
    await world.passTo(began);
    await happens(what);
    await world.passTo(began + taken * MINUTE);
    await command(world, ada, what.alertname, 'acknowledge');
    await world.passTo(began + over * MINUTE);
    await happens(what, true);
  }
  const end = STORY_BEGINS + 8 * DAY + 3 * HOUR;
  for (const [before, what] of TODAY) {
    await world.passTo(end - before * MINUTE);
    await happens(what);
    if (what.alertname === 'HighLatency') await command(world, ada, what.alertname, 'acknowledge');
    if (what.alertname === 'PodRestarting')
      await command(world, ada, what.alertname, 'snooze', { until: formatInstant(end + 4 * HOUR) });
    if (what.alertname === 'QuotaNearlyUsed') {
      await world.passTo(end - (before - 14) * MINUTE);
      await command(world, ada, what.alertname, 'resolve', { note: 'The quota was raised.' });
      await happens(what, true);
    }
  }
  const checkout = TODAY.at(-1)![1];
  await world.passTo(end - 12 * MINUTE);
  await happens({ ...checkout, pods: [...checkout.pods, 'api-4'] });
  await world.passTo(end - 10 * MINUTE);
  await command(world, ada, checkout.alertname, 'notes', { body: 'Rolling back **the last release**.' });
  for (const [index, bank] of BANKS.entries()) {
    await world.passTo(end - 40 * SECOND + index * SECOND);
    const summary = `No answer from the bank ${bank}`;
    await happens(
      trouble(`BankUnreachable-${bank}`, 'critical', 'pay', summary, 'pay-1', { team: 'payments' }),
    );
  }
  await world.passTo(end);
  const groups = new Map<string, string>();
  for (const { id, title } of (await all(ada)).toReversed()) groups.set(title, `/alert-groups/${id}`);
  return { cookie, groups, route, destination, integration: `/integrations/${integration.id}` };
}

async function integrate(world: World, ada: Api) {
  const made = await ada.post('/integrations', {
    ...{ name: 'Prometheus', description: 'Alertmanager of the shop', connection_mode: 'webhook_only' },
    ...{ static_labels: { cluster: 'prod' }, duplicate_window_seconds: 45, heartbeat: { enabled: false } },
  });
  const { value } = await ada.post(`/integrations/${made.id}/tokens`, {});
  return { id: made.id as string, sender: new Sender(`${world.running.ingestUrl}/api/v1/ingest`, value) };
}

async function configure(world: World, ada: Api) {
  const post = async (name: string): Promise<string> => {
    const events = { url: world.receiver.url, headers: [] };
    const { destination } = await ada.post('/destinations', {
      type: 'webhook',
      name,
      mode: 'events',
      events,
    });
    // What was made at one instant has no order.
    await world.passTo(world.clock.now() + SECOND);
    return destination.id;
  };
  const pager = await post('Pager');
  const desk = await post('Ticket desk');
  const [{ group_key, policy }] = (await ada.get('/route-profiles')).items;
  const { items } = await ada.get('/routes');
  const fallback = items.find((one: Json) => one.is_default);
  await ada.change(`/routes/${fallback.id}`, (one) => ({ ...one, destination_ids: [pager, desk] }));
  const payments = await ada.post('/routes', {
    ...{ name: 'Payments', description: 'What the payments team looks after', urgent: true, group_key },
    matchers: [{ label: 'team', op: '=', value: 'payments' }],
    destination_ids: [pager],
    policy: {
      ...{ ...policy, storm_threshold: 2 },
      templates: { ...policy.templates, line: '{{ .Labels.pod }}: {{ .Annotations.summary }}' },
    },
  });
  await world.settle();
  return { route: `/routes/${payments.id}`, destination: `/destinations/${pager}` };
}

async function send(
  world: World,
  sender: Sender,
  what: Trouble,
  resolved: boolean,
  since: Map<string, string>,
): Promise<void> {
  const { alertname, severity, namespace, summary, pods, labels } = what;
  const alerts = pods.map((pod) => {
    const name = `${alertname} ${pod}`;
    const startsAt = since.get(name) ?? formatInstant(world.clock.now());
    since.set(name, startsAt);
    if (resolved) since.delete(name);
    return {
      status: resolved ? ('resolved' as const) : ('firing' as const),
      labels: { alertname, severity, namespace, pod, ...labels },
      annotations: { summary, runbook_url: `https://wiki.example.org/${alertname}` },
      startsAt,
    };
  });
  const status = await sender.post({ groupKey: alertname, alerts });
  if (status !== 202) throw new Error(`a Snapshot was answered ${status}`);
  await world.settle();
}

const all = (api: Api): Promise<Json[]> =>
  api.all('/alert-groups?status=firing&status=acknowledged&status=snoozed&status=resolved');

/** To the newest Alert Group of an alert. */
async function command(world: World, api: Api, alertname: string, name: string, body?: object) {
  const found = (await all(api)).find(({ title }) => title.startsWith(alertname));
  if (!found) throw new Error(`there is no Alert Group ${alertname}`);
  await api.post(`/alert-groups/${found.id}/${name}`, body);
  await world.settle();
}
