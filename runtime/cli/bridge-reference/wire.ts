/** A request and its answer apart from the network that carries them, and the bridge's way of saying no. */

export interface BridgeRequest {
  readonly method: string;
  /** Path and query as they came, still percent-encoded. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  /** Aborted when the caller has gone. */
  readonly gone: AbortSignal;
}

export interface BridgeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The work was done, and the connection ends without an answer. */
  readonly isLost?: true;
}

/** The bridge's inputs from outside; times are milliseconds. */
export interface Ports {
  now(): number;
  /** @returns what calls it off */
  after(ms: number, run: () => void): () => void;
  /** Posts an event to the service. @returns the status; throws when no answer came */
  deliver(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    gone: AbortSignal,
  ): Promise<number>;
}

export const CLASSES = ['transient', 'rate_limited', 'gone', 'forbidden', 'invalid'] as const;
export type ProblemClass = (typeof CLASSES)[number];

export interface ProblemMembers {
  readonly class?: ProblemClass | undefined;
  readonly reason?: string | undefined;
  readonly scope?: string | undefined;
  readonly retry_after?: number | undefined;
}

/** A request that cannot be done; becomes a problem (bridge §2.2). */
export class Refusal extends Error {
  readonly status: number;
  readonly members: ProblemMembers;

  constructor(status: number, detail: string, members: ProblemMembers) {
    super(detail);
    this.status = status;
    this.members = members;
  }
}

/** @param field where in the request it is wrong */
export const invalid = (field: string, why: string): Refusal =>
  new Refusal(400, `${field}: ${why}`, { class: 'invalid' });
export const forbidden = (detail: string): Refusal => new Refusal(403, detail, { class: 'forbidden' });
export const gone = (detail: string, reason?: string): Refusal =>
  new Refusal(410, detail, { class: 'gone', reason });
export const notOffered = (what: string): Refusal =>
  new Refusal(404, `${what} is not offered by this bridge`, { class: 'invalid' });

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  409: 'Conflict',
  410: 'Gone',
  413: 'Too large',
  429: 'Too many requests',
  503: 'Unavailable',
};

export function json(status: number, body: unknown): BridgeAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

export function problem({ status, message, members }: Refusal): BridgeAnswer {
  const { retry_after: retryAfter, ...shown } = members;
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    },
    body: JSON.stringify({
      ...{ type: 'about:blank', title: TITLES[status] ?? 'Error', status },
      ...{ detail: message, ...shown },
    }),
  };
}
