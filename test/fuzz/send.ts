/** Sends requests of the fuzzer and takes whatever comes back. */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';

/** One request as it can be sent again: with `npm run fuzz -- --replay`. Credentials are added when it is sent. */
export interface Sent {
  readonly to: 'app' | 'ingest' | 'raw';
  readonly as: 'session' | 'token' | 'nobody';
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Base64; of a raw request all of it. */
  readonly body: string;
}

export interface Answered {
  /** 0: the connection ended without an answer. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly bytes: number;
  readonly milliseconds: number;
}

/** Longer than anything may take. */
const PATIENCE_MS = 30_000;
/** What a raw request without an answer gets: many wait for more that never comes. */
const RAW_PATIENCE_MS = 150;
/** Of an answer so much is kept to be looked at. */
const KEPT_CHARACTERS = 300_000;

const agent = new Agent({ keepAlive: true, maxSockets: 16 });

export function sendRequest(
  base: string,
  { method, target, headers, body }: Sent,
  credentials: Readonly<Record<string, string>>,
): Promise<Answered> {
  const { hostname, port } = new URL(base);
  const bytes = Buffer.from(body, 'base64');
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const length = bytes.length > 0 ? { 'content-length': String(bytes.length) } : {};
    const options = {
      ...{ hostname, port, method, path: target, agent, timeout: PATIENCE_MS },
      headers: { ...headers, ...credentials, ...length },
    };
    const sent = request(options, (response) => {
      let text = '';
      let size = 0;
      response.on('data', (piece: Buffer) => {
        size += piece.length;
        if (text.length < KEPT_CHARACTERS) text += piece.toString();
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          ...{ status: response.statusCode ?? 0, headers: response.headers, text, bytes: size },
          milliseconds: performance.now() - began,
        }),
      );
    });
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${PATIENCE_MS} ms`)));
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // A connection that ends under a request that its answer did not wait for.
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') {
        resolve({ status: 0, headers: {}, text: '', bytes: 0, milliseconds: performance.now() - began });
      } else reject(error);
    });
    sent.end(bytes);
  });
}

/** Sends bytes; what came back is the text of all answers. */
export function sendRaw(base: string, { body }: Sent): Promise<Answered> {
  const { hostname, port } = new URL(base);
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    const done = () => {
      socket.destroy();
      const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1] ?? 0);
      resolve({ status, headers: {}, text, bytes: text.length, milliseconds: performance.now() - began });
    };
    const timer = setTimeout(done, RAW_PATIENCE_MS);
    socket.on('data', (piece) => {
      text += piece.toString('latin1');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => {
      clearTimeout(timer);
      done();
    });
    socket.write(Buffer.from(body, 'base64'));
  });
}
