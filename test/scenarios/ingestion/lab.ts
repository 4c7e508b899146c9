/** The notation of ingestion §15: `T [A+ B+]; +60 K2 Z [A-]`, and what became of each Alert. */
import { expect } from 'vitest';
import { type Micros, parseInstant, SECOND } from '../../../runtime/clock.ts';
import type { Json } from '../../harness/api.ts';
import type { Body, Entry, LabSender } from '../lab-sender.ts';
import type { Scenario, ScenarioOptions } from '../scenario.ts';

/** The Integration of the examples. */
export const LAB: ScenarioOptions = {
  integration: { static_labels: { cluster: 'b' } },
  // Nothing but what Snapshots do.
  policy: {
    ack_timeout: { enabled: false, first_interval_seconds: 900 },
    reminders: { enabled: false, first_interval_seconds: 14_400, cap_seconds: 86_400 },
  },
};

export const K1 = '{}/{team="db"}:{alertname="DiskFull"}';
export const K2 = '{}/{team="web"}:{alertname="DiskFull"}';
/** Another group of K1's route path. */
const K3 = '{}/{team="db"}:{alertname="SlowQueries"}';
const GROUP_KEYS: Readonly<Record<string, string>> = { K1, K2, K3 };

/** Start of an Alert's nth firing. */
const STARTS = ['2026-10-03T09:58:00.123456789Z', '2026-10-03T09:59:00Z', '2026-10-03T10:00:00Z'];
const FINGERPRINTS: Readonly<Record<string, string>> = {
  A: 'fc707b82f8a85e05',
  B: 'fc7a7b82f8b0b28a',
  C: 'fc767b82f8acc9b3',
};

/** Labels of A, B, C … and of N1, N2 … by the instance they are about. */
export function diskFull(name: string): Record<string, string> {
  return { alertname: 'DiskFull', instance: `db-${name.toLowerCase()}` };
}

export function fingerprintOf(name: string): string {
  return FINGERPRINTS[name] ?? name.toLowerCase();
}

/** `N1+ N2+ …`. */
export function many(count: number, sign = '+', from = 1): string {
  return Array.from({ length: count }, (_, index) => `N${from + index}${sign}`).join(' ');
}

export class Lab {
  readonly s: Scenario;
  /** Everything sent so far, in order: what a replay repeats. */
  readonly sent: Body[] = [];
  readonly #labels = new Map<string, Record<string, string>>();
  readonly #annotations = new Map<string, Record<string, string>>();

  constructor(scenario: Scenario) {
    this.s = scenario;
  }

  get sender(): LabSender {
    return this.s.sender();
  }

  /** From now on the Alert comes with these labels, or annotations. */
  labels(name: string, labels: Record<string, string>): void {
    this.#labels.set(name, labels);
  }

  summary(name: string, summary: string): void {
    this.#annotations.set(name, { summary });
  }

  /** Time since T, in seconds. */
  async at(seconds: number, step?: Micros): Promise<void> {
    await this.s.world.passTo(this.s.begin + seconds * SECOND, step);
  }

  /** Sends a sequence, each Snapshot at its time. */
  async plays(sequence: string): Promise<void> {
    for (const statement of sequence.split(';')) {
      const match = /^\s*(T|\+\d+)\s*((?:[A-Z]\d?|t1|\s)*)\[([^\]]*)\]\s*$/.exec(statement);
      if (!match) throw new Error(`${statement} is no Snapshot`);
      const [, time = 'T', words = '', entries = ''] = match;
      await this.at(time === 'T' ? 0 : Number(time));
      await this.post(this.body(words.split(/\s+/).filter(Boolean), entries.split(/\s+/).filter(Boolean)));
    }
  }

  async post(body: Body): Promise<void> {
    this.sent.push(body);
    expect(await this.sender.post(body)).toBe(202);
    await this.s.world.settle();
  }

  body(words: readonly string[], entries: readonly string[]): Body {
    const key = words.find((word) => word in GROUP_KEYS) ?? 'K1';
    const reason = reasonOf(words);
    return {
      groupKey: GROUP_KEYS[key] ?? K1,
      status: words.includes('Z') ? 'resolved' : 'firing',
      truncatedAlerts: words.includes('t1') ? 1 : 0,
      ...(reason && { notification_reason: reason }),
      alerts: entries.map((entry) => this.#entry(entry)),
    };
  }

  #entry(text: string): Entry {
    const match = /^([A-Z]\d*?)([+-])(\d?)$/.exec(text);
    if (!match) throw new Error(`${text} is no entry`);
    const [, name = '', sign, firing] = match;
    return {
      status: sign === '-' ? 'resolved' : 'firing',
      labels: this.#labels.get(name) ?? diskFull(name),
      annotations: this.#annotations.get(name) ?? { summary: 'disk' },
      startsAt: STARTS[Number(firing || 0)] ?? '',
      fingerprint: fingerprintOf(name),
    };
  }

  // What came of it

  /** Alerts of the Integration by name. */
  async alerts(): Promise<Map<string, Json>> {
    const items = await this.s.admin.all(`/integrations/${this.sender.id}/alerts`);
    return new Map(items.map((alert) => [nameOf(alert.fingerprint), alert]));
  }

  /** `A: firing`, `B: resolved +60 gone`. */
  async states(): Promise<string[]> {
    const alerts = [...(await this.alerts())].sort(([left], [right]) => left.localeCompare(right));
    return alerts.map(([name, alert]) => `${name}: ${this.#state(alert)}`);
  }

  #state({ state, resolved_at: at, resolve_reason: reason }: Json): string {
    if (state === 'firing') return state;
    return `${state} +${this.since(at)} ${reason}`;
  }

  /** Seconds since T, to the millisecond: what is due at once is done a microsecond later. */
  since(instant: string): number {
    return Math.round(((parseInstant(instant) ?? 0) - this.s.begin) / 1_000) / 1_000;
  }

  /** What the newest processed Snapshot did, as the log says it. */
  last(): Json {
    return this.s.logged('snapshot_processed').at(-1);
  }

  /** Events of #1, with seconds since T: `+60 alert_resolved`. */
  async events(number = 1): Promise<string[]> {
    return (await this.s.lifecycle(number)).map(({ at, event }) => `+${this.since(at)} ${event}`);
  }

  async integration(): Promise<Json> {
    return this.s.admin.get(`/integrations/${this.sender.id}`);
  }

  /** A counter of the Integration. */
  async counter(name: string): Promise<number> {
    const text = await (await fetch(`${this.s.world.running.internalUrl}/metrics`)).text();
    const line = text.split('\n').find((one) => one.startsWith(`${name}{integration="${this.sender.id}"`));
    return line ? Number(line.split(' ').at(-1)) : 0;
  }

  /** By route path: the learned interval in seconds, null while nothing is learned. */
  async learned(): Promise<Record<string, number | null>> {
    const { items } = await this.s.admin.get(`/integrations/${this.sender.id}/alertmanager-routes`);
    return Object.fromEntries(
      items.map((route: Json) => [route.route_path, route.learned_repeat_interval_seconds]),
    );
  }

  /** Names of Internal alerts about the Integration that fire. */
  async internalAlerts(): Promise<string[]> {
    return (await this.s.internalAlerts(this.sender.id)).map(({ labels }) => labels.alertname);
  }
}

function reasonOf(words: readonly string[]): string | null {
  if (words.includes('R')) return 'repeat interval elapsed';
  return words.includes('Z') ? 'all alerts resolved' : null;
}

function nameOf(fingerprint: string): string {
  const known = Object.entries(FINGERPRINTS).find(([, one]) => one === fingerprint);
  return known?.[0] ?? fingerprint.toUpperCase();
}
