/** A reference bridge without a network, and requests as the service makes them. */
import { createManualClock, type ManualClock } from '../../../test/fakes/manual-clock.ts';
import { type Bridge, createBridge } from './bridge.ts';
import type { Settings } from './shapes.ts';
import type { BridgeAnswer, Ports } from './wire.ts';

export const TOKEN = 'first-token';
export const PAGE_URL = 'http://127.0.0.1:8090';
const MS = 1000;

export type Fields = Readonly<Record<string, unknown>>;

export interface Stage {
  readonly bridge: Bridge;
  readonly clock: ManualClock;
  /** Sends with the first token unless the headers say something else. */
  send(
    method: string,
    target: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<BridgeAnswer>;
  /** Posts as the service does. @returns the answer's fields */
  post(change?: Fields, key?: string): Promise<Fields>;
  /** The events so far. */
  events(): Promise<readonly Fields[]>;
}

export const MESSAGE = {
  ...{ status: 'firing', color: '#d32f2f', emoji: '🔴', title: '#412 HighErrorRate' },
  link: { url: 'https://oncall.example.org/alert-groups/A', text: 'Open in Tocsin' },
  ...{ body: 'Error rate above 5%', buttons: [{ text: 'Ack', data: 'ack-412', style: 'primary' }] },
} as const;
export const ROOT = {
  ...MESSAGE,
  channel_id: 'alerts/prod',
  kind: 'root',
  mentions: [],
  notify: true,
} as const;
export const REPLY = {
  thread_ref: null,
  body: '2 new alerts',
  buttons: [],
  mentions: [],
  notify: false,
} as const;

export function stage(settings: Partial<Settings> = {}, deliver: Ports['deliver'] = async () => 204): Stage {
  const clock = createManualClock();
  const ports: Ports = {
    now: () => clock.now() / MS,
    after(ms, run) {
      const timer = clock.after(ms * MS, run);
      return () => timer.cancel();
    },
    deliver,
  };
  const complete = {
    tokens: [TOKEN, 'second-token'],
    without: new Set<never>(),
    editMaxAge: null,
    push: null,
  };
  const bridge = createBridge({ ...complete, pageUrl: PAGE_URL, ...settings }, ports);
  const send: Stage['send'] = (method, target, body, headers = {}) => {
    const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
    const all = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...headers };
    return bridge.answer({ method, target, headers: all, body: text, gone: new AbortController().signal });
  };
  let posted = 0;
  return {
    ...{ bridge, clock, send },
    async post(change = {}, key = `key-${++posted}`) {
      return fieldsOf(await send('POST', '/v1/messages', { ...ROOT, ...change }, { 'idempotency-key': key }));
    },
    async events() {
      const { events } = fieldsOf(await send('GET', '/v1/events?wait=0'));
      return Array.isArray(events) ? events : [];
    },
  };
}

export function fieldsOf({ body }: BridgeAnswer): Fields {
  return JSON.parse(body);
}
