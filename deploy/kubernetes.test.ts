import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Secret } from 'kubernetes-models/v1/Secret';
import { Service } from 'kubernetes-models/v1/Service';
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../runtime/config.ts';
import { readVersion } from '../runtime/version.ts';
import { build, type KubernetesObject, kustomizations, readObjects } from './kustomization.fixture.ts';

const FOLDER = path.join(import.meta.dirname, 'kubernetes');
const LISTENERS = { app: 8080, ingest: 8081, internal: 8082 } as const;
const OVERLAYS = readdirSync(path.join(FOLDER, 'overlays'));
const overlay = (name: string) => build(path.join(FOLDER, 'overlays', name));
const replicas = overlay('replicas');
const single = overlay('single');

const MODEL_OF = [
  (it: unknown) => (Deployment.is(it) ? new Deployment(it) : null),
  (it: unknown) => (Service.is(it) ? new Service(it) : null),
  (it: unknown) => (ServiceAccount.is(it) ? new ServiceAccount(it) : null),
  (it: unknown) => (PodDisruptionBudget.is(it) ? new PodDisruptionBudget(it) : null),
  (it: unknown) => (NetworkPolicy.is(it) ? new NetworkPolicy(it) : null),
  (it: unknown) => (Ingress.is(it) ? new Ingress(it) : null),
  (it: unknown) => (ConfigMap.is(it) ? new ConfigMap(it) : null),
  (it: unknown) => (Secret.is(it) ? new Secret(it) : null),
  (it: unknown) => (ServiceMonitor.is(it) ? new ServiceMonitor(it) : null),
  (it: unknown) => (PrometheusRule.is(it) ? new PrometheusRule(it) : null),
];

/** @throws {Error} when the object is not as the schema of its kind says */
function validate(object: KubernetesObject): void {
  const [model] = MODEL_OF.map((of) => of(object)).filter((it) => it !== null);
  if (!model) throw new Error(`no schema for ${object.apiVersion} ${object.kind}`);
  model.validate();
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

function podOf(objects: readonly KubernetesObject[]) {
  const template = only(objects, Deployment.is).spec?.template;
  const [container] = template?.spec?.containers ?? [];
  if (!template?.spec || !container) throw new Error('the Deployment has no container');
  return { labels: template.metadata?.labels, spec: template.spec, container };
}

/** What the container sees: the settings of its ConfigMap and its own variables. */
function environment(objects: readonly KubernetesObject[]): Record<string, string> {
  const { container } = podOf(objects);
  const names = container.envFrom?.map((from) => from.configMapRef?.name);
  const maps = all(objects, ConfigMap.is).filter(({ metadata }) => names?.includes(metadata?.name));
  const own = (container.env ?? []).map(({ name, value, valueFrom }) => [
    name,
    valueFrom?.fieldRef?.fieldPath === 'metadata.name' ? 'tocsin-7c9d5b6f4-x2x7k' : (value ?? ''),
  ]);
  return { ...only(maps, ConfigMap.is).data, ...Object.fromEntries(own) };
}

const SECRETS: Readonly<Record<string, string>> = {
  'secret-keys': 'bm90IGEga2V5IGJ1dCAzMiBieXRlcyBsb25nIHRleHQ=',
  'database-url': 'postgres://tocsin:secret@db.example.org/tocsin?sslmode=verify-full',
  'redis-url': 'rediss://:secret@redis.example.org:6379',
  'admin-password': 'correct horse battery',
};

/** Reads the configuration as the pod would, with the Secret mounted. */
function configure(objects: readonly KubernetesObject[], secrets = SECRETS) {
  const mount = podOf(objects).container.volumeMounts?.[0]?.mountPath ?? '';
  const readFile = (file: string) => {
    const text = path.dirname(file) === mount ? secrets[path.basename(file)] : undefined;
    if (text === undefined) throw Object.assign(new Error(file), { code: 'ENOENT' });
    return text;
  };
  return readConfig(environment(objects), readFile, { cpus: 64, hostName: 'node', random: 'x' });
}

describe('every object is as the schema of its kind says', () => {
  test.each(OVERLAYS)('of the overlay %s', (name) => {
    for (const object of overlay(name)) expect(() => validate(object), object.metadata.name).not.toThrow();
  });

  test('of the example of a Secret', () => {
    for (const object of readObjects(path.join(FOLDER, 'secret.example.yaml'))) validate(object);
  });

  test('a wrong one is refused', () => {
    const wrong = structuredClone(only(replicas, Deployment.is));
    expect(() => validate({ ...wrong, metadata: { name: 'x' }, spec: { replicas: 'three' } })).toThrow(
      'replicas',
    );
  });
});

test('every kustomization can be built, and every file belongs to one', () => {
  const used = new Set(kustomizations(import.meta.dirname).flatMap(({ files }) => files));
  const written = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'kustomization.yaml')
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => path.basename(file) !== 'secret.example.yaml');
  expect(written.filter((file) => !used.has(file))).toEqual([]);
  expect([...used].filter((file) => file.startsWith(FOLDER)).sort()).toEqual(written.sort());
});

describe.each(OVERLAYS)('in the overlay %s', (name) => {
  const objects = overlay(name);
  const { labels = {}, spec, container } = podOf(objects);
  const matches = (selector: Readonly<Record<string, string>> | undefined) =>
    selector !== undefined && Object.entries(selector).every(([key, value]) => labels[key] === value);

  test('no name is given twice, and all are in one namespace', () => {
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(objects.map(({ metadata }) => metadata.namespace)).size).toBe(1);
  });

  test('selectors select the pods', () => {
    expect(matches(only(objects, Deployment.is).spec?.selector.matchLabels)).toBe(true);
    expect(matches(only(objects, PodDisruptionBudget.is).spec?.selector?.matchLabels)).toBe(true);
    expect(matches(only(objects, NetworkPolicy.is).spec?.podSelector?.matchLabels)).toBe(true);
    for (const { labelSelector } of spec.topologySpreadConstraints ?? [])
      expect(matches(labelSelector?.matchLabels)).toBe(true);
    for (const service of all(objects, Service.is)) expect(matches(service.spec?.selector)).toBe(true);
  });

  test('each listener has its port, its Service and its rule', () => {
    const ports = Object.fromEntries(container.ports?.map((port) => [port.name, port.containerPort]) ?? []);
    expect(ports).toEqual(LISTENERS);
    const services = all(objects, Service.is).map((service) => ({
      name: service.metadata?.name,
      type: service.spec?.type ?? 'ClusterIP',
      ports: service.spec?.ports?.map(({ name, port, targetPort }) => [name, port, targetPort]),
    }));
    expect(services).toEqual(
      Object.entries(LISTENERS).map(([listener, port]) => ({
        name: `tocsin-${listener}`,
        type: 'ClusterIP',
        ports: [[listener, port, listener]],
      })),
    );
    const rules = only(objects, NetworkPolicy.is).spec?.ingress ?? [];
    expect(rules.map(({ ports: of, from }) => [of?.[0]?.port, from !== undefined])).toEqual([
      ['app', false],
      ['ingest', false],
      ['internal', true],
    ]);
  });

  test('probes ask the internal listener', () => {
    const { startupProbe, readinessProbe, livenessProbe, lifecycle } = container;
    expect(startupProbe).toEqual({
      httpGet: { path: '/health/ready', port: 'internal' },
      periodSeconds: 5,
      failureThreshold: 60,
      timeoutSeconds: 2,
    });
    expect(readinessProbe).toMatchObject({ httpGet: { path: '/health/ready' }, failureThreshold: 3 });
    expect(livenessProbe).toMatchObject({ httpGet: { path: '/health/live' }, periodSeconds: 10 });
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

  test('the internal listener is not exposed', () => {
    const backends = all(objects, Ingress.is)
      .flatMap((ingress) => ingress.spec?.rules ?? [])
      .flatMap((rule) => rule.http?.paths ?? [])
      .map(({ backend }) => [backend.service?.name, backend.service?.port?.name]);
    expect(backends).toEqual([
      ['tocsin-app', 'app'],
      ['tocsin-ingest', 'ingest'],
    ]);
  });

  test('the service takes these settings without a warning', () => {
    const read = configure(objects);
    expect(read).toMatchObject({ warnings: [] });
    if ('errors' in read) throw new Error(read.errors.join());
    const { listen, migrateOnStart, poolMax, replicaId } = read.config;
    expect(Object.entries(listen).map(([listener, { port }]) => [listener, port])).toEqual(
      Object.entries(LISTENERS),
    );
    expect({ migrateOnStart, poolMax, replicaId }).toEqual({
      migrateOnStart: false,
      poolMax: 10,
      replicaId: 'tocsin-7c9d5b6f4-x2x7k',
    });
  });

  test('the image is that of this version', () => {
    const file = readFileSync(path.join(FOLDER, 'overlays', name, 'kustomization.yaml'), 'utf8');
    expect(file).toContain(`newTag: ${readVersion({}).version}\n`);
  });
});

test('three replicas meet in Redis and are replaced one by one', () => {
  expect(configure(replicas)).toMatchObject({ config: { redisUrl: SECRETS['redis-url'] } });
  expect(only(replicas, Deployment.is).spec).toMatchObject({
    replicas: 3,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
  });
});

test('one replica needs no Redis and ends before the next begins', () => {
  const { 'redis-url': _, ...secrets } = SECRETS;
  expect(configure(single, secrets)).toMatchObject({ config: { redisUrl: null } });
  expect(only(single, Deployment.is).spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
  expect(only(single, Deployment.is).spec?.strategy).not.toHaveProperty('rollingUpdate');
});

test('nothing starts with the placeholders', () => {
  const [secret] = readObjects(path.join(FOLDER, 'secret.example.yaml'));
  const placeholders = secret && Secret.is(secret) ? (secret.stringData ?? {}) : {};
  expect(Object.keys(placeholders).sort()).toEqual(Object.keys(SECRETS).sort());
  expect(podOf(replicas).spec.volumes?.[0]?.secret?.secretName).toBe(secret?.metadata.name);

  const base = configure(build(path.join(FOLDER, 'base')));
  expect(base).toMatchObject({ errors: [expect.stringContaining('SVC_PUBLIC_URL')] });
  const read = configure(replicas, placeholders);
  const refused = 'errors' in read ? read.errors.map((line) => line.split(':')[0]) : [];
  expect(refused).toEqual([
    'SVC_DATABASE_URL_FILE',
    'SVC_REDIS_URL_FILE',
    'SVC_BOOTSTRAP_ADMIN_PASSWORD_FILE',
  ]);
});

test('Prometheus scrapes the internal Service as the job of the alert rules', () => {
  const monitor = only(replicas, ServiceMonitor.is);
  const { matchLabels = {} } = monitor.spec?.selector ?? {};
  const selected = replicas
    .filter(Service.is)
    .filter(({ metadata }) =>
      Object.entries(matchLabels).every(([key, value]) => metadata?.labels?.[key] === value),
    );
  expect(selected.map(({ metadata }) => metadata?.name)).toEqual(['tocsin-internal']);
  expect(selected[0]?.metadata?.labels?.[monitor.spec?.jobLabel ?? '']).toBe('tocsin');
  expect(monitor.spec?.endpoints).toMatchObject([{ port: 'internal', path: '/metrics' }]);
});
