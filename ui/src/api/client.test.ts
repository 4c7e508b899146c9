import { describe, expect, it } from 'vitest';
import { createApiClient, queryString, type SessionPort } from './client.ts';
import type { Session } from './shapes.ts';

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly csrf: string | null;
  readonly ifMatch: string | null;
}

const session = (csrf_token: string): Session => ({
  user: {
    ...{ id: 'SR1', name: 'Ada', login: 'ada', email: null, role: 'admin', role_locked: false },
    ...{ source: 'local', sign_in_method: 'local', oidc_offline_access: false, status: 'active' },
    ...{ totp_enabled: false, time_zone: null, language: null, last_sign_in_at: null },
    ...{ created_at: '2026-09-01T08:00:00Z', etag: '"1"' },
  },
  state: 'active',
  csrf_token,
  permissions: [],
});

const problem = (status: number, members: object, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify({ type: 'https://tocsin.invalid/problems/x', ...members }), {
    status,
    headers,
  });

function client(answers: (() => Response | Promise<Response>)[]) {
  const sent: Sent[] = [];
  const told: string[] = [];
  let csrf: string | null = 'old';
  const port: SessionPort = {
    csrfToken: () => csrf,
    refreshed: (next) => {
      csrf = next.csrf_token;
    },
    ended: (code) => told.push(`ended ${code}`),
    limited: (code) => told.push(`limited ${code}`),
  };
  const fetchJson: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers);
    sent.push({
      method: init?.method ?? 'GET',
      path: String(input),
      csrf: headers.get('X-CSRF-Token'),
      ifMatch: headers.get('If-Match'),
    });
    const next = answers.shift();
    if (next === undefined) throw new Error('an unexpected request');
    return next();
  };
  return { api: createApiClient(fetchJson, port), sent, told, answers };
}

describe('API client', () => {
  it('sends the CSRF token with changes only, and If-Match where given', async () => {
    const { api, sent } = client([() => Response.json({}), () => Response.json({})]);
    await api.get('/routes');
    await api.put('/routes/RT1', { body: {}, ifMatch: '"3"' });
    expect(sent).toEqual([
      { method: 'GET', path: '/api/v1/routes', csrf: null, ifMatch: null },
      { method: 'PUT', path: '/api/v1/routes/RT1', csrf: 'old', ifMatch: '"3"' },
    ]);
  });

  it('reads the session again after csrf_invalid and repeats the request once', async () => {
    const { api, sent } = client([
      () => problem(403, { code: 'csrf_invalid' }),
      () => Response.json(session('new')),
      () => new Response(null, { status: 204 }),
    ]);
    expect(await api.delete('/routes/RT1')).toEqual({ ok: true, value: null, etag: null });
    expect(sent.map(({ method, csrf }) => [method, csrf])).toEqual([
      ['DELETE', 'old'],
      ['GET', null],
      ['DELETE', 'new'],
    ]);
  });

  it('does not repeat a second time', async () => {
    const { api, sent } = client([
      () => problem(403, { code: 'csrf_invalid' }),
      () => Response.json(session('new')),
      () => problem(403, { code: 'csrf_invalid' }),
    ]);
    expect(await api.post('/x')).toMatchObject({ ok: false, problem: { code: 'csrf_invalid' } });
    expect(sent).toHaveLength(3);
  });

  it('tells when the session ended or is limited', async () => {
    const { api, told } = client([
      () => problem(401, { code: 'session_expired' }),
      () => problem(403, { code: 'totp_required' }),
    ]);
    await api.get('/a');
    await api.get('/b');
    expect(told).toEqual(['ended session_expired', 'limited totp_required']);
  });

  it('makes a problem of everything that is not an answer', async () => {
    const { api } = client([
      () => Promise.reject(new TypeError('network')),
      () => new Response('<html>', { status: 502 }),
      () => problem(503, {}, { 'Retry-After': '7' }),
    ]);
    expect(await api.get('/a')).toMatchObject({ problem: { status: 0, type: 'unreachable' } });
    expect(await api.get('/b')).toMatchObject({ problem: { status: 502, type: 'unknown' } });
    expect(await api.get('/c')).toMatchObject({ problem: { status: 503, retryAfterSeconds: 7 } });
  });

  it('reads field errors with their pointers and leaves out what is malformed', async () => {
    const errors = [{ pointer: '/name', code: 'required', detail: 'x' }, { pointer: 3 }, null];
    const { api } = client([() => problem(422, { errors })]);
    expect(await api.post('/routes')).toMatchObject({
      problem: { errors: [{ pointer: '/name', code: 'required', detail: 'x', line: null, column: null }] },
    });
  });
});

it('repeats array parameters and leaves out what is empty', () => {
  const query = { status: ['firing', 'snoozed'], q: '', owner: null, urgent: true, route: [], limit: 50 };
  expect(queryString(query)).toBe('?status=firing&status=snoozed&urgent=true&limit=50');
});
