import { describe, expect, it } from 'vitest';
import { formatInstant } from '../../runtime/clock.ts';
import { LARGE_BODY } from './body.ts';
import { computeFingerprint } from './identity.ts';
import { parseSnapshot, type Snapshot } from './snapshot.ts';

const ALERT = { status: 'firing', labels: { alertname: 'A' }, startsAt: '2026-10-03T09:58:00Z' };
const GROUP = { groupKey: '{}:{alertname="A"}', status: 'firing', alerts: [ALERT] };

const read = (json: unknown) =>
  parseSnapshot(Buffer.from(typeof json === 'string' ? json : JSON.stringify(json)));

function snapshotOf(json: unknown): Snapshot {
  const parsed = read(json);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.snapshot;
}

const entryOf = (changes: Record<string, unknown>) => {
  const [entry] = snapshotOf({ ...GROUP, alerts: [{ ...ALERT, ...changes }] }).entries;
  if (entry === undefined) throw new Error('no entry');
  return entry;
};

const fields = (count: number, of: (index: number) => [string, string]) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => of(index)));
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const with_ = (extra: string) => JSON.stringify(GROUP).replace(/^\{/, `{"x":${extra},`);
const padding = 'p'.repeat(LARGE_BODY);

describe('a Snapshot out of bounds is refused, with the place', () => {
  it.each([
    [
      'truncatedAlerts above what is kept',
      { ...GROUP, truncatedAlerts: 3_000_000_000 },
      'truncatedAlerts: not an integer from 0 to 2147483647',
    ],
    [
      'truncatedAlerts just above',
      { ...GROUP, truncatedAlerts: 2_147_483_648 },
      'truncatedAlerts: not an integer from 0 to 2147483647',
    ],
    [
      'truncatedAlerts beyond any number',
      with_('1').replace(/^\{/, '{"truncatedAlerts":1e999,'),
      'truncatedAlerts: not an integer from 0 to 2147483647',
    ],
    [
      'truncatedAlerts below zero',
      { ...GROUP, truncatedAlerts: -1 },
      'truncatedAlerts: not an integer from 0 to 2147483647',
    ],
    [
      'truncatedAlerts as text',
      { ...GROUP, truncatedAlerts: '1' },
      'truncatedAlerts: not an integer from 0 to 2147483647',
    ],
    [
      'more labels than a large body may have in one object',
      with_(`"${padding}"`).replace(
        '"labels":{',
        `"labels":{${Array.from({ length: 1_024 }, (_, n) => `"l${n}":""`).join()},`,
      ),
      'alerts[0]: an object of more than 1024 members',
    ],
    [
      'more members beside the alerts than a large body may have in one object',
      with_(`{${Array.from({ length: 1_025 }, (_, n) => `"${n}":"${n === 0 ? padding : ''}"`).join()}}`),
      'body: an object of more than 1024 members',
    ],
    [
      'one alert too many',
      { ...GROUP, alerts: Array(10_001).fill(ALERT) },
      'alerts: 10001 alerts, and a Snapshot has 10000 at most',
    ],
    [
      'one small alert too many',
      { ...GROUP, alerts: Array(10_001).fill(0) },
      'alerts: 10001 alerts, and a Snapshot has 10000 at most',
    ],
    [
      '205,000 alerts',
      `{"groupKey":"k","status":"firing","alerts":[${'{"labels":{},"x":[1,{"y":2}]},'.repeat(204_999)}{}]}`,
      'alerts: 205000 alerts, and a Snapshot has 10000 at most',
    ],
    ['millions of values', with_(`[${'{},'.repeat(1_000_001)}0]`), 'body: more than 1000000 values'],
    ['a deep large body', with_(nested(600_000)), 'body: nested deeper than 64 levels'],
    [
      'another status of the group',
      { ...GROUP, status: 'suppressed' },
      'status: neither "firing" nor "resolved"',
    ],
    [
      'another status of an alert',
      { ...GROUP, alerts: [{ ...ALERT, status: 'FIRING' }] },
      'alerts[0].status: neither "firing" nor "resolved"',
    ],
    [
      'a year of six digits',
      { ...GROUP, alerts: [{ ...ALERT, startsAt: '+292278994-08-17T07:12:55Z' }] },
      'alerts[0].startsAt: not an RFC 3339 time',
    ],
    [
      'a year before Christ',
      { ...GROUP, alerts: [{ ...ALERT, startsAt: '-0044-03-15T00:00:00Z' }] },
      'alerts[0].startsAt: not an RFC 3339 time',
    ],
    [
      'a day that does not exist',
      { ...GROUP, alerts: [{ ...ALERT, endsAt: '2026-02-30T00:00:00Z' }] },
      'alerts[0].endsAt: not an RFC 3339 time',
    ],
    [
      'a time as number',
      { ...GROUP, alerts: [{ ...ALERT, startsAt: 1_759_485_480 }] },
      'alerts[0].startsAt: not a string',
    ],
    ['a raw zero character', JSON.stringify(GROUP).replace('alertname', 'alert\0name'), 'body: not JSON'],
    [
      'a label that is an object',
      { ...GROUP, alerts: [{ ...ALERT, labels: { a: {} } }] },
      'alerts[0].labels.a: not a string',
    ],
  ])('%s', (_name, body, error) => {
    expect(read(body)).toEqual({ ok: false, error });
  });
});

describe('a Snapshot within bounds is taken', () => {
  it.each([
    ['the highest truncatedAlerts', { ...GROUP, truncatedAlerts: 2_147_483_647 }, 1],
    [
      'as many alerts as are allowed',
      { ...GROUP, alerts: Array.from({ length: 10_000 }, (_, n) => ({ ...ALERT, labels: { n: `${n}` } })) },
      10_000,
    ],
    [
      'a large body with alerts in other places',
      with_(`{"alerts":[${'0,'.repeat(20_000)}0],"pad":"${padding}"}`),
      1,
    ],
    [
      'a large body with a list named in a text',
      with_(`"\\"alerts\\":[${'0,'.repeat(20_000)} ${padding}"`),
      1,
    ],
    ['a large body of spaces', JSON.stringify(GROUP) + ' '.repeat(LARGE_BODY), 1],
    ['no alerts in a large body', with_(`"${padding}"`).replace(/"alerts":.*/, '"alerts":[ ]}'), 0],
    ['nesting up to the bound', with_(`[${nested(62)},"${padding}"]`), 1],
    [
      'the last of two fields of one name',
      `{"groupKey":1,"alerts":0,"groupKey":"k","status":"firing","alerts":[]}`,
      0,
    ],
  ])('%s', (_name, body, entries) => {
    expect(snapshotOf(body).entries).toHaveLength(entries);
  });

  it.each([
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['0000-01-01T00:00:00+23:59', '0000-01-01T00:00:00Z'],
    ['9999-12-31T23:59:59.999999999-23:59', '9999-12-31T23:59:59Z'],
  ])('a time at the end of the calendar: %s', (startsAt, kept) => {
    expect(formatInstant(entryOf({ startsAt }).startsAt)).toBe(kept);
  });
});

describe('a text that is too long is cut with a mark', () => {
  const mark = /^(x+)… \[cut: (\d+) characters, sha256 [0-9a-f]{16}\]$/;

  it.each([
    ['a label value', (text: string) => entryOf({ labels: { a: text } }).labels.a, 4_096],
    ['an annotation', (text: string) => entryOf({ annotations: { a: text } }).annotations.a, 16_384],
    ['a label name', (text: string) => Object.keys(entryOf({ labels: { [text]: '' } }).labels)[0], 1_024],
    [
      'an annotation name',
      (text: string) => Object.keys(entryOf({ annotations: { [text]: '' } }).annotations)[0],
      1_024,
    ],
    ['the groupKey', (text: string) => snapshotOf({ ...GROUP, groupKey: text }).groupKey, 4_096],
  ])('%s', (_name, take, longest) => {
    expect(take('x'.repeat(longest))).toBe('x'.repeat(longest));
    const [, kept, length] = mark.exec(take('x'.repeat(1_000_000)) ?? '') ?? [];
    expect(kept).toHaveLength(longest);
    expect(length).toBe('1000000');
  });

  it('not through the middle of a character', () => {
    const value = entryOf({ labels: { a: `${'x'.repeat(4_095)}😀${'x'.repeat(100)}` } }).labels.a ?? '';
    expect(mark.exec(value)?.[1]).toHaveLength(4_095);
  });

  it('and texts that differ stay different, and so do their Alerts and feeds', () => {
    const [left, right] = ['a', 'b'].map((end) => 'x'.repeat(1_000_000) + end) as [string, string];
    const one = entryOf({ labels: { long: left } });
    const other = entryOf({ labels: { long: right } });
    expect(one.labels.long).not.toBe(other.labels.long);
    expect(one.fingerprint).not.toBe(other.fingerprint);
    expect(one.fingerprint).toBe(computeFingerprint({ long: left }));
    const [oneFeed, otherFeed] = [left, right].map((groupKey) => snapshotOf({ ...GROUP, groupKey }));
    expect(oneFeed?.groupKeyHash).not.toBe(otherFeed?.groupKeyHash);
  });
});

describe('what there is too much of is left out with a mark', () => {
  it.each([
    ['labels', 256],
    ['annotations', 256],
  ] as const)('%s by number', (field, most) => {
    const all = fields(most + 44, (index) => [`n${index}`, 'v']);
    const kept = entryOf({ [field]: all })[field];
    expect(Object.keys(kept)).toEqual([...Object.keys(all).slice(0, most), '…']);
    expect(kept['…']).toMatch(/^\[44 left out, sha256 [0-9a-f]{16}\]$/);
  });

  it.each([
    ['labels', 4_000, 8],
    ['annotations', 16_000, 4],
  ] as const)('%s by length of all together', (field, length, room) => {
    const all = fields(100, (index) => [`n${index}`, 'v'.repeat(length)]);
    const kept = entryOf({ [field]: all })[field];
    expect(Object.keys(kept)).toHaveLength(room + 1);
    expect(kept['…']).toMatch(/left out/);
  });

  it('and Alerts that differ there alone stay different', () => {
    const labels = (last: string) => fields(300, (index) => [`n${index}`, index === 299 ? last : 'v']);
    const [one, other] = [entryOf({ labels: labels('a') }), entryOf({ labels: labels('b') })];
    expect(one.labels['…']).not.toBe(other.labels['…']);
    expect(one.fingerprint).not.toBe(other.fingerprint);
  });

  it('a generatorURL that is too long is no link', () => {
    const url = (length: number) => `http://p/${'x'.repeat(length - 9)}`;
    expect(entryOf({ generatorURL: url(8_192) }).generatorUrl).toBe(url(8_192));
    expect(entryOf({ generatorURL: url(8_193) }).generatorUrl).toBeNull();
  });

  it('a fingerprint that is too long counts by its digest', () => {
    expect(entryOf({ fingerprint: 'f'.repeat(1_000_000) }).fingerprint).toMatch(/^sha256:[0-9a-f]{64}$/);
  });
});
