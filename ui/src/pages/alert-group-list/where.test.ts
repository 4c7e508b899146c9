import { expect, it } from 'vitest';
import type { AlertGroup, Labels } from '../../api/shapes.ts';
import { columnLabels, whereLabels } from './where.ts';

let ids = 0;
function group(title: string, group_labels: Labels, common: Labels = {}): AlertGroup {
  ids += 1;
  const common_labels = { alertname: title, severity: 'critical', ...group_labels, ...common };
  return {
    id: `AG${ids}`,
    title,
    severity_level: 'critical',
    group_labels,
    common_labels,
    label_values: {},
  } as unknown as AlertGroup;
}

/** Names and values of each row, as the row shows them. */
function shown(groups: readonly AlertGroup[]): string[] {
  const labels = whereLabels(groups);
  return groups.map(({ id }) => (labels.get(id) ?? []).map(([name, value]) => `${name}=${value}`).join(' '));
}

it('rows with one title show what differs between them, the one that says most first, and not what they share', () => {
  const of = (namespace: string, pod: string) =>
    group('PodCrash', { namespace, pod }, { cluster: 'eu', container: 'app', job: 'kubelet' });
  expect(shown([of('pay', 'api-1'), of('pay', 'api-2'), of('shop', 'web-1')])).toEqual([
    'pod=api-1 namespace=pay',
    'pod=api-2 namespace=pay',
    'pod=web-1 namespace=shop',
  ]);
});

it('labels outside of the Group key are shown when they are what differs', () => {
  const of = (instance: string) => group('Down', { alertname: 'Down' }, { cluster: 'eu', instance });
  expect(shown([of('db-1'), of('db-2')])).toEqual(['instance=db-1', 'instance=db-2']);
});

it('a title that occurs once shows how it differs from the others, the Group key first', () => {
  const rows = [
    group('DiskFull', { cluster: 'eu', host: 'a' }, { team: 'storage' }),
    group('QueueLong', { cluster: 'eu', queue: 'mail' }, { team: 'mail' }),
  ];
  expect(shown(rows)).toEqual(['host=a team=storage', 'queue=mail team=mail']);
});

it('alone, or among equal rows, a row shows its Group key', () => {
  const alone = group('DiskFull', { cluster: 'eu', host: 'a', severity: 'critical' });
  expect(shown([alone])).toEqual(['cluster=eu host=a']);
  expect(shown([alone, { ...alone, id: 'AGx' }])).toEqual(['cluster=eu host=a', 'cluster=eu host=a']);
});

it('what senders may write without end is left out', () => {
  const long = 'x'.repeat(101);
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`l${n}`, `v${n}`]));
  const [one = '', other] = shown([
    group('A', {}, { ...many, long }),
    group('B', { host: 'b' }, { long: 'y' }),
  ]);
  expect(one.split(' ').length).toBeLessThanOrEqual(3);
  expect(one).not.toContain(long);
  expect(other).toContain('long=y');
});

it('columns that were asked for are shown as they are', () => {
  const row = { ...group('A', { host: 'b' }), label_values: { pod: 'p' } } as AlertGroup;
  expect(columnLabels(row, ['pod', 'host', 'none'])).toEqual([
    ['pod', 'p'],
    ['host', 'b'],
  ]);
});

it('a row that shows the same labels as before keeps them, and one that shows others does not', () => {
  const rows = [group('Down', { instance: 'db-1' }), group('Down', { instance: 'db-2' })];
  const before = whereLabels(rows);
  const [first, second] = rows as [AlertGroup, AlertGroup];
  const changed = { ...group('Down', { instance: 'db-3' }), id: second.id };
  const after = whereLabels([{ ...first }, changed], before);
  expect(after.get(first.id)).toBe(before.get(first.id));
  expect(after.get(second.id)).toEqual([['instance', 'db-3']]);
});
