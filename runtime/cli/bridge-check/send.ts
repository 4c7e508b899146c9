/**
 * One request over the network, as it is: no redirects, no retries, no decoding. It does not go through the service's
 * outbound client: an operator typed the address, so no policy guards it, and the checker must see what that client
 * would hide.
 */
import { type ClientRequest, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** @throws when the connection fails or `signal` aborts */
export type Send = (request: SentRequest, signal: AbortSignal) => Promise<RawAnswer>;

const LONGEST_ANSWER = 4 * 1024 * 1024;

export const sendOverNetwork: Send = (sent, signal) =>
  new Promise((resolve, reject) => {
    const request = open(sent, signal);
    request.on('error', reject);
    request.on('response', async (response) => {
      try {
        const chunks: Buffer[] = [];
        let length = 0;
        for await (const chunk of response) {
          length += chunk.length;
          if (length > LONGEST_ANSWER) throw new Error('the answer is longer than 4 MiB');
          chunks.push(chunk);
        }
        const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
        const body = Buffer.concat(chunks).toString('utf8');
        resolve({ status: response.statusCode ?? 0, headers: Object.fromEntries(headers), body });
      } catch (error) {
        reject(error);
      }
    });
    request.end(sent.body ?? undefined);
  });

function open({ method, url, headers, body }: SentRequest, signal: AbortSignal): ClientRequest {
  const length = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const ask = url.startsWith('https:') ? requestHttps : requestHttp;
  // The path goes as it is written: a URL would take encoded dots for steps.
  const [, origin = url, path = '/'] = /^(https?:\/\/[^/]+)(.*)$/.exec(url) ?? [];
  return ask(origin, { method, path, signal, agent: false, headers: { ...headers, ...length } });
}

/** Tokens of the Authorization header. */
export function isToken(text: string): boolean {
  return /^[!-~]{1,512}$/.test(text);
}

/** An absolute http(s) address without user, query and fragment. */
export function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username + password + search + hash === '';
}

/** `whsec_` and the base64 of at least 24 bytes (bridge §1.1). */
export function isPushSecret(text: string): boolean {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? [];
  return base64.length % 4 === 0 && Buffer.from(base64, 'base64').length >= 24;
}
