/** The Audit log of the mock: every kind of actor, a long value, and names that should not be believed. */
import type { AuditEntry } from '../src/api/records.ts';

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
const ADA = { kind: 'user', id: 'SR000000000001', name: 'Ada Lovelace' } as const;
const COMMON = { token_id: null, token_name: null, transport: 'ui', address: '203.0.113.9' } as const;

const ENTRIES: readonly AuditEntry[] = [
  {
    ...COMMON,
    id: 'AE000000000001',
    at: ago(3),
    actor: ADA,
    action: 'route.updated',
    resource_type: 'route',
    resource_id: 'RT000000000001',
    resource_name: 'Payments <b>',
    diff: [
      { pointer: '/matchers', before: [{ label: 'team', op: '=', value: 'pay' }], after: [] },
      { pointer: '/name', before: 'Pay', after: 'Payments <b>' },
      { pointer: '/template', before: null, after: 'A long template. '.repeat(60) },
    ],
    details: {},
  },
  {
    ...COMMON,
    id: 'AE000000000002',
    at: ago(50),
    actor: { kind: 'service_account', id: 'SA000000000001', name: 'terraform' },
    token_id: 'ST000000000001',
    token_name: 'ci',
    transport: 'api',
    action: 'destination.updated',
    resource_type: 'destination',
    resource_id: 'DS000000000001',
    resource_name: 'Phone relay',
    diff: [{ pointer: '/secrets/token', secret_changed: true }],
    details: {},
  },
  {
    ...COMMON,
    id: 'AE000000000003',
    at: ago(400),
    actor: { kind: 'system', id: null, name: 'system' },
    transport: 'system',
    action: 'session.sign_in_failed',
    resource_type: 'session',
    resource_id: null,
    resource_name: null,
    diff: [],
    details: { login: 'root', address: '203.0.113.9', reason: 'unknown_login' },
  },
  {
    ...COMMON,
    id: 'AE000000000004',
    at: ago(3_000),
    actor: { kind: 'cli', id: null, name: 'on-call' },
    transport: 'cli',
    address: null,
    action: 'lamp.rubbed',
    resource_type: 'lamp',
    resource_id: null,
    resource_name: null,
    diff: [],
    details: {},
  },
];

export function mockAuditLog(query: URLSearchParams): readonly AuditEntry[] {
  const fits = (name: string, value: string | null) => !query.get(name) || query.get(name) === value;
  return ENTRIES.filter(
    (entry) =>
      fits('actor', entry.actor.id) &&
      fits('action', entry.action) &&
      fits('resource_type', entry.resource_type) &&
      fits('resource_id', entry.resource_id),
  );
}
