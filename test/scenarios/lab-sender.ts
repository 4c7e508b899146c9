/** A sender as its Integration sees it: what fires there in each of its groups, and the Snapshots that say so. */
import { formatInstant, type Micros } from '../../runtime/clock.ts';
import type { Json } from '../harness/api.ts';
import { labelsOf } from './notation.ts';

export interface Entry {
  readonly status: 'firing' | 'resolved';
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly fingerprint?: string;
}

export interface Body {
  readonly groupKey: string;
  readonly status?: 'firing' | 'resolved';
  readonly alerts: readonly Entry[];
  readonly truncatedAlerts?: number;
  readonly notification_reason?: string;
}

export class LabSender {
  readonly id: string;
  readonly token: string;
  readonly #ingestUrl: () => string;
  /** When it began, by sender group, then by name. */
  readonly #listed = new Map<string, Map<string, Micros>>();
  /** Labels that differ from those of the name. */
  readonly #labels = new Map<string, Readonly<Record<string, string>>>();
  readonly #annotations = new Map<string, Readonly<Record<string, string>>>();

  constructor(integration: Json, token: string, ingestUrl: () => string) {
    this.id = integration.id;
    this.token = token;
    this.#ingestUrl = ingestUrl;
  }

  /** Alerts of this name have these labels instead. */
  call(name: string, labels: Readonly<Record<string, string>>): void {
    this.#labels.set(name, labels);
  }

  /** Alerts of this name have these annotations from now on. */
  annotate(name: string, annotations: Readonly<Record<string, string>>): void {
    this.#annotations.set(name, annotations);
  }

  /**
   * The next Snapshot of a sender group. `+X1` fires, `-X1` is resolved by the sender, `!X1` is not listed any more, `^X1`
   * started anew without a resolve; what fires besides is listed as well.
   */
  snapshot(group: string, changes: readonly string[], now: Micros): Body {
    const listed = this.#group(group);
    const resolved: Entry[] = [];
    for (const change of changes) {
      const name = change.slice(1);
      const known = listed.get(name);
      if (change.startsWith('+')) {
        listed.set(name, known ?? this.#startOf(name) ?? now);
      } else if (change.startsWith('^')) {
        listed.set(name, now);
      } else {
        listed.delete(name);
        if (change.startsWith('-') && known !== undefined)
          resolved.push(this.#entry(name, known, 'resolved'));
      }
    }
    const firing = [...listed].map(([name, one]) => this.#entry(name, one, 'firing'));
    return {
      groupKey: `{}/{lab="${group}"}:{}`,
      status: firing.length > 0 || resolved.length === 0 ? 'firing' : 'resolved',
      alerts: [...firing, ...resolved],
      truncatedAlerts: 0,
    };
  }

  /** Posts a body and gives the status code. */
  async post(body: Body | string | Uint8Array<ArrayBuffer>, token = this.token): Promise<number> {
    const raw = typeof body === 'string' || body instanceof Uint8Array ? body : bodyText(body);
    const response = await fetch(`${this.#ingestUrl()}/api/v1/ingest`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: raw,
    });
    await response.arrayBuffer();
    return response.status;
  }

  /** A sign of life; the status code. */
  async heartbeat(): Promise<number> {
    const response = await fetch(`${this.#ingestUrl()}/api/v1/heartbeat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.token}` },
    });
    await response.arrayBuffer();
    return response.status;
  }

  /** What an Alert that fires in several groups of the sender started with. */
  #startOf(name: string): Micros | undefined {
    for (const listed of this.#listed.values()) {
      const known = listed.get(name);
      if (known !== undefined) return known;
    }
    return undefined;
  }

  #group(group: string): Map<string, Micros> {
    const known = this.#listed.get(group);
    if (known) return known;
    const made = new Map<string, Micros>();
    this.#listed.set(group, made);
    return made;
  }

  #entry(name: string, startsAt: Micros, status: Entry['status']): Entry {
    const labels = this.#labels.get(name) ?? labelsOf(name);
    const annotations = this.#annotations.get(name) ?? {};
    return { status, labels, annotations, startsAt: formatInstant(startsAt), fingerprint: name };
  }
}

function bodyText(body: Body): string {
  return JSON.stringify({
    version: '4',
    receiver: 'tocsin-lab',
    status: 'firing',
    truncatedAlerts: 0,
    groupLabels: {},
    commonLabels: {},
    commonAnnotations: {},
    externalURL: 'http://am:9093',
    ...body,
    alerts: body.alerts.map((alert) => ({
      annotations: {},
      endsAt: '0001-01-01T00:00:00Z',
      generatorURL: 'http://prom/g',
      ...alert,
    })),
  });
}
