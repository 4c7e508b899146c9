/**
 * An installation in which everything has happened once, made through the API and the ingest: the development of the UI,
 * a browser test and the pictures of the README share it.
 */
import { startWebhookReceiver } from '../fakes/webhook-receiver.ts';
import { Api, type Json } from './api.ts';
import { Sender } from './sender.ts';
import type { Ready } from './tocsin.ts';
import { until } from './until.ts';

export interface Trouble {
  readonly alertname: string;
  readonly severity: 'critical' | 'warning' | 'info';
  readonly summary: string;
  readonly pods: readonly string[];
}

/** Oldest first. */
export const TROUBLES: readonly Trouble[] = [
  trouble('DiskFull', 'critical', 'Less than 5 % left on /var', 'db-1', 'db-2'),
  trouble('HighLatency', 'warning', 'The 99th percentile is above 2 s', 'web-1', 'web-2'),
  trouble('PodRestarting', 'info', 'Restarted five times in ten minutes', 'cron-1', 'cron-2'),
  trouble('QueueStuck', 'critical', 'Nothing was taken for ten minutes', 'mail-1', 'mail-2'),
  trouble('KafkaConsumerLag', 'warning', 'Consumers are 50,000 records behind', 'sync-1', 'sync-2'),
  trouble('CertificateExpires', 'info', 'Ends in fourteen days', 'edge-1'),
  trouble('NodeNotReady', 'critical', 'The kubelet stopped posting its status', 'node-7'),
  trouble('CheckoutErrorRate', 'critical', 'Error rate above 5 %', 'api-1', 'api-2', 'api-3'),
];

const PASSWORD = 'quietly rolling thunder';
/** New Alert Groups of the Route "Payments" in a minute that make no Storm. */
const STORM_THRESHOLD = 2;

function trouble(
  alertname: string,
  severity: Trouble['severity'],
  summary: string,
  ...pods: readonly string[]
): Trouble {
  return { alertname, severity, summary, pods };
}

/** Sends a Snapshot of a trouble in which some of its pods have recovered. @throws unless it is accepted */
export async function raise(
  sender: Sender,
  { alertname, severity, summary, pods }: Trouble,
  { resolved = [], labels = {} }: { resolved?: readonly string[]; labels?: Record<string, string> } = {},
): Promise<void> {
  const startsAt = new Date().toISOString();
  const alerts = pods.map((pod) => ({
    status: resolved.includes(pod) ? ('resolved' as const) : ('firing' as const),
    labels: { alertname, severity, cluster: 'prod', namespace: 'shop', pod, ...labels },
    annotations: { summary, runbook_url: `https://wiki.example.org/${alertname}` },
    startsAt,
  }));
  const status = await sender.post({ groupKey: alertname, alerts });
  if (status !== 202) throw new Error(`a Snapshot was answered ${status}`);
}

/** The Alert Group of an alertname, open or resolved, once it exists. */
export function groupOf(api: Api, alertname: string): Promise<Json> {
  const query = `q=${alertname}&status=firing&status=acknowledged&status=snoozed&status=resolved`;
  return until(
    `the Alert Group ${alertname}`,
    async () => (await api.get(`/alert-groups?${query}`)).items[0],
  );
}

export interface Seeded {
  /** The Admin of the first start. */
  readonly api: Api;
  /** Ada, a responder, and Мария, who reads Russian. */
  readonly people: readonly Pick<Ready, 'login' | 'password'>[];
  /** Ends the receiver that the Destinations post to. */
  close(): Promise<void>;
}

/**
 * Alert Groups in every status, a Storm, Destinations that are healthy, failing and Broken, users, Routes and templates.
 * @throws when the service refuses anything, or a state is not reached within 20 s
 */
export async function seed(ready: Ready): Promise<Seeded> {
  const [api, receiver] = await Promise.all([Api.signIn(ready), startWebhookReceiver()]);
  receiver.answerAll(({ path }) => ({ status: Number(path.slice(1)) || 204 }));
  await api.change('/organization/outbound-policy', (policy) => ({ ...policy, allowed: ['127.0.0.0/8'] }));
  const destination = async (name: string, status: number): Promise<string> => {
    const events = { url: new URL(`/${status}`, receiver.url).href, headers: [] };
    return (await api.post('/destinations', { type: 'webhook', name, mode: 'events', events })).destination
      .id;
  };
  const pager = await destination('Pager', 204);
  const desk = await destination('Ticket desk', 503);
  const gone = await destination('Former chat', 410);
  await seedTemplates(api, receiver.url);
  await seedRoutes(api, pager, [desk, gone]);
  const people = [
    await seedPerson(api, ready, 'ada', 'Ada Lovelace', 'en'),
    await seedPerson(api, ready, 'maria', 'Мария Орлова', 'ru'),
  ];
  await seedAlertGroups(api, new Sender(ready.ingest_endpoint, ready.integration_token ?? ''));
  await until('a failing Destination', async () => (await api.get(`/destinations/${desk}`)).failing !== null);
  await until(
    'a Broken Destination',
    async () => (await api.get(`/destinations/${gone}`)).health.state === 'broken',
  );
  return { api, people, close: () => receiver.close() };
}

async function seedTemplates(api: Api, url: string): Promise<void> {
  const request = { request: `POST ${url}\n\n{{ toJson .AlertGroup.Title }}`, extract: [] };
  const template = { create: request, update: request, open_thread: request, reply_in_thread: request };
  await api.post('/destinations', { type: 'webhook', name: 'Chat by template', mode: 'template', template });
  await api.post('/link-rules', {
    ...{ name: 'Dashboard', matchers: [], scope: { type: 'alert_group', label: null } },
    url_template: 'https://grafana.example.org/{{ .Labels.alertname }}',
  });
  await api.post('/lookup-tables', {
    ...{ name: 'teams', description: 'Who looks after what', columns: ['channel'] },
    entries: [{ key: 'payments', values: { channel: '#payments' } }],
  });
}

/** A Route of its own that a Storm can break over, and the Default route, which posts everywhere. */
async function seedRoutes(api: Api, pager: string, others: readonly string[]): Promise<void> {
  const [{ urgent, group_key, policy }] = (await api.get('/route-profiles')).items;
  await api.post('/routes', {
    ...{ name: 'Payments', description: 'What the payments team looks after', urgent, group_key },
    matchers: [{ label: 'team', op: '=', value: 'payments' }],
    destination_ids: [pager],
    policy: {
      ...{ ...policy, storm_threshold: STORM_THRESHOLD, language: 'ru' },
      templates: { ...policy.templates, line: '{{ .Labels.pod }}: {{ .Annotations.summary }}' },
    },
  });
  const { items } = await api.get('/routes');
  const { id } = items.find((route: Json) => route.is_default);
  await api.change(`/routes/${id}`, (route) => ({
    ...route,
    destination_ids: [...route.destination_ids, pager, ...others],
  }));
}

/** A new Responder. @returns their session */
export async function signUp(api: Api, { app_url }: Ready, login: string, name: string): Promise<Api> {
  const made = await api.post('/users', { login, name, role: 'responder', email: `${login}@example.org` });
  const token = new URL(made.password_setup_link.url).hash.slice('#token='.length);
  await new Api(app_url).post('/password-setups', { token, password: PASSWORD });
  return Api.signIn({ app_url, login, password: PASSWORD });
}

async function seedPerson(api: Api, ready: Ready, login: string, name: string, language: string) {
  const person = await signUp(api, ready, login, name);
  await person.call('PUT', '/me', { name, time_zone: 'Europe/Berlin', language });
  return { login, password: PASSWORD };
}

async function seedAlertGroups(api: Api, sender: Sender): Promise<void> {
  const backup = trouble('BackupMissed', 'warning', 'No backup for two days', 'db-1');
  const byHand = trouble('QuotaNearlyUsed', 'info', 'Nine tenths of the quota are used', 'build-1');
  for (const each of [backup, byHand, ...TROUBLES]) await raise(sender, each);
  const command = async (alertname: string, name: string, body?: object) =>
    api.post(`/alert-groups/${(await groupOf(api, alertname)).id}/${name}`, body);
  await command('QuotaNearlyUsed', 'resolve', { note: 'The quota was raised.' });
  await command('HighLatency', 'acknowledge');
  await command('PodRestarting', 'snooze', { until: new Date(Date.now() + 4 * 3_600_000).toISOString() });
  await command('CheckoutErrorRate', 'notes', { body: 'Rolling back the last release.' });
  await raise(sender, backup, { resolved: backup.pods });
  for (const bank of ['north', 'south', 'east', 'west']) {
    const each = trouble(`BankUnreachable-${bank}`, 'critical', `No answer from the bank ${bank}`, 'pay-1');
    await raise(sender, each, { labels: { team: 'payments' } });
    await groupOf(api, each.alertname);
  }
  await until(
    'a resolved Alert Group',
    async () => (await groupOf(api, 'BackupMissed')).status === 'resolved',
  );
  await until('a Storm', async () =>
    (await api.get('/routes')).items.some((route: Json) => route.storm_active),
  );
}
