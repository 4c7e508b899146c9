import { describe, expect, it } from 'vitest';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Matcher, RouteConfig } from '../directory.ts';
import { compileRoutes, keyHash, routeFor, severityOf, slotFor } from './evaluate.ts';
import { ON_CALL_POLICY, ROUTE_PROFILES } from './policy.ts';

function route(name: string, matchers: Matcher[], isDefault = false): RouteConfig {
  return {
    id: name as PublicId,
    name,
    isDefault,
    deleted: false,
    matchers,
    urgent: false,
    groupKey: ['alertname'],
    destinationIds: [],
    policy: ON_CALL_POLICY,
  };
}

const critical = route('A', [{ label: 'severity', op: '=', value: 'critical' }]);
const team = route('B', [{ label: 'team', op: '=', value: 'x' }]);
const fallback = route('Default', [], true);
const both = { severity: 'critical', team: 'x' };

describe('evaluation (routes §5)', () => {
  it('gives an Alert to the first Route that matches', () => {
    expect(routeFor(compileRoutes({ routes: [critical, team, fallback] }), both).name).toBe('A');
    expect(routeFor(compileRoutes({ routes: [team, critical, fallback] }), both).name).toBe('B');
  });

  it('gives an Alert nobody takes to the Default route', () => {
    expect(routeFor(compileRoutes({ routes: [critical, team, fallback] }), {}).name).toBe('Default');
  });

  it('lets a stored expression that no longer compiles match nothing and names it', () => {
    const broken = route('C', [
      { label: 'a', op: '=', value: '' },
      { label: 'x', op: '!~', value: '(' },
    ]);
    const table = compileRoutes({ routes: [broken, fallback] });
    expect(routeFor(table, {}).name).toBe('Default');
    expect(table.invalid).toEqual([{ route: broken, index: 1 }]);
  });

  it('refuses a list without a Default route', () => {
    expect(() => compileRoutes({ routes: [critical] })).toThrow('Default route');
  });
});

describe('a Group key (routes §6)', () => {
  const keyed = (groupKey: string[]) => ({ id: 'RT' as PublicId, groupKey });

  it('takes a missing label as empty', () => {
    const slot = slotFor(keyed(['alertname', 'cluster']), { alertname: 'Disk' });
    expect(slot.groupLabels).toEqual({ alertname: 'Disk', cluster: '' });
    expect(slotFor(keyed(['alertname', 'cluster']), { alertname: 'Disk', cluster: '' })).toEqual(slot);
  });

  it('does not depend on the order of the names', () => {
    const labels = { a: '1', b: '2' };
    expect(slotFor(keyed(['a', 'b']), labels).keyHash).toBe(slotFor(keyed(['b', 'a']), labels).keyHash);
  });

  it('holds the names as well as the values', () => {
    const labels = { a: '1' };
    const hashes = [[], ['a'], ['a', 'b'], ['b']].map((names) => slotFor(keyed(names), labels).keyHash);
    expect(new Set(hashes).size).toBe(4);
    expect(keyHash({ a: 'b","c' })).not.toBe(keyHash({ a: 'b', c: '' }));
  });

  it('is 26 characters [a-z2-7] and stays what it is between releases', () => {
    expect(keyHash({})).toMatch(/^[a-z2-7]{26}$/);
    expect(keyHash({ alertname: 'DiskFull', cluster: '' })).toBe('yhxrh55mfu3n3hm7fubh6vnxwp');
  });
});

describe('severity (routes §5)', () => {
  const organization = {
    severityLabel: 'severity',
    severityMapping: [
      { value: 'critical', level: 'critical' as const },
      { value: 'none', level: 'info' as const },
    ],
  };
  it.each([
    [{ severity: 'critical' }, 'critical', null],
    [{ severity: 'none' }, 'info', null],
    [{ severity: 'P5' }, 'warning', 'P5'],
    [{ severity: 'Critical' }, 'warning', 'Critical'],
    [{ severity: '' }, 'info', null],
    [{}, 'info', null],
  ])('of %j is %s, raw %s', (labels, level, raw) => {
    expect(severityOf(labels, organization)).toEqual({ level, raw });
  });
});

describe('Route profiles (routes §3)', () => {
  it('are On-call and Informational', () => {
    const differing = ROUTE_PROFILES.map(({ id, policy }) => ({
      id,
      snooze: policy.snooze_durations_seconds,
      ack: policy.ack_timeout,
      reminders: policy.reminders,
    }));
    expect(differing).toEqual([
      {
        id: 'on_call',
        snooze: [3600, 14400, 86400],
        ack: { enabled: true, first_interval_seconds: 900 },
        reminders: { enabled: true, first_interval_seconds: 14400, cap_seconds: 86400 },
      },
      {
        id: 'informational',
        snooze: [86400, 259200, 604800],
        ack: { enabled: false, first_interval_seconds: 900 },
        reminders: { enabled: false, first_interval_seconds: 14400, cap_seconds: 86400 },
      },
    ]);
  });
});
