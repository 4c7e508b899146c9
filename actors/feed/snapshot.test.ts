import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseInstant } from '../../runtime/clock.ts';
import { computeFingerprint } from './identity.ts';
import { parseSnapshot, type Snapshot } from './snapshot.ts';

const ALERT = {
  status: 'firing',
  labels: { alertname: 'DiskFull', instance: 'db-a' },
  annotations: { summary: 'disk' },
  startsAt: '2026-10-03T09:58:00.123456789Z',
  endsAt: '0001-01-01T00:00:00Z',
  generatorURL: 'http://prom/g',
  fingerprint: 'fc707b82f8a85e05',
};

const GROUP = {
  version: '4',
  groupKey: '{}/{team="db"}:{alertname="DiskFull"}',
  truncatedAlerts: 0,
  status: 'firing',
  alerts: [ALERT],
};

const bytes = (json: unknown) => Buffer.from(JSON.stringify(json));

function snapshotOf(json: unknown): Snapshot {
  const parsed = parseSnapshot(bytes(json));
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.snapshot;
}

function errorOf(body: Buffer): string | null {
  const parsed = parseSnapshot(body);
  return parsed.ok ? null : parsed.error;
}

const withAlert = (changes: Record<string, unknown>) => ({ ...GROUP, alerts: [{ ...ALERT, ...changes }] });

describe('a webhook body', () => {
  it('is read field by field, times cut to microseconds', () => {
    expect(snapshotOf({ ...GROUP, notification_reason: 'repeat interval elapsed' })).toMatchObject({
      groupKey: GROUP.groupKey,
      status: 'firing',
      truncatedAlerts: 0,
      notificationReason: 'repeat interval elapsed',
      resolvedCount: 0,
      entries: [
        {
          fingerprint: 'fc707b82f8a85e05',
          status: 'firing',
          startsAt: parseInstant('2026-10-03T09:58:00.123456Z'),
          labels: ALERT.labels,
          annotations: { summary: 'disk' },
          generatorUrl: 'http://prom/g',
        },
      ],
    });
  });

  it('may leave out what is optional', () => {
    const { labels, startsAt, status } = ALERT;
    const { groupKey } = GROUP;
    const snapshot = snapshotOf({ groupKey, status, alerts: [{ labels, startsAt, status }] });
    expect(snapshot.entries[0]).toMatchObject({
      fingerprint: 'fc707b82f8a85e05',
      annotations: {},
      generatorUrl: null,
    });
    expect(snapshotOf({ groupKey, status, alerts: [] }).entries).toEqual([]);
  });

  it('of Grafana is read as any other', () => {
    const snapshot = snapshotOf({
      ...withAlert({ values: { B: 44.2 }, silenceURL: 'x', startsAt: '2026-10-03T11:58:00+02:00' }),
      version: '1',
      orgId: 1,
      title: 'CPU',
    });
    expect(snapshot.entries[0]?.startsAt).toBe(parseInstant('2026-10-03T09:58:00Z'));
  });

  it('counts the last entry of a fingerprint', () => {
    const snapshot = snapshotOf({ ...GROUP, alerts: [ALERT, { ...ALERT, status: 'resolved' }] });
    expect(snapshot.entries.map(({ status }) => status)).toEqual(['resolved']);
    expect(snapshot.resolvedCount).toBe(1);
  });

  it('keeps labels that JavaScript treats specially', () => {
    const labels = JSON.parse('{"__proto__":"p","constructor":"c","1":"one"}') as Record<string, string>;
    expect(Object.entries(snapshotOf(withAlert({ labels })).entries[0]?.labels ?? {})).toEqual(
      Object.entries(labels),
    );
  });

  it('has U+0000 and unpaired surrogates replaced', () => {
    const [entry] = snapshotOf(
      withAlert({ labels: { 'a\0': '\ud83d' }, annotations: { x: '\udcaa😀\0' } }),
    ).entries;
    expect(entry?.labels).toEqual({ 'a\uFFFD': '\uFFFD' });
    expect(entry?.annotations).toEqual({ x: '\uFFFD😀\uFFFD' });
  });

  const lines = readFileSync(new URL('./fixtures/alertmanager-0.25.jsonl', import.meta.url), 'utf8');
  it.each(lines.trim().split('\n'))('of a real Alertmanager is read (%#)', (line) => {
    const body = JSON.parse(line) as string;
    const parsed = parseSnapshot(Buffer.from(body));
    expect(parsed.ok).toBe(true);
    if (!parsed.ok) return;
    for (const { fingerprint, labels } of parsed.snapshot.entries) {
      expect(computeFingerprint(labels)).toBe(fingerprint);
    }
  });
});

describe('digests', () => {
  const other = { ...ALERT, fingerprint: 'fc7a7b82f8b0b28a' };
  const digest = (json: unknown) => snapshotOf(json).digest;

  it('are equal for the same Alerts in another order, from another replica of the sender', () => {
    expect(digest({ ...GROUP, alerts: [ALERT, other], externalURL: 'http://am-1' })).toBe(
      digest({ ...GROUP, alerts: [other, ALERT], externalURL: 'http://am-2' }),
    );
  });

  it.each([
    ['a label', withAlert({ labels: { ...ALERT.labels, x: 'y' } })],
    ['an annotation', withAlert({ annotations: { summary: 'other' } })],
    ['a start', withAlert({ startsAt: '2026-10-03T09:58:00.123457Z' })],
    ['a status', withAlert({ status: 'resolved' })],
    ['a link', withAlert({ generatorURL: 'http://prom/h' })],
    ['the status of the group', { ...GROUP, status: 'resolved' }],
    ['a cut', { ...GROUP, truncatedAlerts: 1 }],
  ])('differ by %s', (_, json) => {
    expect(digest(json)).not.toBe(digest(GROUP));
  });
});

describe('what is no Snapshot', () => {
  const without = (name: string) => Object.fromEntries(Object.entries(GROUP).filter(([key]) => key !== name));
  it.each<[string, unknown, string]>([
    ['no object', [GROUP], 'body: not an object'],
    ['null', null, 'body: missing'],
    ['no groupKey', without('groupKey'), 'groupKey: missing'],
    ['no status', without('status'), 'status: missing'],
    ['no alerts', without('alerts'), 'alerts: missing'],
    ['alerts null', { ...GROUP, alerts: null }, 'alerts: missing'],
    ['alerts of another type', { ...GROUP, alerts: {} }, 'alerts: not an array'],
    ['another status', { ...GROUP, status: 'ok' }, 'status: neither "firing" nor "resolved"'],
    [
      'a negative cut',
      { ...GROUP, truncatedAlerts: -1 },
      'truncatedAlerts: not an integer from 0 to 2147483647',
    ],
    ['an alert that is a text', { ...GROUP, alerts: [ALERT, 'x'] }, 'alerts[1]: not an object'],
    ['no labels', withAlert({ labels: undefined }), 'alerts[0].labels: missing'],
    ['a label that is a number', withAlert({ labels: { a: 1 } }), 'alerts[0].labels.a: not a string'],
    ['an annotation null', withAlert({ annotations: { b: null } }), 'alerts[0].annotations.b: not a string'],
    ['no start', withAlert({ startsAt: null }), 'alerts[0].startsAt: missing'],
    ['a bad start', withAlert({ startsAt: 'now' }), 'alerts[0].startsAt: not an RFC 3339 time'],
    ['a bad end', withAlert({ endsAt: '' }), 'alerts[0].endsAt: not an RFC 3339 time'],
  ])('%s names the place', (_, json, error) => {
    expect(errorOf(bytes(json))).toBe(error);
  });

  it.each<[string, Buffer, string]>([
    ['nothing', Buffer.alloc(0), 'body: not JSON'],
    ['a text', Buffer.from('not json'), 'body: not JSON'],
    ['other bytes', Buffer.from([0x7b, 0xff, 0x7d]), 'body: not UTF-8'],
    ['a million brackets', Buffer.alloc(1_000_000, '['), 'body: not JSON'],
  ])('%s is refused', (_, body, error) => {
    expect(errorOf(body)).toBe(error);
  });

  it('is an answer and never an exception', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (body) => typeof parseSnapshot(body).ok === 'boolean'),
    );
    fc.assert(fc.property(fc.json(), (text) => typeof parseSnapshot(Buffer.from(text)).ok === 'boolean'));
    const field = fc.oneof(fc.jsonValue(), fc.constant(GROUP.alerts), fc.constant('firing'));
    const bodies = fc.record({
      groupKey: field,
      status: field,
      alerts: fc.array(field),
      truncatedAlerts: field,
    });
    fc.assert(fc.property(bodies, (body) => typeof parseSnapshot(bytes(body)).ok === 'boolean'));
  });
});

describe('a computed fingerprint', () => {
  it.each([
    [{ alertname: 'DiskFull', instance: 'db-a' }, 'fc707b82f8a85e05'],
    [{ instance: 'db-b', alertname: 'DiskFull' }, 'fc7a7b82f8b0b28a'],
    [{ alertname: 'DiskFull', instance: 'db-c' }, 'fc767b82f8acc9b3'],
    [{}, 'cbf29ce484222325'],
  ])('of %j', (labels, fingerprint) => {
    expect(computeFingerprint(labels)).toBe(fingerprint);
  });

  it('orders names by their bytes, not by UTF-16', () => {
    const ordered = computeFingerprint({ '\uFFFD': '1', '\u{1F600}': '2' });
    expect(computeFingerprint({ '\u{1F600}': '2', '\uFFFD': '1' })).toBe(ordered);
  });
});
