/**
 * A channel written from the port's documentation alone: plain text over HTTP. POST creates a message and answers its id,
 * PUT replaces one, POST below one replies. The receiver knows `Idempotency-Key`, and takes at most 1,000 bytes.
 */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import {
  ACCEPTED,
  groupOf,
  type MessageContent,
  type MessageSend,
  type SendOutcome,
  type Shown,
} from '../../../actors/channels/calls.ts';
import type {
  Capabilities,
  Channel,
  ChannelCall,
  ChannelType,
  EventContent,
} from '../../../actors/channels/channel.ts';
import { plainReply, STATUS_STYLES } from '../../../actors/messages/index.ts';
import type { OutboundCaller } from '../../../runtime/outbound/caller.ts';

export const PLAIN_TEXT: Omit<ChannelType, 'destination'> = {
  settings: {
    destination: v.object({ url: v.pipe(v.string(), v.url()), token: v.string() }),
    connection: null,
    messenger: null,
  },
  unknownOutcome: 'repeats_safely',
  mentions: { everyone: false, groups: false },
  renderEvent: null,
  callback: null,
};

const MOST_BYTES = 1000;
const CAPABILITIES: Capabilities = {
  text: { unit: 'bytes', most: MOST_BYTES },
  ...{ edits: 'always', replies: true, mentions: false, buttons: null },
};

export interface PlainTextDeps {
  readonly caller: OutboundCaller;
  /** Without a trailing slash. */
  readonly url: string;
  readonly token: string;
}

export function createPlainTextChannel(deps: PlainTextDeps): Channel {
  return {
    capabilities: async () => CAPABILITIES,
    send: async (call, content) => ({ outcome: await send(deps, call, content), failure: null }),
    probe: null,
  };
}

async function send(
  deps: PlainTextDeps,
  call: ChannelCall<MessageSend>,
  content: MessageContent | EventContent,
): Promise<SendOutcome> {
  const { operation } = call.asked;
  if (content.kind === 'publish') {
    const text = rootText(content.shown);
    return request(deps, call, { method: 'POST', path: '/messages', text, hash: hashOf(text) });
  }
  if (content.kind === 'edit' && operation.kind === 'edit') {
    const text = rootText(content.shown);
    const hash = hashOf(text);
    if (hash === operation.hash && !operation.isFinal) return { class: 'unchanged' };
    return request(deps, call, { method: 'PUT', path: below(operation.messageId), text, hash });
  }
  if (content.kind === 'reply' && operation.kind === 'reply') {
    const { text } = plainReply(content.event, content.scene.group, content.scene.settings);
    const path = `${below(operation.messageId)}/replies`;
    return request(deps, call, { method: 'POST', path, text: shortened(text), hash: null });
  }
  throw new Error(`a call to ${operation.kind} with the content to ${content.kind}`);
}

interface Wanted {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly text: string;
  readonly hash: string | null;
}

async function request(
  { caller, url, token }: PlainTextDeps,
  { asked, mayBegin }: ChannelCall<MessageSend>,
  { method, path, text, hash }: Wanted,
): Promise<SendOutcome> {
  let hasBegun = false;
  const { result, verdict } = await caller.call({
    request: {
      ...{ owner: `destination/${asked.destinationId}`, class: 'delivery', credentials: '1', proxy: null },
      ...{ method, url: new URL(url + path), body: Buffer.from(text, 'utf8') },
      headers: [
        ['Authorization', `Bearer ${token}`],
        ['Content-Type', 'text/plain; charset=utf-8'],
        ...(asked.key === null ? [] : [['Idempotency-Key', asked.key] as const]),
      ],
      ...{ timeout: 10_000_000, answerLimit: 1024 },
      mayBegin() {
        hasBegun = mayBegin();
        return hasBegun;
      },
    },
    secrets: [token],
    mapping: { status: statusClass },
    about: {
      ...{ operation: asked.operation.kind, attempt: asked.attempt, connectionId: null },
      ...{ destinationId: asked.destinationId, alertGroupId: groupOf(asked), check: null, checkRun: null },
    },
  });
  if (result.kind === 'failed' && (result.code === 'withheld' || result.code === 'cancelled'))
    return { class: 'not_sent', because: 'unreadable' };
  switch (verdict.class) {
    case 'ok': {
      const messageId = method === 'POST' && result.kind === 'answer' ? result.body.toString('utf8') : null;
      return { ...ACCEPTED, messageId, hash };
    }
    case 'retry_after':
      return { class: 'retry_after', until: verdict.until, scope: 'destination', error: verdict.error };
    case 'transient':
      return { class: 'transient', error: verdict.error, unsure: hasBegun && result.kind === 'failed' };
    case 'blocked':
      return { class: 'fatal', error: verdict.error };
    case 'redirect':
      return { class: 'unknown', error: verdict.error };
    default:
      return { class: verdict.class, error: verdict.error };
  }
}

function statusClass(status: number): 'transient' | 'fatal' | 'unknown' | 'gone' {
  if (status === 410) return 'gone';
  if (status === 401 || status === 403) return 'fatal';
  return status === 408 || status === 429 || status >= 500 ? 'transient' : 'unknown';
}

function below(messageId: string): string {
  return `/messages/${encodeURIComponent(messageId)}`;
}

function rootText(shown: Shown): string {
  if (shown.kind === 'storm') return shortened(`Storm: ${oneLine(shown.storm.routeName)}`);
  const { group } = shown.scene;
  const alerts = group.alerts.map(({ state, labels }) =>
    oneLine(`${state}: ${Object.entries(labels).flat().join(' ')}`),
  );
  const head = `${STATUS_STYLES[group.status].emoji} #${group.number} ${oneLine(group.title)}`;
  return shortened([head, ...alerts].join('\n'));
}

/** A value of a sender begins no line of its own. */
function oneLine(value: string): string {
  return value.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ');
}

function shortened(text: string): string {
  if (Buffer.byteLength(text) <= MOST_BYTES) return text;
  let cut = '';
  for (const point of text) {
    if (Buffer.byteLength(cut) + Buffer.byteLength(point) > MOST_BYTES - 3) break;
    cut += point;
  }
  return `${cut}…`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
