/** One request and its answer, as the parts above the socket see them. */
import type { HeaderList } from './headers.ts';
import type { OutputStream } from './operation.ts';

/** Largest body of the app listener, bytes (api §1.2.7); the paths of the ingest listener read their own. */
export const APP_BODY_LIMIT = 1_048_576;

export interface Request {
  /** Upper case. HEAD stays HEAD; the writer leaves the body out. */
  readonly method: string;
  /** As sent: not decoded, without the query. */
  readonly path: string;
  /** What follows the `?`, or an empty text. */
  readonly query: string;
  /** The address of the socket's other end. */
  readonly socketAddress: string;
  /** A header's value by lower-case name, empty where it is sent empty; null when absent. */
  header(name: string): string | null;
  /** The whole body, up to the listener's limit; empty for GET and HEAD. */
  body(): Promise<Body>;
}

export type Body =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  /** Too many bytes of other requests are held at the moment. */
  | { readonly kind: 'no_room' }
  /** The client went away; nobody waits for an answer. */
  | { readonly kind: 'aborted' };

export type Reply =
  | {
      readonly status: number;
      readonly headers: HeaderList;
      /** With 304 only its length is told. */
      readonly content: Buffer | string | null;
    }
  | {
      readonly status: number;
      readonly headers: HeaderList;
      readonly stream: (output: OutputStream) => void;
    };

/** Answers one request; null when the client went away and nothing is to be sent. Never rejects. */
export type Handler = (request: Request) => Promise<Reply | null>;

/** GET answers HEAD, too; neither changes anything. */
export function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
