import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { newEventId } from '../destination/messages.ts';
import { BODY_EXAMPLES } from '../destination/webhook-examples.fixture.ts';
import { newSigningSecret, webhookSignature } from './signature.ts';

const K1 = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const K2 = 'whsec_//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA=';
const id = (letter: string) => `msg_${letter.repeat(26)}`;
const TEST_BODY = '{"version":1,"event":"test","notify":false}';

describe('published vectors', () => {
  test.each([
    [[K1], id('a'), 1_700_000_000, TEST_BODY, 'v1,+1gGXONmgggtNBQMPJJhvoPQmy92kMWO56ur7BpyV9E='],
    [
      [K1, K2],
      id('a'),
      1_700_000_000,
      TEST_BODY,
      'v1,+1gGXONmgggtNBQMPJJhvoPQmy92kMWO56ur7BpyV9E= v1,AGuy8r0MnzabHKhHa5AU7kiW1GZEaOes/k9xNdw63Zk=',
    ],
    [[K1], id('b'), 1_700_000_300, '{"t":"Проверка 🔥"}', 'v1,xqlQni1gvuuD0bq9bu9IV6BdiExX00FCPVtMXbQbY5g='],
    [[K1], id('c'), 1_700_000_600, '', 'v1,LOXHZJM2MQcswjX0khgA9x4ZSUoPbX6YKlww4rgsI2k='],
    [[K1], id('d'), 1_791_020_468, BODY_EXAMPLES.created, 'v1,xpnab1aILkLwqVtnr1cwPQQ6vidwv9rH0FtazlPPIA0='],
    [[K2], id('d'), 1_791_020_468, BODY_EXAMPLES.created, 'v1,0l+NS44jx8aJB258tpUPlnkLn6RYC7tvn4t+LcQ2gEo='],
    [
      ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
      1_614_265_330,
      '{"test": 2432232314}',
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    ],
  ])('%#', (secrets, eventId, timestamp, body, signature) => {
    expect(webhookSignature(secrets, eventId, timestamp, Buffer.from(body))).toBe(signature);
  });
});

test('both signatures of a rotation satisfy the Standard Webhooks library', () => {
  const [current, previous] = [newSigningSecret(seeded(1)), newSigningSecret(seeded(2))];
  const timestamp = Math.floor(Date.now() / 1000);
  const eventId = newEventId(seeded(3));
  const headers = {
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': webhookSignature([current, previous], eventId, timestamp, Buffer.from(TEST_BODY)),
  };
  expect(new Webhook(current).verify(TEST_BODY, headers)).toMatchObject({ event: 'test' });
  expect(new Webhook(previous).verify(TEST_BODY, headers)).toMatchObject({ event: 'test' });
  expect(() => new Webhook(newSigningSecret(seeded(4))).verify(TEST_BODY, headers)).toThrow();
});

test.each([
  [() => new Uint8Array(16), `msg_${'a'.repeat(26)}`],
  [() => new Uint8Array(16).fill(0xff), `msg_${'7'.repeat(25)}4`],
  [() => Buffer.from('foobarfoobarfoob'), 'msg_mzxw6ytbojtg633cmfzgm33pmi'],
])('an event id is the base32 of 16 bytes (%#)', (random, expected) => {
  expect(newEventId(random)).toBe(expected);
});

function seeded(seed: number): (size: number) => Uint8Array {
  return (size) => Uint8Array.from({ length: size }, (_, index) => (index * 37 + seed * 101) & 255);
}
