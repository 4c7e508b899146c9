/** A sender of Alertmanager's webhook format. */

export interface SentAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly status?: 'firing' | 'resolved';
  readonly startsAt?: string;
  readonly fingerprint?: string;
}

export interface SentSnapshot {
  readonly groupKey?: string;
  readonly status?: 'firing' | 'resolved';
  readonly alerts: readonly SentAlert[];
  readonly truncatedAlerts?: number;
}

const STARTS_AT = '2026-10-03T09:58:00.123456789Z';

/** The body Alertmanager would post: labels that all alerts share, version 4. */
export function snapshotBody(snapshot: SentSnapshot): string {
  const status =
    snapshot.status ??
    (snapshot.alerts.every((alert) => alert.status === 'resolved') ? 'resolved' : 'firing');
  return JSON.stringify({
    version: '4',
    groupKey: snapshot.groupKey ?? '{}:{alertname="Test"}',
    truncatedAlerts: snapshot.truncatedAlerts ?? 0,
    status,
    receiver: 'tocsin',
    groupLabels: {},
    commonLabels: {},
    commonAnnotations: {},
    externalURL: 'http://alertmanager:9093',
    alerts: snapshot.alerts.map((alert) => ({
      status: alert.status ?? 'firing',
      labels: alert.labels,
      annotations: alert.annotations ?? {},
      startsAt: alert.startsAt ?? STARTS_AT,
      endsAt: '0001-01-01T00:00:00Z',
      generatorURL: 'http://prometheus:9090/graph',
      ...(alert.fingerprint !== undefined && { fingerprint: alert.fingerprint }),
    })),
  });
}

export class Sender {
  readonly #endpoint: string;
  readonly #token: string;

  constructor(endpoint: string, token: string) {
    this.#endpoint = endpoint;
    this.#token = token;
  }

  /** Posts a Snapshot and gives the status code; throws when no answer came. */
  async post(snapshot: SentSnapshot): Promise<number> {
    return this.postRaw(snapshotBody(snapshot));
  }

  async postRaw(
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ): Promise<number> {
    const response = await fetch(this.#endpoint, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json', ...headers },
      body,
    });
    await response.arrayBuffer();
    return response.status;
  }
}
