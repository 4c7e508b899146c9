/** A bare HTTP/1.1 client: one request at a time per connection, as little work per request as possible. */
import { connect, type Socket } from 'node:net';

const HEADER_END = Buffer.from('\r\n\r\n');

export interface Exchange {
  readonly status: number;
}

/** A keep-alive connection that answers each request by callback. */
export class Connection {
  readonly #socket: Socket;
  #pending: Buffer = Buffer.alloc(0);
  #onAnswer: ((status: number) => void) | null = null;
  #onLost: (() => void) | null = null;

  constructor(host: string, port: number) {
    this.#socket = connect(port, host);
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (chunk) => this.#read(chunk));
    this.#socket.on('error', () => this.#lost());
    this.#socket.on('close', () => this.#lost());
  }

  opened(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.once('connect', resolve);
      this.#socket.once('error', reject);
    });
  }

  /** Writes a whole request; exactly one of the callbacks follows. */
  send(request: Buffer, onAnswer: (status: number) => void, onLost: () => void): void {
    this.#onAnswer = onAnswer;
    this.#onLost = onLost;
    this.#socket.write(request);
  }

  close(): void {
    this.#onLost = null;
    this.#socket.destroy();
  }

  #lost(): void {
    const onLost = this.#onLost;
    this.#onLost = null;
    onLost?.();
  }

  #read(chunk: Buffer): void {
    const data = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const headerEnd = data.indexOf(HEADER_END);
    if (headerEnd < 0) {
      this.#pending = data;
      return;
    }
    const header = data.toString('latin1', 0, headerEnd);
    const length = /\r\ncontent-length: *(\d+)/i.exec(header);
    const end = headerEnd + 4 + (length ? Number(length[1]) : 0);
    if (data.length < end) {
      this.#pending = data;
      return;
    }
    this.#pending = data.length === end ? Buffer.alloc(0) : data.subarray(end);
    const onAnswer = this.#onAnswer;
    this.#onAnswer = null;
    onAnswer?.(Number(header.slice(9, 12)));
  }
}

/** The bytes of a POST. */
export function postRequest(url: URL, headers: Readonly<Record<string, string>>, body: Buffer): Buffer {
  const lines = [
    `POST ${url.pathname} HTTP/1.1`,
    `Host: ${url.host}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);
}
