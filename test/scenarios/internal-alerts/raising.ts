/**
 * internal-alerts §9, rows 1 to 12: Internal alerts, and how they go through Tocsin's own Routes.
 */
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { DAY, SECOND } from '../../../runtime/clock.ts';
import { startReferenceBridge } from '../../fakes/reference-bridge.ts';
import type { Json } from '../../harness/api.ts';
import { rootsOf } from '../../harness/bridge-channel.ts';
import { until } from '../../harness/until.ts';
import { casesOf } from '../case.ts';
import { LAB, Lab } from '../ingestion/lab.ts';
import type { Scenario } from '../scenario.ts';

const { cases, row } = casesOf('internal-alerts');
export const RAISING = cases;

const HEARTBEAT = { enabled: true, timeout_seconds: 300 };
const WITH_HEARTBEAT = {
  ...LAB,
  integration: { heartbeat: HEARTBEAT, static_labels: { env: 'prod', severity: 'x' } },
};

/** One signal at t0, then silence until it is missed. */
async function loseHeartbeat(s: Scenario): Promise<Json> {
  expect(await s.sender().heartbeat()).toBe(204);
  await s.at('t310s', 10 * SECOND);
  const [lost] = await s.internalAlerts(s.sender().id);
  return lost;
}

async function rename(s: Scenario, name: string): Promise<void> {
  await s.admin.change(`/integrations/${s.sender().id}`, (integration) => ({ ...integration, name }));
  await s.world.settle();
}

/** The Alert Group in which an Internal alert fires. */
async function groupOf(s: Scenario, alert: Json): Promise<Json> {
  return s.admin.get(`/alert-groups/${alert.alert_group.id}`);
}

row(1, 'there is one built-in Integration, and nobody changes it', async (s) => {
  const before = await s.builtin();
  expect(before).toMatchObject({ name: 'Tocsin', builtin: true, warnings: [] });
  await s.downUntil('t1');
  const { items } = await s.admin.get('/integrations');
  expect(items.filter((one: Json) => one.builtin).map(({ id }: Json) => id)).toEqual([before.id]);
  const path = `/integrations/${before.id}`;
  const { body, headers } = await s.admin.call('GET', path);
  const answers = [
    await s.admin.call('PUT', path, body, { 'if-match': headers.get('etag') ?? '' }),
    await s.admin.call('DELETE', path),
    await s.admin.call('POST', `${path}/tokens`, {}),
  ];
  expect(answers.map(({ status, body: problem }) => [status, problem.code])).toEqual(
    Array.from({ length: 3 }, () => [409, 'builtin_immutable']),
  );
});

row(
  2,
  'a truncated group raises one alert, however often',
  async (s) => {
    await new Lab(s).plays('T t1 [A+]; +60 t1 [A+]');
    const alerts = await s.internalAlerts(s.sender().id);
    expect(alerts).toMatchObject([
      {
        labels: { alertname: 'SvcSnapshotTruncated', severity: 'warning', integration: s.sender().id },
        severity_level: 'warning',
      },
    ]);
    const { id } = await s.builtin();
    const { items } = await s.admin.get(`/stored-snapshots?integration=${id}&from=${s.instant('t0')}`);
    expect(items).toHaveLength(1);
  },
  LAB,
);

row(
  3,
  'a renamed Integration updates its alert, and the firing continues',
  async (s) => {
    await new Lab(s).plays('T t1 [A+]');
    const [before] = await s.internalAlerts(s.sender().id);
    await rename(s, `lab-eu ${s.begin}`);
    const [after, ...others] = await s.internalAlerts(s.sender().id);
    expect(others).toEqual([]);
    expect(after.labels.integration_name).toBe(`lab-eu ${s.begin}`);
    expect([after.fingerprint, after.starts_at]).toEqual([before.fingerprint, before.starts_at]);
    const { items } = await s.admin.get(`/alert-groups/${after.alert_group.id}/timeline?order=asc`);
    const told = items.filter(({ at }: Json) => at >= s.instant('t0')).map(({ event }: Json) => event);
    expect(told.at(-1)).toBe('annotations_changed');
    expect(told.filter((event: string) => event === 'annotations_changed')).toHaveLength(1);
  },
  LAB,
);

row(
  4,
  'a whole Snapshot resolves it',
  async (s) => {
    const lab = new Lab(s);
    await lab.plays('T t1 [A+]');
    const [raised] = await s.internalAlerts(s.sender().id);
    await rename(s, `lab-eu ${s.begin}`);
    await lab.plays('+60 [A+]');
    expect(await s.internalAlerts(s.sender().id)).toEqual([]);
    const { id } = await s.builtin();
    const resolved: Json[] = await s.admin.all(`/integrations/${id}/alerts?state=resolved`);
    expect(resolved.find(({ fingerprint }) => fingerprint === raised.fingerprint)).toMatchObject({
      resolve_reason: 'resolved',
    });
  },
  LAB,
);

row(
  5,
  'a lost Heartbeat carries the Static labels and its own severity',
  async (s) => {
    const lost = await loseHeartbeat(s);
    expect(lost.labels).toMatchObject({
      alertname: 'SvcHeartbeatLost',
      env: 'prod',
      severity: 'critical',
      integration: s.sender().id,
    });
    const status = await s.admin.get('/system-status');
    expect(status.integrations_attention).toMatchObject([
      { integration: { id: s.sender().id }, issue: 'heartbeat_lost', since: s.instant('t0') },
    ]);
    expect(await s.sender().heartbeat()).toBe(204);
    await s.world.settle();
    expect(await s.internalAlerts(s.sender().id)).toEqual([]);
    expect((await s.admin.get('/system-status')).integrations_attention).toEqual([]);
  },
  WITH_HEARTBEAT,
);

row(
  6,
  'a deleted Integration takes its alerts along',
  async (s) => {
    await loseHeartbeat(s);
    const { id } = s.sender();
    await s.deleteIntegration('I');
    expect(await s.internalAlerts(id)).toEqual([]);
    expect((await s.admin.call('GET', `/integrations/${id}`)).status).toBe(404);
  },
  WITH_HEARTBEAT,
);

row(
  7,
  'the level comes from the registry, whatever the Organization maps',
  async (s) => {
    await s.organize({ severity_label: 'priority' });
    const group = await groupOf(s, await loseHeartbeat(s));
    expect(group).toMatchObject({ severity_level: 'critical', urgent: true });
    await s.organize({ severity_label: 'severity' });
  },
  WITH_HEARTBEAT,
);

row(8, 'a Broken Destination raises SvcDestinationBroken until it works again', async (s) => {
  s.world.receiver.answerAll(() => ({ status: 401 }));
  await s.play('t0 +X1');
  const { id, name } = s.destination;
  expect(await s.internalAlerts(id)).toMatchObject([
    { labels: { alertname: 'SvcDestinationBroken', destination: id, destination_name: name } },
  ]);
  s.world.receiver.answerAll(null);
  await s.at('t6');
  expect(await s.internalAlerts(id)).toEqual([]);
});

/** A channel that Route R posts to alone. It is never polled, because scenario time moves in jumps. */
async function withBridge(s: Scenario) {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const bridge = await startReferenceBridge({ push: { url: 'http://127.0.0.1:9/', secret } });
  const { id } = await s.admin.post('/connections', {
    ...{ type: 'bridge', name: 'templates', base_url: bridge.url, bot_token: bridge.token },
    ...{ event_mode: 'push', push_secret: secret, proxy: { enabled: false } },
  });
  const channel = { type: 'bridge', name: 'templates', connection_id: id, channel_id: 'alerts/prod' };
  const { destination } = await s.admin.post('/destinations', channel);
  await s.edit((route) => ({ ...route, destination_ids: [destination.id] }));
  const close = async () => {
    await s.admin.call('DELETE', `/destinations/${destination.id}`);
    await s.world.settle();
    await bridge.close();
  };
  return { bridge, close };
}

row(9, 'a template that fails raises SvcTemplateError until it renders again', async (s) => {
  const { bridge, close } = await withBridge(s);
  const bodyOf = (title: string) => rootsOf(bridge, title)[0]?.body ?? '';
  try {
    const root_message = '{{ if eq .AlertGroup.Title "Y" }}{{ index (list "a") 7 }}{{ end }}As written';
    await s.editPolicy({ templates: { root_message } });
    await s.play('t0 I/y: +Y1');
    expect(bodyOf('Y')).toContain("The Route's message template failed, all labels follow");
    const { id, name } = s.route;
    expect(await s.internalAlerts(id)).toMatchObject([
      {
        labels: { alertname: 'SvcTemplateError', route: id, route_name: name, template: 'root_message' },
        severity_level: 'warning',
      },
    ]);
    await s.play('t1 I/x: +X1');
    expect(bodyOf('X')).toContain('As written');
    expect(await s.internalAlerts(id)).toEqual([]);
  } finally {
    await close();
  }
});

row(10, 'a client secret of single sign-on that expires within two weeks is an alert', async (s) => {
  const path = '/oidc-settings';
  const begin = s.world.clock.now();
  const day = (days: number) => new Date((begin + days * DAY) / 1_000).toISOString().slice(0, 10);
  const save = (change: Json) => s.admin.change(path, (settings) => ({ ...settings, ...change }));
  const raised = async () =>
    (await s.internalAlerts()).filter(({ labels }) => labels.alertname === 'SvcOIDCSecretExpiring');
  const provider = { issuer_url: 'http://127.0.0.1:9', client_id: 'tocsin', client_secret: 'secret' };
  await save({ ...provider, enabled: true, client_secret_expires_on: day(15) });
  expect(await raised()).toEqual([]);
  // Two days later the date is 13 days ahead; the Leader checks it every five minutes.
  await s.at('t48h');
  await until('the alert', async () => {
    await s.world.settle();
    return (await raised()).length === 1;
  });
  expect(await raised()).toMatchObject([
    { labels: { severity: 'warning' }, annotations: { summary: expect.stringContaining(day(15)) } },
  ]);
  await save({ client_secret_expires_on: day(32) });
  await s.world.settle();
  expect(await raised()).toEqual([]);
  await save({ enabled: false });
});

row(
  11,
  'the runbook is the one of the running version',
  async (s) => {
    const lost = await loseHeartbeat(s);
    expect(lost.annotations.runbook_url).toBe('https://r.example/1.4/operations/runbooks/SvcHeartbeatLost/');
  },
  WITH_HEARTBEAT,
);

row(
  12,
  'replays of its Snapshots change no Alert',
  async (s) => {
    const lab = new Lab(s);
    await lab.plays('T t1 [A+]; +60 [A+]; +120 t1 [A+]');
    const { id, name } = await s.builtin();
    const view = () => s.admin.all(`/integrations/${id}/alerts`);
    const before = await view();
    for (let time = 1; time <= 2; time++) {
      expect(await s.world.replay(s.begin, name)).toBe(3);
      expect(await view()).toEqual(before);
    }
  },
  LAB,
);
