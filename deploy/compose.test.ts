import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { senderFiles } from '../http/resources/integrations/sender-files.ts';
import { readConfig } from '../runtime/config.ts';
import { variableNames } from '../runtime/config-settings.ts';
import { readVersion } from '../runtime/version.ts';

const read = (name: string) => readFileSync(path.join(import.meta.dirname, name), 'utf8');
const TEXTS = v.record(v.string(), v.string());
const STRINGS = v.array(v.string());

/** What these files use of Compose, and nothing besides: a misspelt word is refused. */
const SERVICE = v.strictObject({
  image: v.string(),
  build: v.optional(v.strictObject({ context: v.string() })),
  command: v.optional(STRINGS),
  user: v.optional(v.string()),
  environment: v.optional(TEXTS, {}),
  depends_on: v.optional(
    v.record(
      v.string(),
      v.strictObject({ condition: v.picklist(['service_healthy', 'service_completed_successfully']) }),
    ),
    {},
  ),
  ports: v.optional(STRINGS, []),
  volumes: v.optional(STRINGS, []),
  tmpfs: v.optional(STRINGS, []),
  networks: STRINGS,
  secrets: v.optional(STRINGS, []),
  mem_limit: v.string(),
  restart: v.picklist(['unless-stopped', 'no']),
  read_only: v.literal(true),
  cap_drop: v.tuple([v.literal('ALL')]),
  security_opt: v.tuple([v.literal('no-new-privileges:true')]),
  ulimits: v.strictObject({ core: v.literal(0) }),
  stop_grace_period: v.optional(v.literal('30s')),
  healthcheck: v.optional(
    v.union([
      v.strictObject({ disable: v.literal(true) }),
      v.strictObject({
        test: STRINGS,
        interval: v.string(),
        timeout: v.string(),
        retries: v.number(),
        start_period: v.optional(v.string()),
        start_interval: v.optional(v.string()),
      }),
    ]),
  ),
});

const COMPOSE = v.object({
  name: v.literal('tocsin'),
  services: v.record(v.string(), SERVICE),
  networks: v.record(v.string(), v.nullable(v.looseObject({ internal: v.optional(v.boolean()) }))),
  secrets: v.record(v.string(), v.strictObject({ file: v.string() })),
  volumes: v.record(v.string(), v.null()),
});

const SECRETS: Readonly<Record<string, string>> = {
  'secret-keys': 'bm90IGEga2V5IGJ1dCAzMiBieXRlcyBsb25nIHRleHQ=\n',
  'database-password': 'hunter2hunter2\n',
  'admin-password': 'correct horse battery\n',
  'ingest-token': `svc_int_${'a'.repeat(43)}\n`,
};

const EXAMPLE = Object.fromEntries(
  [...read('.env.example').matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
);
const FILLED = {
  ...EXAMPLE,
  SVC_PUBLIC_URL: 'http://localhost:8080',
  SVC_BOOTSTRAP_ADMIN_EMAIL: 'admin@example.org',
};

/** A value with `${NAME:-default}` and `${NAME:?message}` replaced. */
function interpolated(text: string, env: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}/g, (_, name: string, fallback?: string) => {
    const value = env[name] ?? fallback;
    if (value === undefined) throw new Error(`${name} is not set`);
    return value;
  });
}

function compose(name: string) {
  const file = v.parse(COMPOSE, parse(read(name), { merge: true }));
  const services = Object.entries(file.services);
  const tocsins = services.filter(([, { image }]) => image.startsWith('tocsin:'));
  const configure = (service: string, env: Readonly<Record<string, string>> = FILLED) => {
    const { environment = {}, secrets } = file.services[service] ?? v.parse(SERVICE, undefined);
    const readFile = (secret: string) => {
      const known = secrets.find((it) => secret === `/run/secrets/${it}`);
      if (known === undefined) throw Object.assign(new Error(secret), { code: 'ENOENT' });
      return SECRETS[known] ?? '';
    };
    const settings = Object.entries(environment).map(([key, text]) => [key, interpolated(text, env)]);
    return readConfig(Object.fromEntries(settings), readFile, { cpus: 64, hostName: 'h', random: 'r' });
  };
  /** @throws when it is refused */
  const settings = (service: string) => {
    const result = configure(service);
    if ('errors' in result) throw new Error(result.errors.join());
    return result;
  };
  return { ...file, text: read(name), all: services, tocsins, configure, settings };
}

const several = compose('compose.yaml');
const single = compose('compose.single.yaml');

describe.each([
  ['compose.yaml', several],
  ['compose.single.yaml', single],
])('%s', (_, file) => {
  test('names only what it has', () => {
    const used = new Set(file.all.flatMap(([, { secrets }]) => secrets));
    expect(Object.keys(file.secrets).sort()).toEqual([...used].sort());
    for (const [name, service] of file.all) {
      const has = (kind: object, used: readonly string[]) =>
        expect(Object.keys(kind), name).toEqual(expect.arrayContaining([...used]));
      has(file.services, Object.keys(service.depends_on));
      has(file.networks, service.networks);
      has(file.secrets, service.secrets);
      const mounted = service.volumes.map((volume) => volume.split(':')[0] ?? '');
      has(
        file.volumes,
        mounted.filter((volume) => !volume.startsWith('.')),
      );
      for (const own of mounted.filter((volume) => volume.startsWith('.')))
        expect(existsSync(path.join(import.meta.dirname, own)), own).toBe(true);
    }
  });

  test('every image is of an exact version', () => {
    const images = file.all.map(([, { image }]) => interpolated(image, FILLED));
    expect(
      images.filter((image) => !/^(postgres:\d+|[\w/]+:v?\d+\.\d+)\.\d+(-alpine)?$/.test(image)),
    ).toEqual([]);
  });

  test('waits only for what tells when it is well', () => {
    for (const [, { depends_on }] of file.all) {
      for (const [name, { condition }] of Object.entries(depends_on)) {
        const other = file.services[name];
        const tells = other?.healthcheck !== undefined && 'test' in other.healthcheck;
        expect([name, tells]).toEqual([name, condition === 'service_healthy']);
      }
    }
  });

  test('every setting exists, and the service takes them all without a warning', () => {
    const known = variableNames();
    for (const [name, { environment }] of file.tocsins) {
      expect(Object.keys(environment).filter((variable) => !known.includes(variable))).toEqual([]);
      expect(file.settings(name), name).toMatchObject({ warnings: [] });
    }
  });

  test('variables of the file are those of .env.example', () => {
    const used = [...file.text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
    expect(Object.keys(EXAMPLE)).toEqual(expect.arrayContaining(used));
    const fallbacks = [...file.text.matchAll(/\$\{(\w+):-([^}]*)\}/g)];
    for (const [, name = '', fallback] of fallbacks) expect(fallback, name).toBe(EXAMPLE[name]);
    expect(EXAMPLE.TOCSIN_VERSION).toBe(readVersion({}).version);
  });

  test('the placeholders of .env.example are refused', () => {
    for (const [name] of file.tocsins) {
      const result = file.configure(name, EXAMPLE);
      const refused = 'errors' in result ? result.errors.map((line) => line.split(':')[0]) : [];
      expect(refused.sort()).toEqual(['SVC_BOOTSTRAP_ADMIN_EMAIL', 'SVC_PUBLIC_URL']);
    }
  });

  test('people and senders share the one published port; health and metrics are asked from inside', () => {
    for (const [name, { healthcheck, command }] of file.tocsins) {
      const { listen } = file.settings(name).config;
      expect([listen.app.port, listen.ingest.port, listen.internal.port]).toEqual([8080, 8080, 8082]);
      if (command?.[0] === 'migrate') continue;
      expect(JSON.stringify(healthcheck)).toContain(`http://127.0.0.1:${listen.internal.port}/health/ready`);
    }
    const published = file.all.flatMap(([, { ports }]) => ports);
    const prometheus = file.services.prometheus ? ['127.0.0.1:9090:9090'] : [];
    expect(published.map((port) => interpolated(port, FILLED)).sort()).toEqual([
      '127.0.0.1:8080:8080',
      ...prometheus,
    ]);
  });

  test('PostgreSQL has room for the connections of all replicas', () => {
    const { command = [], environment, healthcheck } = v.parse(SERVICE, file.services.postgres);
    const limit = Number(command.find((word) => word.startsWith('max_connections='))?.split('=')[1]);
    const needed = file.tocsins.map(([name, service]) => {
      const { config } = file.settings(name);
      expect(config.database).toMatchObject({ host: 'postgres', database: environment.POSTGRES_DB });
      expect(config.database.user).toBe(environment.POSTGRES_USER);
      return service.command?.[0] === 'migrate' ? 1 : config.poolMax + 4;
    });
    // PostgreSQL keeps three for its administrator.
    expect(limit - 3).toBeGreaterThanOrEqual(needed.reduce((sum, count) => sum + count, 0));
    expect(healthcheck).toMatchObject({ test: expect.arrayContaining(['pg_isready']) });
  });

  test('the database cannot be reached from elsewhere', () => {
    expect(file.services.postgres?.networks).toEqual(['back']);
    expect(file.networks.back).toEqual({ internal: true });
  });
});

describe('three replicas', () => {
  const replicas = several.tocsins.filter(([name]) => name !== 'migrate');

  test('have names of their own and meet in Redis, which saves nothing and throws nothing out', () => {
    expect(replicas.map(([name]) => name)).toEqual(['tocsin-1', 'tocsin-2', 'tocsin-3']);
    for (const [name] of replicas) {
      expect(several.settings(name).config).toMatchObject({
        replicaId: name,
        redisUrl: 'redis://redis:6379',
        migrateOnStart: false,
      });
    }
    expect(several.services.redis?.command?.join(' ')).toMatch(/--save {2}--appendonly no .*noeviction$/);
    expect(several.services.redis?.networks).toEqual(['back']);
  });

  test('start when the schema is migrated', () => {
    const { migrate } = several.services;
    expect(migrate).toMatchObject({ command: ['migrate'], restart: 'no' });
    for (const [, { depends_on, image }] of replicas) {
      expect(depends_on.migrate).toEqual({ condition: 'service_completed_successfully' });
      expect(image).toBe(migrate?.image);
    }
  });

  test('stand behind a balancer that knows each, asks whether it is ready, and is believed', () => {
    const config = read('haproxy.cfg');
    const servers = [...config.matchAll(/^\s+server (\S+) (\S+)$/gm)].map(([, name, at]) => [name, at]);
    expect(servers).toEqual(replicas.map(([name]) => [name, `${name}:8080`]));
    expect(config).toContain('http-check send meth GET uri /health/ready ver HTTP/1.1');
    expect(config).toContain('check port 8082');
    const balancer = several.services['load-balancer'];
    expect(balancer?.networks).toEqual(['front', 'senders']);
    expect(balancer?.volumes).toEqual(['./haproxy.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro']);
    const subnet = JSON.stringify(several.networks.front);
    for (const [name, { environment }] of replicas)
      expect(subnet, name).toContain(environment.SVC_TRUSTED_PROXIES);
  });
});

const TARGETS = v.array(v.object({ static_configs: v.array(v.object({ targets: STRINGS })) }));
const PROMETHEUS = v.object({
  alerting: v.object({ alertmanagers: TARGETS }),
  rule_files: STRINGS,
  scrape_configs: TARGETS,
});
const WEBHOOK = v.object({
  url: v.string(),
  http_config: v.object({ authorization: v.object({ credentials_file: v.string() }) }),
});
const ALERTMANAGER = v.object({
  receivers: v.array(v.object({ webhook_configs: v.optional(v.array(WEBHOOK), []) })),
});

describe('senders', () => {
  const { receivers } = v.parse(ALERTMANAGER, parse(read('alertmanager.yml')));
  const webhooks = receivers.flatMap(({ webhook_configs }) => webhook_configs);
  const prometheus = v.parse(PROMETHEUS, parse(read('prometheus/prometheus.yml')));
  const named = (list: v.InferOutput<typeof TARGETS>) =>
    list.flatMap(({ static_configs }) => static_configs).flatMap(({ targets }) => targets);

  test('Alertmanager posts with the token that the first start gives the first Integration', () => {
    const token = '/run/secrets/ingest-token';
    const files = webhooks.map(({ http_config }) => http_config.authorization.credentials_file);
    expect(new Set(files)).toEqual(new Set([token]));
    expect(several.services.alertmanager?.secrets).toEqual(['ingest-token']);
    for (const [name] of several.tocsins)
      expect(several.settings(name).config.bootstrapIntegrationToken).toBe(SECRETS['ingest-token']?.trim());
  });

  test('everything is asked for where it listens, in a network of both', () => {
    expect(webhooks.map(({ url }) => url)).toEqual([
      'http://load-balancer:8080/api/v1/heartbeat',
      'http://load-balancer:8080/api/v1/ingest',
    ]);
    const replicas = several.tocsins.filter(([name]) => name !== 'migrate').map(([name]) => name);
    expect(named(prometheus.scrape_configs)).toEqual(replicas.map((name) => `${name}:8082`));
    expect(named(prometheus.alerting.alertmanagers)).toEqual(['alertmanager:9093']);
    const shared = (one: string, other: string) =>
      several.services[one]?.networks?.filter((name) => several.services[other]?.networks?.includes(name));
    expect(shared('alertmanager', 'load-balancer')).toEqual(['senders']);
    expect(shared('prometheus', 'alertmanager')).toEqual(['senders']);
    // A sender that is taken over may not name other client addresses: only those of the balancer are believed.
    for (const name of replicas) {
      expect(shared('load-balancer', name), name).toEqual(['front']);
      expect(shared('alertmanager', name), name).toEqual([]);
      expect(shared('prometheus', name), name).toEqual(['metrics']);
    }
  });

  test('Alertmanager is set up as tocsin init does it, but for where the token is', () => {
    const token = 'svc_int_x';
    const written = senderFiles(
      { name: 'x', ingestUrl: 'http://load-balancer:8080', token },
      'http://tocsin',
    );
    const expected = written['alertmanager.yml']
      .replaceAll('tocsin-heartbeat-x', 'tocsin-heartbeat')
      .replaceAll('tocsin-x', 'tocsin')
      .replaceAll(`credentials: "${token}"`, 'credentials_file: /run/secrets/ingest-token')
      .replace('TocsinHeartbeat\\"', 'Watchdog\\"');
    expect(parse(read('alertmanager.yml'))).toEqual(parse(expected));
  });
});

test('one replica has no Redis and migrates by itself', () => {
  expect(single.tocsins).toHaveLength(1);
  expect(single.settings('tocsin').config).toMatchObject({ redisUrl: null, migrateOnStart: true });
});
