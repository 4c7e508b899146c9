/** The Request log of the mock: every kind of outcome, and text that a receiver should not be believed. */
import type { RequestDetail } from '../src/api/records.ts';

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

const OUTCOMES = [
  { status: 204, error_class: null, error_code: null, error: null },
  {
    status: 503,
    error_class: 'retry_after',
    error_code: 'http_status',
    error: 'answered 503, asked to wait 30 s',
  },
  {
    status: null,
    error_class: 'transient',
    error_code: 'connect_timeout',
    error: 'no connection within 5 s',
  },
  { status: 401, error_class: 'fatal', error_code: 'http_status', error: 'answered 401: who are you' },
  {
    status: null,
    error_class: 'blocked',
    error_code: 'policy_blocked',
    error: 'refused by the outbound policy: 169.254.169.254 link_local (always)',
  },
  {
    status: 302,
    error_class: 'redirect',
    error_code: 'redirect_refused',
    error: 'redirect to https://login.example/ not followed',
  },
] as const;

export function mockRequests(destination: {
  readonly id: string;
  readonly name: string;
}): readonly RequestDetail[] {
  return Array.from({ length: 18 }, (_, index): RequestDetail => {
    const outcome = OUTCOMES[index % OUTCOMES.length]!;
    const isAnswered = outcome.status !== null;
    return {
      id: `RQ0000000000${String(index).padStart(2, '0')}`,
      at: minutesAgo(index * 7),
      direction: 'outbound',
      operation: 'event',
      method: 'POST',
      url: 'https://relay.example.org/in?key=[redacted]',
      latency_ms: 38 * (index + 1),
      via: index % 3 === 2 ? 'proxy' : 'direct',
      attempt: 1 + (index % 4),
      ...outcome,
      check: index === 4 ? 'probe' : null,
      check_run: null,
      connection_id: null,
      destination,
      alert_group: index === 7 ? null : { id: 'AG000000001200', number: 1_200 },
      request_body_bytes: 921,
      request_body_truncated: index === 1,
      response_body_bytes: isAnswered ? 33 : null,
      response_body_truncated: false,
      request_headers: [
        { name: 'Authorization', value: 'Bearer [redacted]' },
        { name: 'Content-Type', value: 'application/json' },
        { name: 'webhook-signature', value: 'v1,xpnab1aI…' },
      ],
      request_body: JSON.stringify({ version: 1, event: 'created', notify: true, token: '[redacted]' }),
      response_headers: isAnswered ? [{ name: 'Content-Type', value: 'text/html' }] : null,
      response_body: isAnswered ? '<script>alert("no")</script>busy' : null,
    };
  });
}
