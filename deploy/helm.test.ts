import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { HTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute';
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import { Ajv } from 'ajv';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Service } from 'kubernetes-models/v1/Service';
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../runtime/config.ts';
import { readVersion } from '../runtime/version.ts';
import { CHART, example, helm, type KubernetesObject, render, template } from './helm.fixture.ts';

const LISTENERS = { app: 8080, ingest: 8081, internal: 8082 } as const;
const read = (...names: string[]) => readFileSync(path.join(import.meta.dirname, ...names), 'utf8');
const EXAMPLES = readdirSync(path.dirname(example('x'))).map((file) => path.basename(file, '.yaml'));
const RENDERED = new Map(EXAMPLES.map((name) => [name, render(name)]));
const objectsOf = (name: string) => RENDERED.get(name) ?? [];

const MODEL_OF = [
  (it: unknown) => (Deployment.is(it) ? new Deployment(it) : null),
  (it: unknown) => (Service.is(it) ? new Service(it) : null),
  (it: unknown) => (ServiceAccount.is(it) ? new ServiceAccount(it) : null),
  (it: unknown) => (PodDisruptionBudget.is(it) ? new PodDisruptionBudget(it) : null),
  (it: unknown) => (NetworkPolicy.is(it) ? new NetworkPolicy(it) : null),
  (it: unknown) => (Ingress.is(it) ? new Ingress(it) : null),
  (it: unknown) => (ConfigMap.is(it) ? new ConfigMap(it) : null),
  (it: unknown) => (ServiceMonitor.is(it) ? new ServiceMonitor(it) : null),
  (it: unknown) => (PrometheusRule.is(it) ? new PrometheusRule(it) : null),
  (it: unknown) => (HTTPRoute.is(it) ? new HTTPRoute(it) : null),
];

/** @throws {Error} when the object is not as the schema of its kind says */
function validate(object: KubernetesObject): void {
  const [model] = MODEL_OF.map((of) => of(asPrometheusRule(object))).filter((it) => it !== null);
  if (!model) throw new Error(`no schema for ${object.apiVersion} ${object.kind}`);
  model.validate();
}

/** A VMRule holds the groups of a PrometheusRule; nobody publishes its schema as a package. */
function asPrometheusRule(object: KubernetesObject): KubernetesObject {
  const isIt = object.apiVersion === 'operator.victoriametrics.com/v1beta1' && object.kind === 'VMRule';
  return isIt ? { ...object, apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule' } : object;
}

/** The objects of a kind. */
function all<T>(objects: readonly unknown[], is: (object: unknown) => object is T): T[] {
  return objects.filter(is);
}

/** The one object of a kind. */
function only<T>(objects: readonly unknown[], is: (object: unknown) => object is T): T {
  const [found, ...others] = all(objects, is);
  if (!found || others.length > 0) throw new Error('not exactly one');
  return found;
}

const kinds = (name: string) => objectsOf(name).map(({ kind }) => kind);

function podOf(objects: readonly KubernetesObject[]) {
  const pod = only(objects, Deployment.is).spec?.template;
  const [container] = pod?.spec?.containers ?? [];
  if (!pod?.spec || !container) throw new Error('the Deployment has no container');
  return { labels: pod.metadata?.labels ?? {}, spec: pod.spec, container };
}

const SECRETS: Readonly<Record<string, string>> = {
  'secret-keys': 'bm90IGEga2V5IGJ1dCAzMiBieXRlcyBsb25nIHRleHQ=',
  'database-url': 'postgres://tocsin:secret@db.example.org/tocsin?sslmode=verify-full',
  'database-password': 'secret',
  'redis-url': 'rediss://:secret@redis.example.org:6379',
  'admin-password': 'correct horse battery',
  'database-ca': '-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n',
};

/** Files that the pod mounts, by path, with the name of their Secret. */
function mounted(objects: readonly KubernetesObject[]): ReadonlyMap<string, string> {
  const { spec, container } = podOf(objects);
  const folder = container.volumeMounts?.[0]?.mountPath ?? '';
  const sources = spec.volumes?.[0]?.projected?.sources ?? [];
  return new Map(
    sources.flatMap(({ secret }) =>
      (secret?.items ?? []).map(({ key, path: file }) => [`${folder}/${file}`, `${secret?.name}/${key}`]),
    ),
  );
}

/** Reads the configuration as the pod would: its ConfigMap, its own variables, its mounted files. */
function configure(objects: readonly KubernetesObject[]) {
  const { container } = podOf(objects);
  const names = container.envFrom?.map((from) => from.configMapRef?.name);
  const maps = all(objects, ConfigMap.is).filter(({ metadata }) => names?.includes(metadata?.name));
  const files = mounted(objects);
  const readFile = (file: string) => {
    const text = SECRETS[path.basename(file)];
    if (text !== undefined && files.has(file)) return text;
    throw Object.assign(new Error(file), { code: 'ENOENT' });
  };
  const env = { ...only(maps, ConfigMap.is).data, SVC_REPLICA_ID: 'tocsin-7c9d5b6f4-x2x7k' };
  return readConfig(env, readFile, { cpus: 64, hostName: 'node', random: 'x' });
}

describe('the chart', () => {
  test('is that of this version', () => {
    const { version } = readVersion({});
    expect(parse(read('helm', 'tocsin', 'Chart.yaml'))).toMatchObject({ version, appVersion: version });
  });

  test.each(EXAMPLES)('passes helm lint --strict with the example %s', (name) => {
    expect(helm('lint', CHART, '--strict', '--values', example(name))).toMatchObject({ ok: true });
  });

  test.each([
    ['existingSecret=', 'existingSecret is the name of the Secret'],
    ['publicURL=', 'publicURL is the address'],
    ['replicas=2', 'More than one replica needs redis.urlKey'],
    ['database.urlKey=', 'Set one of database.urlKey'],
    ['database.host=db', 'Set one of database.urlKey'],
    ['bootstrapAdmin.email=a@example.org', 'bootstrapAdmin.email needs bootstrapAdmin.passwordKey'],
    ['redis.caKey=x', 'redis.caKey needs redis.urlKey'],
    ['database.urlKey=,database.cloudNativePG.cluster=db,database.caKey=x', 'holds its roots'],
    ['replica=2', 'replica'],
    ['replicas=three', 'replicas'],
    ['alerting.prometheusRule.enabled=true,alerting.rules.SvcUnheardOf.for=1m', 'no rule SvcUnheardOf'],
  ])('refuses --set %s with words', (set, words) => {
    const { ok, text } = template('single', '--set', set);
    expect(ok).toBe(false);
    expect(text).toContain(words);
  });
});

describe('the schema of the values', () => {
  const accepts = new Ajv({ allowUnionTypes: true, strictTypes: false }).compile(
    JSON.parse(read('helm', 'tocsin', 'values.schema.json')),
  );
  const defaults = parse(read('helm', 'tocsin', 'values.yaml'));

  test('takes the defaults and every example', () => {
    expect(accepts(defaults), JSON.stringify(accepts.errors)).toBe(true);
    for (const name of EXAMPLES)
      expect([name, accepts(parse(read('helm', 'examples', `${name}.yaml`)))]).toEqual([name, true]);
  });

  test('knows every default, and nothing besides', () => {
    const schema = JSON.parse(read('helm', 'tocsin', 'values.schema.json'));
    const { global: _, ...properties } = schema.properties;
    expect(Object.keys(properties).sort()).toEqual(Object.keys(defaults).sort());
  });

  test.each([
    { replicas: 0 },
    { replicas: '3' },
    { publicURL: 'tocsin.example.org' },
    { publicURL: 'https://tocsin.example.org/below' },
    { existingSecret: 'Not A Name' },
    { database: { port: 70_000 } },
    { database: { sslmode: 'on' } },
    { service: { internal: { type: 'LoadBalancer' } } },
    { trustedProxies: ['everybody'] },
    { extraEnv: { 'svc-log': 'x' } },
    { httpRoute: { app: { enabled: true, parentRefs: [] } } },
    { alerting: { rules: { SvcDown: { severity: 'page' } } } },
    { ingress: { internal: { enabled: true } } },
    { securityContext: {} },
  ])('refuses %j', (values) => {
    expect(accepts(values)).toBe(false);
  });
});

describe.each(EXAMPLES)('rendered with %s', (name) => {
  const objects = objectsOf(name);
  const { labels, spec, container } = podOf(objects);
  const matches = (selector: Readonly<Record<string, string>> | undefined) =>
    Object.entries(selector ?? { none: '' }).every(([key, value]) => labels[key] === value);

  test('every object is as the published schema of its kind says', () => {
    for (const object of objects)
      expect(() => validate(object), `${object.kind} ${object.metadata.name}`).not.toThrow();
  });

  test('no name is given twice', () => {
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  test('selectors select the pods', () => {
    expect(matches(only(objects, Deployment.is).spec?.selector.matchLabels)).toBe(true);
    for (const { spec: budget } of all(objects, PodDisruptionBudget.is))
      expect(matches(budget?.selector?.matchLabels)).toBe(true);
    for (const { spec: policy } of all(objects, NetworkPolicy.is))
      expect(matches(policy?.podSelector?.matchLabels)).toBe(true);
    for (const { labelSelector } of spec.topologySpreadConstraints ?? [])
      expect(matches(labelSelector?.matchLabels)).toBe(true);
    for (const service of all(objects, Service.is)) expect(matches(service.spec?.selector)).toBe(true);
  });

  test('each listener has its port and its Service', () => {
    const ports = Object.fromEntries(container.ports?.map((port) => [port.name, port.containerPort]) ?? []);
    expect(ports).toEqual(LISTENERS);
    const services = all(objects, Service.is).map((service) => ({
      name: service.metadata?.name,
      type: service.spec?.type,
      ports: service.spec?.ports?.map(({ name: of, port, targetPort }) => [of, port, targetPort]),
    }));
    expect(services).toEqual(
      Object.entries(LISTENERS).map(([listener, port]) => ({
        name: `tocsin-${listener}`,
        type: 'ClusterIP',
        ports: [[listener, port, listener]],
      })),
    );
  });

  test('probes ask the internal listener', () => {
    const { startupProbe, readinessProbe, livenessProbe, lifecycle } = container;
    const ready = {
      httpGet: { path: '/health/ready', port: 'internal' },
      periodSeconds: 5,
      timeoutSeconds: 2,
    };
    expect(startupProbe).toEqual({ ...ready, failureThreshold: 60 });
    expect(readinessProbe).toEqual({ ...ready, failureThreshold: 3 });
    expect(livenessProbe).toEqual({
      httpGet: { path: '/health/live', port: 'internal' },
      ...{ periodSeconds: 10, failureThreshold: 3, timeoutSeconds: 2 },
    });
    const ending = (lifecycle?.preStop?.sleep?.seconds ?? 0) + 20;
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(ending);
  });

  test('pods may do nothing but their work', () => {
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(only(objects, ServiceAccount.is)).toMatchObject({
      metadata: { name: spec.serviceAccountName },
      automountServiceAccountToken: false,
    });
    for (const each of [container, ...(spec.initContainers ?? [])]) {
      expect(each.securityContext, each.name).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(each.resources?.limits?.memory, each.name).toBeDefined();
    }
  });

  test('the schema is migrated first, by the same image with the same settings', () => {
    const [migrate] = spec.initContainers ?? [];
    expect(migrate).toMatchObject({ args: ['migrate'], image: container.image, envFrom: container.envFrom });
    expect(migrate?.volumeMounts).toEqual(container.volumeMounts);
    expect(container.args).toEqual(['serve']);
  });

  test('the internal listener is exposed by nothing, and only peers that are named reach it', () => {
    const exposed = objects.filter(({ kind }) => kind === 'Ingress' || kind === 'HTTPRoute');
    expect(JSON.stringify(exposed)).not.toContain('internal');
    const rules = all(objects, NetworkPolicy.is).flatMap((policy) => policy.spec?.ingress ?? []);
    for (const rule of rules.filter(({ ports }) => ports?.some(({ port }) => port === 'internal')))
      expect(rule.from).toHaveLength(1);
  });

  test('the service takes these settings without a warning', () => {
    const settings = configure(objects);
    expect(settings).toMatchObject({ warnings: [] });
    if ('errors' in settings) throw new Error(settings.errors.join());
    const { listen, migrateOnStart, poolMax, redisUrl } = settings.config;
    expect(Object.values(listen).map(({ port }) => port)).toEqual(Object.values(LISTENERS));
    const several = name !== 'single';
    expect({ migrateOnStart, poolMax, redisUrl }).toEqual({
      ...{ migrateOnStart: false, poolMax: 10, redisUrl: several ? SECRETS['redis-url'] : null },
    });
    expect(only(objects, Deployment.is).spec).toMatchObject({
      replicas: several ? 3 : 1,
      strategy: several
        ? { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } }
        : { type: 'Recreate' },
    });
  });
});

test('one replica asks for nothing that a cluster may lack', () => {
  expect(kinds('single').sort()).toEqual(
    ['ConfigMap', 'Deployment', 'Service', 'Service', 'Service', 'ServiceAccount'].sort(),
  );
});

test('Secrets are those that are named, each mounted as a file', () => {
  const folder = '/run/secrets/tocsin';
  expect(Object.fromEntries(mounted(objectsOf('secrets')))).toEqual({
    [`${folder}/secret-keys`]: 'tocsin-keyring/keyring',
    [`${folder}/database-url`]: 'tocsin-database/url',
    [`${folder}/redis-url`]: 'tocsin-valkey/url',
  });
  expect(Object.fromEntries(mounted(objectsOf('cloudnativepg')))).toMatchObject({
    [`${folder}/database-password`]: 'tocsin-db-app/password',
    [`${folder}/database-ca`]: 'tocsin-db-ca/ca.crt',
  });
  expect(configure(objectsOf('cloudnativepg'))).toMatchObject({
    config: { database: { host: 'tocsin-db-rw', user: 'app', database: 'app' } },
  });
});

test('roots of an own authority are mounted beside the URLs that need them', () => {
  const objects = render('secrets', '--set', 'database.caKey=ca.pem,redis.caKey=redis.pem');
  const folder = '/run/secrets/tocsin';
  expect(Object.fromEntries(mounted(objects))).toMatchObject({
    [`${folder}/database-ca`]: 'tocsin-database/ca.pem',
    [`${folder}/redis-ca`]: 'tocsin-valkey/redis.pem',
  });
  expect(configure(objects)).toMatchObject({
    config: { database: { ca: SECRETS['database-ca']?.trimEnd() } },
  });
  expect(only(objects, ConfigMap.is).data).toMatchObject({ NODE_EXTRA_CA_CERTS: `${folder}/redis-ca` });
});

test('other settings make new pods', () => {
  const sum = (...values: string[]) =>
    only(render('single', ...values), Deployment.is).spec?.template.metadata?.annotations?.[
      'checksum/settings'
    ];
  expect(sum()).toBe(sum());
  expect(sum()).not.toBe(sum('--set', 'extraEnv.SVC_LOG_LEVEL=debug'));
});

test('Prometheus scrapes the internal Service as the job of the alert rules', () => {
  const objects = objectsOf('replicas');
  const monitor = only(objects, ServiceMonitor.is);
  const selected = all(objects, Service.is).filter(({ metadata }) =>
    Object.entries(monitor.spec?.selector.matchLabels ?? {}).every(
      ([key, value]) => metadata?.labels?.[key] === value,
    ),
  );
  expect(selected.map(({ metadata }) => metadata?.name)).toEqual(['tocsin-internal']);
  expect(selected[0]?.metadata?.labels?.[monitor.spec?.jobLabel ?? '']).toBe('tocsin');
  expect(monitor.spec?.endpoints).toMatchObject([{ port: 'internal', path: '/metrics' }]);
});

describe('alert rules', () => {
  const shipped = (base: string) =>
    parse(read('prometheus', 'rules.yaml').replaceAll('http://localhost:8080', base));

  test('are those of rules.yaml with the address of Tocsin, for either operator', () => {
    const rule = objectsOf('cloudnativepg').find(({ kind }) => kind === 'VMRule');
    expect(rule?.spec).toEqual(shipped('https://tocsin.example.org'));
    const switched = render('cloudnativepg', '--set', 'alerting.prometheusRule.enabled=true');
    expect(only(switched, PrometheusRule.is).spec).toEqual(rule?.spec);
  });

  test('can be changed one by one', () => {
    const [group] = only(objectsOf('replicas'), PrometheusRule.is).spec?.groups ?? [];
    const rules = group?.rules ?? [];
    expect(rules.find(({ alert }) => alert === 'SvcDeliverySlow')).toMatchObject({
      ...{ for: '5m', labels: { severity: 'critical' } },
    });
    expect(rules.map(({ alert }) => alert)).not.toContain('SvcEventLoopLag');
    expect(rules).toHaveLength(shipped('').groups[0].rules.length - 1);
  });
});

test('an HTTPRoute leads from its parents to the Service of its listener', () => {
  const routes = objectsOf('cloudnativepg').filter(({ kind }) => kind === 'HTTPRoute');
  expect(routes.map(({ apiVersion, spec }) => ({ apiVersion, spec }))).toEqual([
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      spec: {
        parentRefs: [{ name: 'public' }],
        hostnames: ['tocsin.example.org'],
        rules: [{ backendRefs: [{ name: 'tocsin-app', port: 8080 }] }],
      },
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      spec: {
        parentRefs: [{ name: 'public', sectionName: 'senders' }],
        rules: [{ backendRefs: [{ name: 'tocsin-ingest', port: 8081 }] }],
      },
    },
  ]);
});

test('the dashboard is the shipped one, where the sidecar of Grafana finds it', () => {
  const [dashboard] = all(objectsOf('replicas'), ConfigMap.is).filter(
    ({ metadata }) => metadata?.labels?.grafana_dashboard === '1',
  );
  expect(dashboard?.data).toEqual({ 'tocsin.json': read('grafana', 'tocsin.json') });
});
