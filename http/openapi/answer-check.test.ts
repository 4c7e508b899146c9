/** The check of answers, which all tests with a server rely on. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { faultOf } from '../../test/fuzz/judge.ts';
import { checkAt, checkedFetch } from '../../test/harness/checked-fetch.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const ME_WITHOUT_FIELDS = JSON.stringify({ user: {} });

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text?: string;
}

const SIGN_IN_OPTIONS = { oidc: { enabled: false } };
const more = { ...SIGN_IN_OPTIONS, more: true };
const json = (body: object): Answer => ({ status: 200, headers: JSON_TYPE, text: JSON.stringify(body) });

/** Described as another schema and what it adds to it. */
const SNAPSHOT = {
  ...{ id: 'SS9X2QF4H7NJC0', integration: { id: 'NT9X2QF4H7NJC0', name: 'prometheus' }, state: 'pending' },
  ...{ received_at: '2026-09-21T14:11:20Z', processed_at: null, size_bytes: 2, group_key: null },
  ...{ alert_count: null, truncated_alerts: null, processing_error: null },
  ...{ body: '{}', content_type: null, body_encoding: 'utf8' },
};
const { group_key: _, ...withoutGroupKey } = SNAPSHOT;
const { body: __, ...withoutBody } = SNAPSHOT;
const ONE_SNAPSHOT = `/api/v1/stored-snapshots/${SNAPSHOT.id}`;

const CASES: readonly (readonly [string, string, Answer, RegExp | null])[] = [
  ['GET', '/api/v1/sign-in-options', json(SIGN_IN_OPTIONS), null],
  ['GET', '/api/v1/sign-in-options', json(more), /must NOT have additional properties .*more/],
  [
    'GET',
    '/api/v1/sign-in-options',
    { status: 200, headers: { 'content-type': 'text/html' } },
    /content type is/,
  ],
  ['GET', '/api/v1/me', { status: 200, headers: JSON_TYPE, text: ME_WITHOUT_FIELDS }, /required property/],
  ['GET', ONE_SNAPSHOT, json(SNAPSHOT), null],
  ['GET', ONE_SNAPSHOT, json({ ...SNAPSHOT, more: true }), /must NOT have additional properties .*more/],
  ['GET', ONE_SNAPSHOT, json(withoutGroupKey), /required property 'group_key'/],
  ['GET', ONE_SNAPSHOT, json(withoutBody), /required property 'body'/],
  ['HEAD', '/api/v1/me', { status: 418 }, /getMe answered 418/],
  ['HEAD', '/api/v1/me', { status: 200, headers: JSON_TYPE }, null],
  ['POST', '/api/v1/ingest', { status: 202 }, null],
  ['POST', '/api/v1/ingest', { status: 202, headers: JSON_TYPE, text: '{}' }, /content type is/],
  ['POST', '/api/v1/ingest', { status: 204 }, /ingestSnapshot answered 204/],
  ['GET', '/api/v1/heartbeat/svc_int_x', { status: 202 }, /heartbeatByGetAndPath answered 202/],
  ['POST', '/api/v1/callbacks/bridge/CN0000000000AA', { status: 200 }, /bridgeEvent answered 200/],
  ['GET', '/health/ready', { status: 204 }, /readiness answered 204/],
  ['GET', '/health/live', { status: 200, headers: { 'content-type': 'text/plain' }, text: 'ok' }, null],
];

test.each(CASES)('%s %s answered %o', async (method, path, { status, headers = {}, text = '' }, fault) => {
  const server = createServer((_, response) => response.writeHead(status, headers).end(text));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const answered = checkedFetch(`http://127.0.0.1:${port}${path}?a=b`, { method });
  if (fault === null) expect((await answered).status).toBe(status);
  else await expect(answered).rejects.toThrow(fault);
});

test('the fuzzer finds an answer that is not described', () => {
  const sent = { to: 'app', as: 'session', method: 'GET', target: '/api/v1/sign-in-options' } as const;
  const of = (text: string) =>
    faultOf(
      { ...sent, headers: {}, body: '' },
      { status: 200, headers: JSON_TYPE, text, bytes: Buffer.byteLength(text), milliseconds: 1 },
    );
  expect(of(JSON.stringify(SIGN_IN_OPTIONS))).toBeNull();
  expect(of(JSON.stringify(more))).toMatch(/getSignInOptions answered 200.*additional properties/s);
});

test('paths of no operation are not judged', () => {
  const answer = { status: 418, header: () => null, body: undefined };
  expect(() => checkAt('/api/v2/silences')('POST', '/api/v2/silences', answer)).not.toThrow();
});
