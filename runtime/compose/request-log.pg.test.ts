/** Webhooks and their Request log together: a real client, receiver and proxy on one side, the table on the other. */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SendFinished } from '../../actors/channels/calls.ts';
import { newSigningSecret } from '../../actors/channels/signature.ts';
import { createEventSender, eventSend } from '../../actors/channels/webhook-events/sender.fixture.ts';
import type { WebhookSettings } from '../../actors/destination/ports.ts';
import { NO_PROXY } from '../../actors/proxy-config.ts';
import { createRequestLogStore } from '../../storage/delivery/request-log.ts';
import { connect, isUnavailable } from '../../storage/postgres/connection.ts';
import { ensurePartitions } from '../../storage/postgres/partitions.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import { PARTITIONED_TABLES } from '../../storage/postgres/retention.ts';
import { empty } from '../../test/emptied.ts';
import { type ProxyFake, startProxy } from '../../test/fakes/proxies.ts';
import { until } from '../../test/harness/until.ts';
import { useDatabase } from '../../test/postgres.ts';
import { SECOND, systemClock } from '../clock.ts';
import { createOutboundCaller } from '../outbound/caller.ts';
import { createOutboundClient } from '../outbound/client.ts';
import { createOutboundMetrics } from '../outbound/metrics.ts';
import { createRequestRecorder } from '../outbound/request-log/recorder.ts';
import { newPublicId } from '../public-id.ts';
import { createKeyring, masterKey } from '../secrets/keyring.ts';

const database = useDatabase();
const key = masterKey(randomBytes(32));
const keyring = createKeyring([key], key.id);
const ID = newPublicId('DS');

const SECRETS = {
  used: 'hunter2 "used"/sécret+1',
  unused: 'hunter2-unused-secret',
  inUrl: 'hunter2 in the URL?&=',
  password: 'hunter2-proxy-pässword',
  signing: newSigningSecret(randomBytes),
  previous: newSigningSecret(randomBytes),
} as const;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

beforeEach(async () => {
  await empty(database.sql(), 'request_records');
  await ensurePartitions(database.sql(), systemClock.now(), PARTITIONED_TABLES);
});

/** Everything that is known of the Destination, in every form in which a receiver may send it back. */
function forms(): string[] {
  return Object.values(SECRETS).flatMap((secret) => {
    const bare = secret.replace(/^whsec_/, '');
    return [secret, bare].flatMap((value) => [
      value,
      encodeURIComponent(value),
      new URLSearchParams({ v: value }).toString().slice(2),
      JSON.stringify(value).slice(1, -1),
      Buffer.from(value).toString('base64'),
      Buffer.from(value).toString('base64url'),
    ]);
  });
}

type Answer = (
  request: IncomingMessage,
  body: string,
) => { status: number; headers?: Record<string, string>; body: string };

async function receiver(answer: Answer): Promise<number> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { status, headers, body } = answer(request, Buffer.concat(chunks).toString('utf8'));
      response.writeHead(status, headers).end(body);
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function settings(port: number, proxy: ProxyFake | null): WebhookSettings {
  const seal = (name: string, value: string) =>
    keyring.sealer(keyring.activeKeyId).seal('destination.secret', `${ID}/${name}`, value);
  return {
    id: ID,
    events: {
      url: `http://relay.example:${port}/in/{{ .Secrets.inUrl | urlquery }}?api_key=literal&x={{ .Secrets.inUrl | urlquery }}`,
      headers: [
        { name: 'Authorization', value: 'Bearer literal-credential' },
        { name: 'X-Note', value: 'see {{ .Secrets.ascii }}' },
        { name: 'X-Login', value: '{{ .Secrets.short }}' },
      ],
    },
    secrets: new Map([
      ['inUrl', seal('inUrl', SECRETS.inUrl)],
      ['unused', seal('unused', SECRETS.unused)],
      ['used', seal('used', SECRETS.used)],
      ['ascii', seal('ascii', 'hunter2-ascii')],
      ['short', seal('short', 'pin')],
    ]),
    signingSecret: keyring
      .sealer(keyring.activeKeyId)
      .seal('destination.signing_secret', ID, SECRETS.signing),
    previousSigningSecret: keyring
      .sealer(keyring.activeKeyId)
      .seal('destination.signing_secret_previous', ID, SECRETS.previous),
    proxy: proxy
      ? { enabled: true, type: 'http', address: `127.0.0.1:${proxy.port}`, username: 'svc' }
      : NO_PROXY,
    proxyPassword: keyring
      .sealer(keyring.activeKeyId)
      .seal('destination.proxy_password', ID, SECRETS.password),
    version: '1.1',
  };
}

/** A sender whose records go to `sql`; `told` is what its Destination heard. */
function setUp(sql: Sql, made: WebhookSettings) {
  const registry = new Registry();
  const log = () => undefined;
  const metrics = createOutboundMetrics(registry);
  const client = createOutboundClient({
    clock: systemClock,
    policy: { policy: 'standard', allowed: ['127.0.0.0/8'], denied: [] },
    resolve: async (host) =>
      host === 'relay.example' && made.proxy.enabled ? ['203.0.113.7'] : ['127.0.0.1'],
  });
  const store = createRequestLogStore(sql);
  const recorder = createRequestRecorder({ store, clock: systemClock, log, metrics, isUnavailable });
  const told: SendFinished[] = [];
  const sender = createEventSender({
    caller: createOutboundCaller({
      client,
      recorder,
      metrics,
      clock: systemClock,
      log,
      userAgent: 'Tocsin/test',
    }),
    keyring,
    told: (finished) => void told.push(finished),
    settings: async () => made,
    body: async () => '{"version":1,"event":"created","token":"member"}',
  });
  cleanups.push(() => client.close());
  const send = () => sender.send(eventSend(ID, 1));
  return { send, told, recorder };
}

const recordCount = async (sql: Sql): Promise<number> => {
  const [row] = await sql<{ count: number }[]>`select count(*)::integer as count from request_records`;
  return row?.count ?? 0;
};

describe('no secret of a Destination is in any column', () => {
  const echo = (request: IncomingMessage, body: string) =>
    JSON.stringify({ ...request.headers, body, all: forms() });

  test.each<[string, Answer]>([
    ['the receiver echoes everything', (request, body) => ({ status: 400, body: echo(request, body) })],
    ['it echoes everything with success', (request, body) => ({ status: 200, body: echo(request, body) })],
    [
      'it answers a page and headers full of it',
      () => ({
        status: 500,
        headers: {
          'content-type': 'text/html',
          'x-echo': forms()
            .filter((form) => /^[ -~]*$/.test(form))
            .join(' '),
        },
        body: `<p>${forms().join('</p><p>')}</p>`,
      }),
    ],
    [
      'it redirects to it',
      () => ({
        status: 302,
        headers: { location: `/${encodeURIComponent(SECRETS.used)}?t=${encodeURIComponent(SECRETS.unused)}` },
        body: '',
      }),
    ],
    [
      'it says it in a long answer',
      () => ({ status: 400, body: `${'.'.repeat(16_300)}${forms().join(' ').repeat(3)}` }),
    ],
  ])('when %s', async (_name, answer) => {
    const sql = database.sql();
    for (const proxy of [
      null,
      await startProxy('http', { credentials: { username: 'svc', password: SECRETS.password } }),
    ]) {
      if (proxy) cleanups.push(proxy.close);
      const { send, told } = setUp(sql, settings(await receiver(answer), proxy));
      send();
      await until('the outcome', async () => told.length === 1);
    }
    await until('both records', async () => (await recordCount(sql)) === 2);
    const rows = await sql<{ text: string }[]>`select r::text as text from request_records r`;
    const shown = rows.map(({ text }) => text.replaceAll('""', '"').replaceAll('\\\\', '\\')).join('\n');
    for (const form of forms()) expect(shown).not.toContain(form);
    expect(shown).not.toMatch(/X-Login.{1,8}pin/);
    for (const credential of ['literal-credential', 'api_key=literal', 'hunter2-ascii', '"member"']) {
      expect(shown).not.toContain(credential);
    }
    expect(shown).toContain('[redacted]');
  });
});

describe('a Request log that cannot be written', () => {
  const ok: Answer = () => ({ status: 204, body: '' });

  test('because its table is locked delays no delivery, and is written once it is free', async () => {
    const sql = database.sql();
    const { send, told, recorder } = setUp(sql, settings(await receiver(ok), null));
    await sql.begin(async (tx) => {
      await tx`lock table request_records in access exclusive mode`;
      for (let count = 0; count < 40; count++) send();
      await until('every outcome while the table is locked', async () => told.length === 40);
      expect(told.every(({ outcome }) => outcome.class === 'ok')).toBe(true);
    });
    await until('every record', async () => (await recordCount(sql)) === 40);
    await recorder.stop();
  });

  test('because the database is dead delays no delivery', async () => {
    const dead = connect({ ...database.settings(), port: 1 }, { max: 1, applicationName: 'dead' });
    cleanups.push(() => dead.end({ timeout: 0 }));
    const { send, told } = setUp(dead, settings(await receiver(ok), null));
    for (let count = 0; count < 40; count++) send();
    await until('every outcome', async () => told.length === 40);
    expect(told.every(({ outcome }) => outcome.class === 'ok')).toBe(true);
  });

  test('is visible within two seconds when it can', async () => {
    const sql = database.sql();
    const { send } = setUp(sql, settings(await receiver(ok), null));
    send();
    await until('the record', async () => (await recordCount(sql)) === 1);
    const [row] = await sql<{ at: number }[]>`select at from request_records`;
    expect(systemClock.now() - (row?.at ?? 0)).toBeLessThan(20 * SECOND);
  });
});
