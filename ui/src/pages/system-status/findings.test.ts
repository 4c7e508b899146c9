import { describe, expect, it } from 'vitest';
import type { SystemStatus } from '../../api/system.ts';
import { findingsOf } from './findings.ts';
import { calmStatus, troubledStatus } from './status.fixture.ts';

const codes = (status: SystemStatus) => findingsOf(status).map(({ code }) => code);
const calm = calmStatus();
const { coordination } = calm;
const waiting = (seconds: number) => ({
  waiting: 3,
  oldest_at: new Date(Date.parse(coordination.read_at) - seconds * 1_000).toISOString(),
});

describe('findings', () => {
  it('are none while everything works, with or without Redis', () => {
    expect(codes(calm)).toEqual([]);
    const single = { ...coordination, mode: 'single', redis_up: null } as const;
    expect(codes({ ...calm, coordination: single })).toEqual([]);
  });

  it('begin with the gravest and point at sections that are on the page', () => {
    const findings = findingsOf(troubledStatus());
    expect(findings.map(({ code }) => code)).toEqual([
      'no_leader',
      'without_owner',
      'redis_away',
      'broken',
      'failing',
      'snapshots_wait',
      'messages_wait',
      'integrations',
      'templates',
      'storms',
      'heartbeat_failed',
      'versions_differ',
      'recovering',
    ]);
    expect(findings.findLastIndex(({ isGrave }) => isGrave)).toBeLessThan(
      findings.findIndex(({ isGrave }) => !isGrave),
    );
  });

  it('count an Integration once, whatever is the matter with it', () => {
    const status = troubledStatus();
    const [first] = status.integrations_attention;
    const integrations_attention = (['snapshot_truncated', 'snapshot_failed'] as const).map((issue) => ({
      ...first!,
      issue,
    }));
    const findings = findingsOf({ ...status, integrations_attention });
    expect(findings.find(({ code }) => code === 'integrations')?.count).toBe(1);
  });

  it('name Destinations whose every call fails: gravely after a minute', () => {
    const failing = (seconds: number) => ({
      ...{ destination: { id: `DS${seconds}`, name: 'Relay' }, error: 'answered 503', waiting: 1 },
      since: new Date(Date.parse(coordination.read_at) - seconds * 1_000).toISOString(),
    });
    const graveness = (...seconds: number[]) =>
      findingsOf({ ...calm, failing_destinations: seconds.map(failing) }).map(
        ({ code, count, isGrave }) => `${code} ${count} ${isGrave}`,
      );
    expect(graveness(59)).toEqual(['failing 1 false']);
    expect(graveness(61, 62, 5)).toEqual(['failing 2 true', 'failing 1 false']);
  });

  it('leave out what only passes through a queue, and deliveries that wait for their turn', () => {
    const queues = { snapshots: waiting(59), inbox: waiting(61) };
    const busy = { ...coordination, queues };
    const queued = { destination: { id: 'DS1', name: 'Relay' }, queued: 5 };
    expect(codes({ ...calm, coordination: busy, delivery_queues: [queued] })).toEqual(['messages_wait']);
  });
});
