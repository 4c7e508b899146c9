/** The real server on a free port of 127.0.0.1, with everything behind it in memory; and a client that hides nothing. */
import { createHmac, randomBytes } from 'node:crypto';
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { Registry } from 'prom-client';
import { onTestFinished } from 'vitest';
import type { SingleSignOn } from '../actors/access/oidc/sign-in.ts';
import type { RoleName } from '../actors/access/user.ts';
import { CHANNEL_BOT } from '../actors/channels/channel-bot/settings.ts';
import { CHANNELS } from '../actors/channels/index.ts';
import { EMPTY_DIRECTORY } from '../actors/directory.fixture.ts';
import type { HintBus } from '../actors/effects.ts';
import { createHttp, type Http, type HttpDeps } from '../http/index.ts';
import { createHintBus } from '../http/live/hint-bus.ts';
import { describeApi } from '../http/openapi/openapi.ts';
import type { CsrfTokens } from '../http/request/credentials.ts';
import type { ApiDescription } from '../http/resources/system/system.ts';
import type { ListenAddress, Listener } from '../http/server/listeners.ts';
import type { Log } from '../runtime/log.ts';
import type { PublicId } from '../runtime/public-id.ts';
import { type AnswerCheck, answerCheck, machineCheck } from './answer-check.ts';
import { createMemoryAccess, type MemoryAccess, plainPasswords } from './fakes/access-store.ts';
import { createMemoryTokens, type MemoryTokens } from './fakes/api-tokens.ts';
import { createManualClock, type ManualClock } from './fakes/manual-clock.ts';
import { nobodysPeople } from './fakes/people.ts';
import { HTTP_ENGINE } from './harness/prepared.ts';

export interface TestHttp {
  readonly http: Http;
  readonly addresses: Readonly<Record<Listener, ListenAddress>>;
  readonly clock: ManualClock;
  /** What the server works on, unless a test gave it another store. */
  readonly access: MemoryAccess;
  readonly tokens: MemoryTokens;
  readonly hints: HintBus;
  readonly registry: Registry;
  /** Events logged so far. */
  readonly logged: readonly string[];
  /**
   * Sends a request to the app listener unless told otherwise. An answer of the API that its description does not allow
   * fails the call.
   */
  send(method: string, path: string, options?: SendOptions): Promise<Received>;
  /** A new user of the Role, signed in. */
  signIn(role: RoleName, login?: string): Promise<SignedIn>;
}

export interface SendOptions {
  readonly as?: SignedIn;
  /** Sent as JSON; a text or bytes as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly listener?: Listener;
}

export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** As they were sent: compressed, where the answer is. */
  readonly bytes: Buffer;
  /** The body as JSON. */
  readonly json: Readonly<Record<string, unknown>>;
}

export interface SignedIn {
  readonly cookie: string;
  readonly csrf: string;
  readonly userId: PublicId;
}

/** Starts a server that is gone when the test ends. */
export async function startHttp(changes: Partial<HttpDeps> = {}): Promise<TestHttp> {
  const clock = createManualClock();
  const memory = createMemoryAccess();
  const tokens = createMemoryTokens(memory.userOf);
  const hints = createHintBus();
  const registry = new Registry();
  const logged: string[] = [];
  const log: Log = (event) => void logged.push(event);
  const http = await createHttp({
    listen: { app: ANY_PORT, ingest: ANY_PORT, internal: ANY_PORT },
    publicUrl: 'https://tocsin.test',
    ...{ ingestFraming: 'strict', engine: HTTP_ENGINE },
    trustedProxies: [],
    uiFolder: '/nonexistent',
    runbooksFolder: '/nonexistent',
    version: '0.0.0',
    clock,
    log,
    registry,
    random: randomBytes,
    access: memory,
    tokens,
    refusedProofs: { note: () => undefined },
    singleSignOn: noSingleSignOn,
    people: nobodysPeople,
    passwords: plainPasswords,
    csrf: testCsrf,
    directory: { current: () => EMPTY_DIRECTORY, reload: async () => undefined },
    upToDate: async () => undefined,
    hints,
    poke: () => undefined,
    operations: [],
    isUnavailable: () => false,
    readiness: async () => null,
    ingest: { register: () => undefined, stop: async () => undefined },
    callbacks: [
      { callback: CHANNELS.bridge.callback, receiver: { push: async () => ({ status: 401 }) } },
      { callback: CHANNEL_BOT.callback, receiver: { push: async () => ({ status: 401 }) } },
      {
        callback: CHANNELS.chat_server.callback,
        receiver: { push: async () => ({ status: 200, body: '{}' }) },
      },
    ],
    describe: describeWhenAsked,
    ...changes,
  });
  const addresses = await http.start();
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => {
    agent.destroy();
    http.stop();
  });

  const send: TestHttp['send'] = async (method, path, options = {}) => {
    const { listener = 'app' } = options;
    const received = await sendTo(agent, addresses[listener], method, path, options);
    const check = listener === 'app' ? answerCheck(http.operations) : machineCheck;
    judge(check, method, path, received);
    return received;
  };
  const judge = (check: AnswerCheck, method: string, target: string, { status, headers, text }: Received) => {
    const [path = ''] = target.split('?', 1);
    const isJson = /json/.test(headers['content-type'] ?? '');
    check(method, path, {
      status,
      header: (name) => headers[name]?.toString(),
      body: isJson && text !== '' ? JSON.parse(text) : text,
    });
  };
  return {
    http,
    addresses,
    clock,
    access: memory,
    tokens,
    hints,
    registry: changes.registry ?? registry,
    logged,
    send,
    async signIn(role, login = role) {
      const user = memory.addUser(login, role);
      const answer = await send('POST', '/api/v1/sessions', {
        body: { login, password: `password of ${login}` },
      });
      return signedIn(answer, user.id);
    },
  };
}

export function signedIn(answer: Received, userId: PublicId): SignedIn {
  const [cookie = ''] = (answer.headers['set-cookie']?.[0] ?? '').split(';');
  return { cookie, csrf: String(answer.json.csrf_token), userId };
}

/** Most tests never read the description, and to make it takes longer than most tests. */
function describeWhenAsked(...table: Parameters<typeof describeApi>): ApiDescription {
  let made: ApiDescription | null = null;
  const description = () => {
    made ??= describeApi(...table);
    return made;
  };
  return {
    get json() {
      return description().json;
    },
    get yaml() {
      return description().yaml;
    },
    get etag() {
      return description().etag;
    },
  };
}

const ANY_PORT: ListenAddress = { host: '127.0.0.1', port: 0 };

const testCsrf: CsrfTokens = {
  issue: (session) => createHmac('sha256', 'test').update(session).digest('base64url'),
  verify: (session, token) => token === createHmac('sha256', 'test').update(session).digest('base64url'),
};

function sendTo(
  agent: Agent,
  { host, port }: ListenAddress,
  method: string,
  path: string,
  { as, body, headers = {} }: SendOptions,
): Promise<Received> {
  const content = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const sent = {
    ...(as ? { cookie: as.cookie, 'x-csrf-token': as.csrf } : {}),
    ...(content === undefined ? {} : { 'content-type': 'application/json' }),
    ...(content === undefined || 'transfer-encoding' in headers
      ? {}
      : { 'content-length': String(Buffer.byteLength(content)) }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host, port, method, path, headers: sent, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(received(response.statusCode ?? 0, response.headers, chunks)));
    });
    request.on('error', reject);
    request.end(content);
  });
}

function received(status: number, headers: IncomingHttpHeaders, chunks: readonly Buffer[]): Received {
  const bytes = Buffer.concat(chunks);
  const isPacked = headers['content-encoding'] === 'gzip' && bytes.length > 0;
  const text = (isPacked ? gunzipSync(bytes) : bytes).toString();
  return {
    status,
    headers,
    bytes,
    text,
    get json() {
      return JSON.parse(text);
    },
  };
}

const noSingleSignOn: SingleSignOn = {
  buttonName: async () => null,
  depart: async () => ({ outcome: 'not_enabled' }),
  arrive: async () => ({ outcome: 'failed', of: 'sign_in', error: 'oidc_disabled' }),
};
