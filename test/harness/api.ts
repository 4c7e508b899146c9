/** A signed-in person at the HTTP API. An answer that the API description does not allow fails the call. */
import { checkedFetch } from './checked-fetch.ts';
import type { Ready } from './tocsin.ts';

export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Json = any;

export class Api {
  readonly #base: string;
  #cookie = '';
  #csrf = '';

  constructor(appUrl: string) {
    this.#base = `${appUrl}/api/v1`;
  }

  /** Signs in with the login and password that the first start printed. */
  static async signIn(ready: Pick<Ready, 'app_url' | 'login' | 'password'>): Promise<Api> {
    const api = new Api(ready.app_url);
    const answer = await api.call('POST', '/sessions', { login: ready.login, password: ready.password });
    if (answer.status !== 201)
      throw new Error(`Sign-in answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    api.#cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0]!;
    api.#csrf = answer.body.csrf_token;
    return api;
  }

  /** Goes on with a session that exists already, by the value of its cookie. */
  static async resume(appUrl: string, cookie: string): Promise<Api> {
    const api = new Api(appUrl);
    api.#cookie = `svc_session=${cookie}`;
    api.#csrf = (await api.get('/sessions/current')).csrf_token;
    return api;
  }

  /** The same session at another replica. */
  at(appUrl: string): Api {
    const api = new Api(appUrl);
    api.#cookie = this.#cookie;
    api.#csrf = this.#csrf;
    return api;
  }

  get cookie(): string {
    return this.#cookie;
  }

  /** @throws when no answer came, within `timeoutMs` where that is given */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    timeoutMs?: number,
  ): Promise<Answer<Json>> {
    const response = await checkedFetch(`${this.#base}${path}`, {
      method,
      ...(timeoutMs !== undefined && { signal: AbortSignal.timeout(timeoutMs) }),
      headers: {
        ...(this.#cookie && { cookie: this.#cookie }),
        ...(this.#csrf && { 'x-csrf-token': this.#csrf }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    const { status, headers: received } = response;
    return { status, headers: received, body: isJson && text ? JSON.parse(text) : text };
  }

  /** GET that must answer 200. */
  async get(path: string): Promise<Json> {
    return this.#expect(200, await this.call('GET', path), `GET ${path}`);
  }

  /** POST that must answer 200, 201 or 204. */
  async post(path: string, body?: unknown): Promise<Json> {
    const answer = await this.call('POST', path, body);
    return this.#expect(
      answer.status >= 200 && answer.status < 300 ? answer.status : 201,
      answer,
      `POST ${path}`,
    );
  }

  /** Reads a resource, applies a change and saves it under the ETag just read. */
  async change(path: string, edit: (resource: Json) => Json): Promise<Json> {
    const read = await this.call('GET', path);
    this.#expect(200, read, `GET ${path}`);
    const saved = await this.call('PUT', path, edit(read.body), {
      'if-match': read.headers.get('etag') ?? '',
    });
    return this.#expect(200, saved, `PUT ${path}`);
  }

  /** Every item of a paged list. */
  async all(path: string): Promise<Json[]> {
    const items: Json[] = [];
    let cursor: string | null = null;
    do {
      const separator = path.includes('?') ? '&' : '?';
      const page: Json = await this.get(`${path}${separator}limit=500${cursor ? `&cursor=${cursor}` : ''}`);
      items.push(...page.items);
      cursor = page.next_cursor;
    } while (cursor);
    return items;
  }

  #expect(status: number, answer: Answer<Json>, what: string): Json {
    if (answer.status === status) return answer.body;
    throw new Error(`${what} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }
}
