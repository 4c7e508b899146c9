/** What holds of every operation of the API, whoever calls it and however. */
import { describe, expect, test } from 'vitest';
import { otherOperations, pathOf } from '../test/every-operation.ts';
import { type Received, type SendOptions, startHttp } from '../test/http-server.ts';
import type { Operation } from './operation.ts';

/** Signing out ends the session that the next request needs; the stream never ends. */
const ENDS_THE_TEST: readonly string[] = ['deleteCurrentSession', 'deleteMySessions', 'streamLiveUpdates'];

async function start() {
  const server = await startHttp({ operations: otherOperations() });
  const admin = await server.signIn('admin');
  const operations = server.http.operations.filter(({ id }) => !ENDS_THE_TEST.includes(id));
  /** The answer to every operation, by its id. */
  const ask = async (options: SendOptions, query = ''): Promise<ReadonlyMap<string, Received>> => {
    const answers = new Map<string, Received>();
    for (const operation of operations) {
      const target = `${pathOf(operation)}${query}`;
      answers.set(operation.id, await server.send(operation.method, target, options));
    }
    return answers;
  };
  return { ...server, admin, operations, ask };
}

const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'strict-transport-security': 'max-age=31536000',
};

describe('every answer of the API', () => {
  test('carries the security headers and is never cached', async () => {
    const { admin, ask, send } = await start();
    expect((await send('GET', '/api/v1/nothing')).headers).toMatchObject(HEADERS);
    for (const options of [{ as: admin }, {}]) {
      for (const [id, { headers }] of await ask(options)) {
        expect([id, headers]).toMatchObject([id, HEADERS]);
      }
    }
  });

  test('with a body names its type, and the charset where that is a text', async () => {
    const { admin, ask } = await start();
    for (const options of [{ as: admin }, {}]) {
      for (const [id, { text, headers }] of await ask(options)) {
        const type = headers['content-type'] ?? '';
        const isNamed = /^application\/(problem\+)?(json|yaml)$|; charset=utf-8$/.test(type);
        expect([id, text === '' || isNamed]).toEqual([id, true]);
      }
    }
  });

  test.each(['null', 'https://evil.example', 'https://tocsin.test'])(
    'is the same whatever the Origin says (%s), and opens nothing to other sites',
    async (origin) => {
      const { admin, ask } = await start();
      const plain = await ask({ as: admin });
      for (const [id, { status, headers }] of await ask({ as: admin, headers: { origin } })) {
        expect([id, status]).toEqual([id, plain.get(id)?.status]);
        expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
      }
    },
  );
});

test('every query parameter that takes one value is refused when it is given twice', async () => {
  const { admin, send, operations } = await start();
  const tried: string[] = [];
  for (const operation of operations) {
    const { query, takesAnyQuery, id, method } = operation;
    if (!query || takesAnyQuery || !('entries' in query)) continue;
    for (const [name, entry] of Object.entries(query.entries as Record<string, Described>)) {
      if (takesMany(entry)) continue;
      const answer = await send(method, `${pathOf(operation)}?${name}=1&${name}=2`, { as: admin });
      const { errors = [] } = answer.json as { errors?: { pointer: string }[] };
      const named = errors.some(({ pointer }) => pointer === `/query/${name}`);
      expect([id, name, answer.status, named]).toEqual([id, name, 400, true]);
      tried.push(`${id} ${name}`);
    }
  }
  expect(tried.length).toBeGreaterThan(60);
});

interface Described {
  readonly type: string;
  readonly wrapped?: Described;
  readonly pipe?: readonly Described[];
}

function takesMany({ type, wrapped, pipe = [] }: Described): boolean {
  return (
    type === 'array' ||
    (wrapped !== undefined && takesMany(wrapped)) ||
    pipe.some((part) => part.type === 'array')
  );
}

test('a session and a token count in their headers only, never in the address', async () => {
  const { admin, tokens, access, operations, send } = await start();
  const session = admin.cookie.replace('svc_session=', '');
  const token = tokens.issuePersonal(access.addUser('ann', 'admin').id, ['users:read']);
  const query = ['svc_session', 'session', 'token', 'access_token'].map((name) => `${name}=${session}`);
  for (const operation of operations.filter(({ needs }) => needs !== 'none')) {
    const target = `${pathOf(operation)}?${query.join('&')}&authorization=Bearer%20${token}`;
    expect([operation.id, (await send(operation.method, target)).status]).toEqual([operation.id, 401]);
  }
});

test('where the credentials cannot be judged, no operation is carried out', async () => {
  const handled: string[] = [];
  const watched = otherOperations().map((part) =>
    part.map((operation): Operation => {
      const handle: Operation['handle'] = async () => {
        handled.push(operation.id);
        return { status: 204 };
      };
      return { ...operation, handle };
    }),
  );
  const { http, access, send, signIn } = await startHttp({ operations: watched });
  const admin = await signIn('admin');
  const { status } = await send('GET', '/api/v1/routes', { as: admin });
  expect([status, handled]).toEqual([204, ['listRoutes']]);
  Object.assign(access.sessions, { find: () => Promise.reject(new Error('the store is broken')) });
  for (const operation of http.operations.filter(({ needs }) => needs !== 'none')) {
    const answer = await send(operation.method, pathOf(operation), { as: admin });
    expect([operation.id, answer.status]).toEqual([operation.id, 500]);
  }
  expect(handled).toEqual(['listRoutes']);
});
