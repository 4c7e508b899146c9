import { createHmac, randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { SECOND } from '../../../runtime/clock.ts';
import { silentLog } from '../../../runtime/log.ts';
import type { RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createKeyring, masterKey } from '../../../runtime/secrets/keyring.ts';
import { createManualClock } from '../../../test/fakes/manual-clock.ts';
import type { BridgeSettings } from '../../connection/ports.ts';
import { NO_PROXY } from '../../proxy-config.ts';
import type { Push } from '../channel.ts';
import type { BridgeEvent } from './events.ts';
import { createPushReceiver, type PushReceiver } from './push-receiver.ts';

const ID = 'CN5Q8V2K7WXM3D' as PublicId;
const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const TOKEN = 'b-t0ken';
const key = masterKey(randomBytes(32));
const keyring = createKeyring([key], key.id);
const EVENT = {
  id: 'evt-1',
  type: 'account_link',
  occurred_at: '2026-10-03T09:41:07Z',
  user: { external_id: '18' },
  token: 'q3Zc',
};

let clock: ReturnType<typeof createManualClock>;
let handled: BridgeEvent[];
let records: RequestRecord[];
let mode: BridgeSettings['eventMode'];
let isHandled: boolean;
let receiver: PushReceiver;

beforeEach(() => {
  clock = createManualClock();
  handled = [];
  records = [];
  mode = 'push';
  isHandled = true;
  const settings = (): BridgeSettings => ({
    ...{ id: ID, access: 1, baseUrl: 'https://bridge.example.org', eventMode: mode, proxy: NO_PROXY },
    token: keyring.sealer(keyring.activeKeyId).seal('connection.bridge_token', ID, TOKEN),
    pushSecret: keyring.sealer(keyring.activeKeyId).seal('connection.bridge_push_secret', ID, SECRET),
    ...{ proxyPassword: null, info: null, infoReadAt: null, infoFailedAt: null },
  });
  receiver = createPushReceiver({
    intake: {
      async handle(_id, event) {
        handled.push(event);
        return isHandled;
      },
    },
    opener: { keyring, log: silentLog },
    recorder: { record: (make) => void records.push(make()) },
    ingestUrl: 'https://ingest.example.org',
    ...{ clock, log: silentLog },
    settings: async (id) => (id === ID ? settings() : null),
  });
});

function signed(body: string, { id = 'evt-1', secret = SECRET, late = 0 } = {}): Push {
  const timestamp = Math.floor(clock.now() / SECOND) - late;
  const mac = createHmac('sha256', Buffer.from(secret.slice(6), 'base64')).update(
    `${id}.${timestamp}.${body}`,
  );
  return {
    id: ID,
    headers: [
      ['content-type', 'application/json'],
      ['webhook-id', id],
      ['webhook-timestamp', String(timestamp)],
      ['webhook-signature', `v1,${mac.digest('base64')}`],
    ],
    body: Buffer.from(body),
  };
}

const text = JSON.stringify(EVENT);
const other = `whsec_${randomBytes(32).toString('base64')}`;

test('an authentic event is handled, and kept without what it proves and carries', async () => {
  expect(await receiver.push(signed(text))).toEqual({ status: 204 });
  expect(handled).toMatchObject([{ id: 'evt-1', type: 'account_link', token: 'q3Zc' }]);
  expect(records).toMatchObject([
    {
      direction: 'inbound',
      operation: 'pushEvent',
      connectionId: ID,
      url: `https://ingest.example.org/api/v1/callbacks/bridge/${ID}`,
      status: 204,
      errorClass: null,
    },
  ]);
  expect(JSON.stringify(records)).not.toContain('q3Zc');
});

describe('is refused', () => {
  test.each<[string, () => Push, number, string | null]>([
    ['another secret', () => signed(text, { secret: other }), 401, 'signature_invalid'],
    ['5 minutes and a second late', () => signed(text, { late: 301 }), 401, 'timestamp_out_of_range'],
    ['another body', () => ({ ...signed(text), body: Buffer.from(`${text} `) }), 401, 'signature_invalid'],
    ['no headers', () => ({ ...signed(text), headers: [] }), 401, 'signature_invalid'],
    ['what is no JSON', () => signed('{'), 400, 'body_invalid'],
    ['what is no event', () => signed('{}'), 400, 'body_invalid'],
    ['an event with another id', () => signed(text, { id: 'evt-2' }), 400, 'id_mismatch'],
    ['an unknown Connection', () => ({ ...signed(text), id: 'CN0000000000AA' as PublicId }), 401, null],
    ['a path that names none', () => ({ ...signed(text), id: null }), 401, null],
  ])('%s', async (_name, push, status, code) => {
    expect(await receiver.push(push())).toEqual({ status });
    expect(handled).toEqual([]);
    expect(records.map(({ errorCode }) => errorCode)).toEqual(code === null ? [] : [code]);
  });

  test('everything in poll mode', async () => {
    mode = 'poll';
    expect(await receiver.push(signed(text))).toEqual({ status: 401 });
    expect(handled).toEqual([]);
    expect(records).toMatchObject([{ errorClass: 'refused', errorCode: 'mode_mismatch' }]);
  });
});

test('what could not be handled is to be sent again', async () => {
  isHandled = false;
  expect(await receiver.push(signed(text))).toEqual({ status: 500 });
  expect(records).toMatchObject([{ errorClass: 'failed', errorCode: 'handler_failed' }]);
});

test('strangers leave ten records a minute', async () => {
  for (let time = 0; time < 15; time++) await receiver.push(signed(text, { secret: other }));
  await receiver.push(signed(text));
  expect(records.map(({ status }) => status)).toEqual([...Array(10).fill(401), 204]);
  clock.advance(60 * SECOND);
  await receiver.push(signed(text, { secret: other }));
  expect(records).toHaveLength(12);
});
