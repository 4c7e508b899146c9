/** One request and its answer above the socket: the client's address, and headers that every answer carries. */
import ipaddr from 'ipaddr.js';
import type { OutputStream } from '../operation.ts';
import type { BodyHold } from './body-budget.ts';

/**
 * Largest body of the app listener and of a callback, bytes (api §1.2 rule 7); webhooks to ingest are read by ingest.
 */
export const APP_BODY_LIMIT = 1_048_576;

/** Largest body of an operation that needs no credentials, bytes (api §1.2 rule 7). */
export const ANONYMOUS_BODY_LIMIT = 16_384;

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
  /** Announced length of the body, bytes: 0 without a body, null for a chunked one. */
  readonly bodyLength: number | null;
  /**
   * The whole body, up to `limit` bytes; empty for GET and HEAD. Must be called before anything is awaited: what
   * arrives and is not collected is discarded. What it holds is counted in `hold` until the answer.
   */
  body(limit: number, hold: BodyHold): Promise<Body>;
}

export type Body =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  /** Too many bytes of other requests are held at the moment. */
  | { readonly kind: 'no_room' }
  /** The client disconnected before the answer. */
  | { readonly kind: 'aborted' };

export type Reply =
  | {
      readonly status: number;
      readonly headers: HeaderList;
      /** With 304 only its length is sent. */
      readonly content: Buffer | string | null;
    }
  | {
      readonly status: number;
      readonly headers: HeaderList;
      readonly stream: (output: OutputStream) => void;
    };

/** Answers one request; null when the client went away and nothing is to be sent. Never rejects. */
export type Handler = (request: Request) => Promise<Reply | null>;

/** The codings of an Accept-Encoding header that are not refused with `q=0`. */
export function acceptedEncodings(header: string | null): ReadonlySet<string> {
  const accepted = new Set(['identity']);
  for (const item of (header ?? '').split(',')) {
    const [coding = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    const refused = parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
    if (coding !== '' && !refused) accepted.add(coding);
  }
  return accepted;
}

/** GET answers HEAD, too; neither changes anything. */
export function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

/** Headers that every answer of the app listener carries (api §1.2 rule 8, ui §1.1). */

export type HeaderList = readonly (readonly [name: string, value: string])[];

const UI_CSP = [
  "default-src 'self'",
  "img-src 'self' data:",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const API_CSP = "default-src 'none'; frame-ancestors 'none'";

export interface SecurityHeaders {
  /** For answers of the API; never cached. */
  readonly api: HeaderList;
  /** For files of the UI; caching is the file's own business. */
  readonly ui: HeaderList;
}

/** @param publicUrl people's address of the service; https turns Strict-Transport-Security on */
export function securityHeaders(publicUrl: string): SecurityHeaders {
  const common: HeaderList = [
    ['X-Content-Type-Options', 'nosniff'],
    ['Referrer-Policy', 'no-referrer'],
    ['X-Frame-Options', 'DENY'],
    ['Cross-Origin-Opener-Policy', 'same-origin'],
    ...(publicUrl.startsWith('https:') ? ([['Strict-Transport-Security', 'max-age=31536000']] as const) : []),
  ];
  return {
    api: [...common, ['Content-Security-Policy', API_CSP]],
    ui: [...common, ['Content-Security-Policy', UI_CSP]],
  };
}

/** Who is calling: the client's address behind trusted proxies (SVC_TRUSTED_PROXIES, operations §1.1). */
type Address = ReturnType<typeof ipaddr.process>;
export type Network = readonly [Address, number];

/** Finds the client's address from the socket's and the X-Forwarded-For header. */
export type ClientAddress = (socket: string, forwardedFor: string | null) => string;

/**
 * @param trusted networks in CIDR notation whose X-Forwarded-For entries are believed
 * @throws {Error} one of them is no network
 */
export function clientAddresses(trusted: readonly string[]): ClientAddress {
  const networks = trusted.map((cidr): Network => ipaddr.parseCIDR(cidr));

  return (socket, forwardedFor) => {
    let known = parse(socket);
    if (!known) return socket;
    const hops = forwardedFor === null ? [] : forwardedFor.split(',').reverse();
    for (const hop of hops) {
      if (!inside(known, networks)) break;
      const next = parse(hop.trim());
      if (!next) break;
      known = next;
    }
    return known.toString();
  };
}

function parse(text: string): Address | null {
  return ipaddr.isValid(text) ? ipaddr.process(text) : null;
}

function inside(address: Address, networks: readonly Network[]): boolean {
  return networks.some((network) => {
    const [base] = network;
    return address.kind() === base.kind() && address.match(network as [Address, number]);
  });
}
