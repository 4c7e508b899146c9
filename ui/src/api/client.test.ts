import { describe, expect, it } from 'vitest';
import { type ClientDeps, createApiClient, isSame, queryString, type SessionPort } from './client.ts';
import type { Session } from './shapes.ts';

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly csrf: string | null;
  readonly ifMatch: string | null;
}

const session = (csrf_token: string, id = 'SR1'): Session => ({
  user: {
    ...{ id, name: 'Ada', login: 'ada', email: null, role: 'admin', role_locked: false },
    ...{ source: 'local', sign_in_method: 'local', oidc_offline_access: false, status: 'active' },
    ...{ totp_enabled: false, time_zone: null, language: null, last_sign_in_at: null },
    ...{ created_at: '2026-09-01T08:00:00Z', etag: '"1"' },
  },
  state: 'active',
  csrf_token,
  method: 'local',
  expires_at: '2026-10-01T08:00:00Z',
  idle_expires_at: '2026-09-08T08:00:00Z',
  permissions: [],
});

const problem = (status: number, members: object, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify({ type: 'https://tocsin.invalid/problems/x', ...members }), {
    status,
    headers,
  });

function client(answers: (() => Response | Promise<Response>)[], deps: Partial<ClientDeps> = {}) {
  const sent: Sent[] = [];
  const told: string[] = [];
  let csrf: string | null = 'old';
  const port: SessionPort = {
    csrfToken: () => csrf,
    refreshed: (next) => {
      csrf = next.csrf_token;
      return next.user.id === 'SR1';
    },
    ended: (code) => told.push(`ended ${code}`),
    limited: (code) => told.push(`limited ${code}`),
  };
  /** Bounds of the requests on their way, in ms, and what happens at each. */
  const timers = new Map<() => void, number>();
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
    const aborted = new Promise<never>((_, reject) => {
      init?.signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
    });
    return Promise.race([next(), aborted]);
  };
  const api = createApiClient({
    fetch: fetchJson,
    session: port,
    isAway: async () => false,
    timers: {
      set(run, ms) {
        timers.set(run, ms);
        return run;
      },
      clear: (timer) => void timers.delete(timer as () => void),
    },
    ...deps,
  });
  const timeOut = () => {
    for (const run of timers.keys()) run();
  };
  return { api, sent, told, answers, timers, timeOut };
}

describe('API client', () => {
  it.each([
    ['no connection', () => Promise.reject(new TypeError('network'))],
    ['502 of a proxy', () => new Response('<html>', { status: 502 })],
    ['an empty answer of a proxy', () => new Response('')],
    ['an answer of a proxy that is no object', () => Response.json('maintenance')],
  ])('answers reads with what was kept after %s, and counts that as no answer', async (_, lost) => {
    const said: number[] = [];
    const kept = { answer: async (name: string) => ({ at: 5_000, body: name }) };
    const { api } = client([lost, lost, lost], { kept, gotKept: (at) => said.push(at) });
    const over = api.watchReads();
    const read = api.get('/routes', { query: { limit: 2 } });
    expect(await over()).toBe(false);
    expect(await read).toMatchObject({ ok: true, value: '/routes?limit=2', isKept: true });
    expect(await api.get('/alert-groups', { keptAs: 'open' })).toMatchObject({ value: 'open' });
    expect((await api.post('/routes')).ok).toBe(false);
    expect(said).toEqual([5_000, 5_000]);
  });

  it('gives nothing that was kept once the service answered, whatever it was', async () => {
    const kept = { answer: async () => ({ at: 5_000, body: {} }) };
    const lost = () => Promise.reject(new TypeError('network'));
    const { api } = client([() => problem(503, {}), lost], { kept });
    expect((await api.get('/routes')).ok).toBe(false);
    expect((await api.get('/routes')).ok).toBe(false);
  });

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

  it('repeats nothing in the name of somebody else who signed in meanwhile', async () => {
    const { api, sent } = client([
      () => problem(403, { code: 'csrf_invalid' }),
      () => Response.json(session('new', 'SR2')),
    ]);
    expect(await api.post('/alert-groups/AG1/resolve')).toMatchObject({ problem: { code: 'csrf_invalid' } });
    expect(sent.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  it('repeats what a session before was refused when the same person has signed in anew meanwhile', async () => {
    const { api, sent, told } = client([
      () => problem(401, {}),
      () => Response.json(session('new')),
      () => Response.json({ done: true }),
    ]);
    expect(await api.post('/x')).toMatchObject({ ok: true, value: { done: true } });
    expect(sent.map(({ method, csrf }) => [method, csrf])).toEqual([
      ['POST', 'old'],
      ['GET', null],
      ['POST', 'new'],
    ]);
    expect(told).toEqual([]);
  });

  it('ends no session because an earlier one was refused after somebody else has signed in', async () => {
    const { api, sent, told } = client([() => problem(401, {}), () => Response.json(session('new', 'SR2'))]);
    expect(await api.get('/x')).toMatchObject({ ok: false, problem: { status: 401 } });
    expect(sent.map(({ path }) => path)).toEqual(['/api/v1/x', '/api/v1/sessions/current']);
    expect(told).toEqual([]);
  });

  it('asks for no session after a wrong password or code', async () => {
    const { api, sent, told } = client([() => problem(401, { code: 'invalid_credentials' })]);
    await api.post('/me/password');
    expect(sent).toHaveLength(1);
    expect(told).toEqual(['ended invalid_credentials']);
  });

  it('tells when the session ended or is limited', async () => {
    const { api, told } = client([
      () => problem(401, { code: 'session_expired' }),
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
      problem: { errors: [{ pointer: '/name', code: 'required', detail: 'x' }] },
    });
  });
});

describe('a request without an answer', () => {
  const never = () => new Promise<Response>(() => undefined);
  const cut = () =>
    new Response(new ReadableStream({ start: (body) => body.error(new TypeError('network')) }));

  it.each([
    ['a read', 'get', {}, 35_000],
    ['a change', 'post', {}, 15_000],
    ['a change for which others are called', 'put', { long: true }, 100_000],
  ] as const)('of %s is given up in time', async (_, method, options, ms) => {
    const { api, timers, timeOut } = client([never]);
    const answer = api[method]('/x', options);
    await Promise.resolve();
    await Promise.resolve();
    expect([...timers.values()]).toEqual([ms]);
    timeOut();
    expect(await answer).toMatchObject({ ok: false, problem: { status: 0 } });
    expect(timers.size).toBe(0);
  });

  it.each([
    ['no connection, or one that broke', () => Promise.reject(new TypeError('network'))],
    ['an answer that broke off', cut],
    ['a page of something in between', () => new Response('<html>')],
    ['an empty answer that is not 204', () => new Response('')],
    ['502 of a proxy', () => new Response('<html>', { status: 502 })],
    ['504 of a proxy', () => new Response('<html>', { status: 504 })],
  ])('is of unknown outcome when it changes something: %s', async (_, answer) => {
    expect(await client([answer]).api.post('/x')).toMatchObject({
      ok: false,
      problem: { type: 'unanswered' },
    });
  });

  it.each([
    ['a read', 'get', {}],
    ['a preview', 'post', { harmless: true }],
  ] as const)('is no more than unreachable when it changes nothing: %s', async (_, method, options) => {
    expect(await client([cut]).api[method]('/x', options)).toMatchObject({
      problem: { type: 'unreachable' },
    });
  });

  it('a refusal of the service itself is a refusal', async () => {
    const { api } = client([() => problem(504, { code: 'internal' })]);
    expect(await api.post('/x')).toMatchObject({ problem: { type: 'x', code: 'internal' } });
  });
});

describe('while the service is known to be away', () => {
  it('a change is refused without being sent; what changes nothing is tried', async () => {
    const { api, sent } = client([() => Response.json({}), () => Response.json({})], {
      isAway: async () => true,
    });
    expect(await api.post('/alert-groups/AG1/acknowledge')).toMatchObject({ problem: { type: 'not-sent' } });
    expect(sent).toEqual([]);
    await api.get('/routes');
    await api.post('/template-previews', { harmless: true });
    expect(sent).toHaveLength(2);
  });
});

describe('the reads that began since', () => {
  it('are watched until they are over, without those that began before', async () => {
    const { api } = client([
      () => new Promise(() => undefined),
      () => Response.json({}),
      () => Response.json({}),
    ]);
    void api.get('/begun-before');
    const over = api.watchReads();
    void api.get('/a');
    void api.get('/b');
    expect(await over()).toBe(true);
  });

  it.each([
    [400, true],
    [401, true],
    [403, true],
    [404, true],
    [408, false],
    [429, false],
    [500, false],
    [502, false],
    [503, false],
    [504, false],
  ])('count as answered by %i: %s', async (status, answered) => {
    const { api } = client([
      () => Response.json({}),
      () => problem(status, {}),
      // Asked whether the session is over.
      () => problem(status, {}),
    ]);
    const over = api.watchReads();
    void api.get('/a');
    void api.get('/b');
    expect(await over()).toBe(answered);
  });

  it('that nobody waits for any more are given up, say nothing, and are sent no more', async () => {
    const { api, sent } = client([() => new Promise<Response>(() => undefined)]);
    const over = api.watchReads();
    const left = new AbortController();
    const answer = api.get('/a', { signal: left.signal });
    left.abort();
    expect(await answer).toMatchObject({ ok: false, problem: { type: 'unreachable' } });
    void api.get('/a', { signal: left.signal });
    expect(await over()).toBe(true);
    expect(sent).toHaveLength(1);
  });

  it('are waited for, too, where they began after one that got no answer', async () => {
    let answerLater: (response: Response) => void = () => undefined;
    const { api } = client([
      () => Promise.reject(new TypeError('network')),
      () => new Promise<Response>((resolve) => (answerLater = resolve)),
    ]);
    const over = api.watchReads();
    const lost = api.get('/a');
    const ended = over();
    const late = api.get('/b');
    await lost;
    // A loop that waits for nothing would keep this from ever running.
    setTimeout(() => answerLater(Response.json({})), 0);
    expect(await ended).toBe(false);
    expect((await late).ok).toBe(true);
  });

  it.each([
    ['no connection', () => Promise.reject(new TypeError('network'))],
    ['a page of something in between', () => new Response('<html>')],
    ['an empty answer', () => new Response('')],
    ['204', () => new Response(null, { status: 204 })],
    ['502 of a proxy', () => new Response('<html>', { status: 502 })],
  ])('are not answered by %s', async (_, answer) => {
    const { api } = client([answer]);
    const over = api.watchReads();
    void api.get('/a');
    expect(await over()).toBe(false);
  });
});

it('repeats array parameters and leaves out what is empty', () => {
  const query = { status: ['firing', 'snoozed'], q: '', owner: null, urgent: true, route: [], limit: 50 };
  expect(queryString(query)).toBe('?status=firing&status=snoozed&urgent=true&limit=50');
});

describe('two answers', () => {
  const row = (
    owner: unknown,
    labels: object = { pod: 'a' },
    links: readonly unknown[] = [1, { to: 'x' }],
  ) => ({
    id: 'AG1',
    owner,
    labels,
    links,
  });

  it('answers that say the same are the same, whatever the order of their fields', () => {
    expect(isSame(row(null), row(null))).toBe(true);
    expect(isSame(row({ id: 'U1', name: 'Ada' }), row({ name: 'Ada', id: 'U1' }))).toBe(true);
  });

  it.each([
    ['a field that was empty', row(null), row({ id: 'U1' })],
    ['a value below', row({ id: 'U1' }), row({ id: 'U2' })],
    ['a field that is gone', row(null, { pod: 'a', zone: 'b' }), row(null, { pod: 'a' })],
    ['a field with another name', row(null, { pod: undefined }), row(null, { zone: undefined })],
    ['a longer list', row(null, {}, [1]), row(null, {}, [1, 2])],
    ['another order of a list', row(null, {}, [1, 2]), row(null, {}, [2, 1])],
  ])('%s makes them differ', (_, one, other) => {
    expect(isSame(one, other)).toBe(false);
    expect(isSame(other, one)).toBe(false);
  });
});
