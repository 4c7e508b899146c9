import { describe, expect, test } from 'vitest';
import type { PublicId } from '../../runtime/public-id.ts';
import { computeFingerprint } from '../feed/identity.ts';
import { parseSnapshot } from '../feed/snapshot.ts';
import {
  internalAlertBody,
  internalFingerprint,
  internalLabels,
  runbookUrl,
  type ToldAlert,
} from './conditions.ts';
import {
  ENTITY_KINDS,
  entityKindOf,
  INTERNAL_ALERT_NAMES,
  INTERNAL_ALERTS,
  internalSeverity,
} from './registry.ts';

const RUNBOOKS = { base: 'https://r.example/', version: '1.4.2' };
const PROD = { id: 'NT0000000000A1' as PublicId, name: 'prod-eu' };
/** 2026-10-03T10:05:02Z. */
const AT = Date.parse('2026-10-03T10:05:02Z') * 1000;

const lost: ToldAlert = {
  name: 'SvcHeartbeatLost',
  entity: PROD,
  extras: { env: 'prod' },
  date: '',
  status: 'firing',
  at: AT,
};

test('a raise reads as one Snapshot of Alertmanager', () => {
  const body = JSON.parse(internalAlertBody(lost, RUNBOOKS));
  const labels = {
    alertname: 'SvcHeartbeatLost',
    severity: 'critical',
    integration: 'NT0000000000A1',
    integration_name: 'prod-eu',
    env: 'prod',
  };
  const annotations = {
    summary: 'No Heartbeat from Integration prod-eu',
    description: expect.stringContaining('prod-eu'),
    runbook_url: 'https://r.example/1.4/operations/runbooks/SvcHeartbeatLost/',
  };
  expect(body).toEqual({
    version: '4',
    groupKey: '{}/{tocsin="internal"}:{alertname="SvcHeartbeatLost"}',
    truncatedAlerts: 0,
    status: 'firing',
    receiver: 'tocsin',
    groupLabels: { alertname: 'SvcHeartbeatLost' },
    commonLabels: labels,
    commonAnnotations: annotations,
    externalURL: '',
    alerts: [
      {
        status: 'firing',
        labels,
        annotations,
        startsAt: '2026-10-03T10:05:02.000000Z',
        endsAt: '0001-01-01T00:00:00Z',
        generatorURL: '',
        fingerprint: 'f81e95afa3cac24c',
      },
    ],
  });
});

test('a resolve carries no text and no name', () => {
  const body = JSON.parse(internalAlertBody({ ...lost, status: 'resolved', at: AT + 1 }, RUNBOOKS));
  expect(body).toMatchObject({ status: 'resolved', commonAnnotations: {} });
  expect(body.alerts).toEqual([
    {
      status: 'resolved',
      labels: {
        alertname: 'SvcHeartbeatLost',
        severity: 'critical',
        integration: 'NT0000000000A1',
        env: 'prod',
      },
      annotations: {},
      startsAt: '2026-10-03T10:05:02.000001Z',
      endsAt: '0001-01-01T00:00:00Z',
      generatorURL: '',
      fingerprint: 'f81e95afa3cac24c',
    },
  ]);
});

test.each([
  ['SvcOIDCSecretExpiring', null, 'a0b238980de44693'],
  ['SvcHeartbeatLost', 'NT0000000000A1' as PublicId, 'f81e95afa3cac24c'],
] as const)('the fingerprint of %s about %s', (name, entityId, fingerprint) => {
  expect(internalFingerprint(name, entityId)).toBe(fingerprint);
});

test('a fingerprint is that of the name and the id label alone', () => {
  const labels = { alertname: 'SvcDestinationBroken', destination: 'DS0000000000A1' };
  expect(internalFingerprint('SvcDestinationBroken', 'DS0000000000A1' as PublicId)).toBe(
    computeFingerprint(labels),
  );
});

test('a label of the registry wins over a Static label of the same name', () => {
  const extras = {
    ...{ alertname: 'x', severity: 'x', integration: 'x', integration_name: 'x' },
    env: 'prod',
  };
  expect(internalLabels({ ...lost, extras })).toEqual(internalLabels(lost));
  const resolve = JSON.parse(internalAlertBody({ ...lost, extras, status: 'resolved' }, RUNBOOKS));
  expect(resolve.commonLabels).not.toHaveProperty('integration_name');
});

describe('every name of the registry', () => {
  const entities = {
    integration: PROD,
    destination: { id: 'DS0000000000A1' as PublicId, name: 'ops "1"' },
    route: { id: 'RT0000000000A1' as PublicId, name: 'Платежи' },
  };
  const cases = INTERNAL_ALERT_NAMES.flatMap((name): Pick<ToldAlert, 'name' | 'entity'>[] => {
    const { about } = INTERNAL_ALERTS[name];
    if (about.length === 0) return [{ name, entity: null }];
    return about.map((kind) => ({ name, entity: entities[kind] }));
  });

  test.each(cases)('$name about $entity.name is understood by ingestion', ({ name, entity }) => {
    const told: ToldAlert = { name, entity, extras: {}, date: '2026-12-01', status: 'firing', at: AT };
    const parsed = parseSnapshot(Buffer.from(internalAlertBody(told, RUNBOOKS)));
    if (!parsed.ok) throw new Error(parsed.error);
    const [entry] = parsed.snapshot.entries;
    expect(entry).toMatchObject({ status: 'firing', startsAt: AT });
    expect(entry?.annotations.summary).toContain(entity?.name ?? '2026-12-01');
    expect(entry?.labels.severity).toBe(internalSeverity(entry?.labels ?? {}));
  });
});

test('kinds of entities are told by their ids', () => {
  const ids = { integration: 'NT0000000000A1', destination: 'DS0000000000A1', route: 'RT0000000000A1' };
  for (const kind of ENTITY_KINDS) expect(entityKindOf(ids[kind] as PublicId)).toBe(kind);
  expect(() => entityKindOf('AG0000000000A1' as PublicId)).toThrow('no Internal alert');
});

describe('runbook links', () => {
  test.each([
    ['https://r.example/', '1.4.2', 'https://r.example/1.4/operations/runbooks/SvcDown/'],
    ['https://r.example/docs', '12.0.0-rc.1', 'https://r.example/docs/12.0/operations/runbooks/SvcDown/'],
    ['https://r.example', '0.0.0', 'https://r.example/latest/operations/runbooks/SvcDown/'],
    ['https://oncall.example/', null, 'https://oncall.example/runbooks/SvcDown'],
    [null, '1.4.2', null],
    ['', '1.4.2', null],
  ])('from %s and build %s', (base, version, url) => {
    expect(runbookUrl({ base, version }, 'SvcDown')).toBe(url);
  });

  test('an alert without one carries no annotation for it', () => {
    const { commonAnnotations } = JSON.parse(internalAlertBody(lost, { ...RUNBOOKS, base: null }));
    expect(Object.keys(commonAnnotations)).toEqual(['summary', 'description']);
  });
});
