import { describe, expect, test } from 'vitest';
import { MINUTE, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { BEHIND_PEOPLE } from '../connection/tokens.ts';
import { createDestinationHarness } from './harness.fixture.ts';
import { BROKEN_PROBE_INTERVAL } from './machine.ts';
import { CALL_LOST_AFTER } from './pacing.ts';
import { MOST_EVENTS, MOST_OF_GROUP } from './rows.ts';

const A = 'AGA' as PublicId;
const B = 'AGB' as PublicId;
const C = 'AGC' as PublicId;

test('a Destination whose secrets were lost is Broken at once; what waits is kept', () => {
  const destination = createDestinationHarness();
  destination.record(A, 'created');
  destination.answer('AGA#1', { class: 'transient', error: 'answered 503' });
  destination.send({ type: 'secrets_lost' });
  expect(destination.health()).toMatchObject({ state: 'broken', reason: 'secret_unreadable' });
  expect(destination.announced()).toEqual(['destination_broken']);
  expect(destination.stored('AGA#1')).toMatchObject({ state: 'waiting' });
  destination.send({ type: 'secrets_lost' });
  expect(destination.announced()).toEqual([]);
});

test('rights that the messenger took away break it before the next call, in the words of the check', () => {
  const destination = createDestinationHarness();
  const reason = 'The bot may not post messages in the channel.';
  destination.send({ type: 'rights_lost', reason });
  expect(destination.health()).toMatchObject({ state: 'broken', reason });
  expect(destination.announced()).toEqual(['destination_broken']);
});

describe('every call fails', () => {
  const failure = { class: 'transient', error: 'answered 503' } as const;

  test('since the first failure, with the newest error, across a restart, until the first success', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    expect(destination.failing()).toBeNull();
    const since = destination.now();
    destination.answer('AGA#1', failure);
    destination.advance(MINUTE);
    destination.answer('AGA#1', { class: 'transient', error: 'connection refused' });
    expect(destination.failing()).toEqual({ since, error: 'connection refused' });
    expect(destination.health()).toEqual({ state: 'healthy' });
    destination.restart();
    expect(destination.failing()).toEqual({ since, error: 'connection refused' });
    destination.record(B, 'created');
    destination.answer('AGB#1', { class: 'ok', status: 200 });
    expect(destination.failing()).toBeNull();
  });

  test.each([
    ['refused for good', { class: 'unknown', error: 'answered 400' }],
    ['refused by the address or credentials', { class: 'fatal', error: 'answered 401' }],
  ] as const)('a call that was %s failed, too', (_name, outcome) => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.answer('AGA#1', outcome);
    expect(destination.failing()).toMatchObject({ error: outcome.error });
  });

  describe('and asks to wait', () => {
    const putOff = (until: number, seconds = 7) =>
      ({ class: 'retry_after', until, error: `answered 429, asked to wait ${seconds} s` }) as const;

    test('now and then, between successes: nothing is stored or announced', () => {
      const destination = createDestinationHarness();
      for (let time = 0; time < 5; time++) {
        const { eventId } = destination.record(A, 'created');
        destination.answer(eventId, putOff(destination.now() + 7 * SECOND));
        destination.advance(7 * SECOND);
        destination.answer(eventId, { class: 'ok', status: 200 });
      }
      expect(destination.failingChanges()).toEqual({ announced: 0, recorded: 0 });
    });

    test('for a minute without a success: failing since the first answer, also across a restart', () => {
      const destination = createDestinationHarness();
      destination.record(A, 'created');
      const since = destination.now();
      destination.answer('AGA#1', putOff(since + 40 * SECOND));
      expect(destination.failing()).toBeNull();
      destination.restart();
      destination.advance(40 * SECOND);
      destination.answer('AGA#1', putOff(destination.now() + 20 * SECOND));
      expect(destination.failing()).toEqual({ since, error: 'answered 429, asked to wait' });
    });

    test('for a minute at once: failing at once, and how long it asks to wait then is no news', () => {
      const destination = createDestinationHarness();
      destination.record(A, 'created');
      destination.answer('AGA#1', putOff(destination.now() + MINUTE, 60));
      const { error } = destination.failing() ?? {};
      destination.advance(MINUTE);
      destination.answer('AGA#1', putOff(destination.now() + 7 * SECOND, 7));
      expect(destination.failing()).toMatchObject({ error });
      expect(destination.failingChanges()).toEqual({ announced: 1, recorded: 1 });
    });

    test('and then fails otherwise: failing since it first asked', () => {
      const destination = createDestinationHarness();
      destination.record(A, 'created');
      const since = destination.now();
      destination.answer('AGA#1', putOff(since + SECOND));
      destination.advance(SECOND);
      destination.answer('AGA#1', failure);
      expect(destination.failing()).toEqual({ since, error: failure.error });
    });
  });

  test('what never was a call says nothing', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.answer('AGA#1', { class: 'not_sent', because: 'unreadable' });
    expect(destination.failing()).toBeNull();
  });
});

describe('sending', () => {
  test('an event is sent in the turn that records it', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    expect(destination.calls()).toEqual(['AGA#1']);
    expect(destination.stored('AGA#1')).toMatchObject({ state: 'sending' });
    destination.answer('AGA#1', { class: 'ok', status: 200 });
    expect(destination.stored('AGA#1')).toMatchObject({ state: 'delivered', attempts: 0 });
    expect(destination.wakeAt()).toBeNull();
  });

  test('per Alert Group one event at a time and in order; groups do not wait for each other', () => {
    const destination = createDestinationHarness({ limiter: { limit: 100, per_seconds: 1 } });
    destination.record(A, 'created');
    destination.record(A, 'alerts_added');
    destination.record(B, 'created');
    expect(destination.calls()).toEqual(['AGA#1', 'AGB#1']);
    destination.answer('AGA#1', { class: 'ok', status: 200 });
    expect(destination.calls()).toEqual(['AGA#2']);
  });

  test('at most 10 requests are in flight', () => {
    const destination = createDestinationHarness({ limiter: { limit: 100, per_seconds: 1 } });
    for (let group = 0; group < 12; group++) destination.record(`AG${group}` as PublicId, 'created');
    expect(destination.calls()).toHaveLength(10);
    destination.answer('AG0#1', { class: 'ok', status: 200 });
    expect(destination.calls()).toEqual(['AG10#1']);
  });

  test('a fast Destination is given some calls ahead, worth 40 ms of its rate', () => {
    const destination = createDestinationHarness({ limiter: { limit: 1000, per_seconds: 1 } });
    for (let group = 0; group < 50; group++) destination.record(`AG${group}` as PublicId, 'created');
    expect(destination.calls()).toHaveLength(40);
  });

  test('a call that was started and not sent is as if it had never been started', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.record(B, 'created');
    destination.answer('AGA#1', { class: 'fatal', error: 'answered 401' });
    destination.answer('AGB#1', { class: 'not_sent', because: 'put_back' });
    expect(destination.stored('AGB#1')).toMatchObject({ state: 'waiting', attempts: 0, error: null });
    expect(destination.health()).toMatchObject({ reason: 'answered 401' });
  });

  test('Urgent heads go first, then by time', () => {
    const destination = createDestinationHarness({ limiter: { limit: 1, per_seconds: 1 } });
    destination.record('AG0' as PublicId, 'created');
    destination.record(A, 'created');
    destination.record(B, 'created');
    destination.record(C, 'created', { urgent: true });
    expect(destination.calls()).toEqual(['AG0#1']);
    destination.advance(3 * (SECOND + BEHIND_PEOPLE));
    expect(destination.calls()).toEqual(['AGC#1', 'AGA#1', 'AGB#1']);
  });

  test('the limiter: 6 per 60 s sends 6 at once and the 7th 10 s later, when people had their turn', () => {
    const destination = createDestinationHarness({ limiter: { limit: 6, per_seconds: 60 } });
    for (let group = 0; group < 8; group++) destination.record(`AG${group}` as PublicId, 'created');
    expect(destination.calls()).toHaveLength(6);
    destination.advance(10 * SECOND + BEHIND_PEOPLE - 10);
    expect(destination.calls()).toEqual([]);
    destination.advance(10);
    expect(destination.calls()).toEqual(['AG6#1']);
  });

  test('a lowered limiter loses the tokens above it', () => {
    const destination = createDestinationHarness({ limiter: { limit: 100, per_seconds: 1 } });
    destination.configure({ limiter: { limit: 1, per_seconds: 10 } });
    destination.record(A, 'created');
    destination.record(B, 'created');
    expect(destination.calls()).toEqual(['AGA#1']);
    destination.advance(10 * SECOND + BEHIND_PEOPLE);
    expect(destination.calls()).toEqual(['AGB#1']);
  });

  test('the first 2xx of a group tells it that it is published, later ones do not', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.answer('AGA#1', { class: 'ok', status: 200 });
    destination.record(A, 'resolved');
    destination.answer('AGA#2', { class: 'ok', status: 204 });
    expect(destination.told(A).map((message) => message.type)).toEqual(['published']);
  });

  test.each(['reminder', 'notices_missed'] as const)('a delivered %s is told to its group, once', (event) => {
    const destination = createDestinationHarness();
    destination.record(A, event);
    destination.answer('AGA#1', { class: 'transient', error: 'answered 503' });
    expect(destination.told(A)).toEqual([]);
    destination.advance(10 * SECOND);
    destination.calls();
    destination.answer('AGA#1', { class: 'ok', status: 200 });
    destination.answer('AGA#1', { class: 'ok', status: 200 });
    const delivered = destination.told(A).filter(({ type }) => type === 'notice_delivered');
    expect(delivered).toEqual([{ type: 'notice_delivered', sequence: 1, at: destination.now() }]);
  });
});

describe('answers', () => {
  test('Retry-After holds exactly this group, exactly that long, and is no attempt', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.record(B, 'created');
    const until = destination.now() + 7 * SECOND;
    destination.answer('AGA#1', { class: 'retry_after', until, error: 'answered 429' });
    destination.calls();
    destination.advance(7 * SECOND - 1);
    expect(destination.calls()).toEqual([]);
    destination.advance(1);
    expect(destination.calls()).toEqual(['AGA#1']);
    expect(destination.stored('AGA#1')).toMatchObject({ state: 'sending', attempts: 0 });
  });

  test('transient failures wait between half and the whole step, never under 2 s', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 9; attempt++) {
      destination.calls();
      destination.answer('AGA#1', { class: 'transient', error: 'answered 503' });
      waits.push(((destination.wakeAt() ?? 0) - destination.now()) / SECOND);
      destination.advance((destination.wakeAt() ?? 0) - destination.now());
    }
    const steps = [2, 4, 8, 16, 32, 64, 128, 256, 300];
    for (const [index, step] of steps.entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(Math.max(2, step / 2));
      expect(waits[index]).toBeLessThanOrEqual(step);
    }
  });

  test('10 transient answers make the Destination Broken, and the event keeps waiting', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.failTransiently('AGA#1', 10);
    expect(destination.health()).toMatchObject({ state: 'broken', reason: 'unavailable: answered 503' });
    expect(destination.stored('AGA#1')).toMatchObject({ state: 'waiting', attempts: 10 });
  });

  test('30 minutes since the first failure spend the budget too', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.answer('AGA#1', { class: 'transient', error: 'timeout' });
    destination.advance(2 * SECOND);
    const until = destination.now() + 30 * MINUTE;
    destination.answer('AGA#1', { class: 'retry_after', until, error: 'answered 503' });
    destination.advance(30 * MINUTE);
    destination.answer('AGA#1', { class: 'transient', error: 'timeout' });
    expect(destination.health()).toMatchObject({ state: 'broken', reason: 'unavailable: timeout' });
  });

  test('a success in between starts nothing afresh for other groups', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.failTransiently('AGA#1', 3);
    destination.record(B, 'created');
    destination.answer('AGB#1', { class: 'ok', status: 200 });
    expect(destination.stored('AGA#1')).toMatchObject({ attempts: 3 });
  });

  test('an answer that can never succeed ends the event; the next follows and the Destination stays healthy', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.record(A, 'resolved');
    destination.calls();
    destination.answer('AGA#1', { class: 'unknown', error: 'answered 400: no' });
    expect(destination.stored('AGA#1')).toMatchObject({ state: 'not_delivered', error: 'answered 400: no' });
    expect(destination.calls()).toEqual(['AGA#2']);
    expect(destination.health()).toEqual({ state: 'healthy' });
    expect(destination.told(A)).toMatchObject([
      { type: 'delivery_noted', event: 'not_delivered', error: 'answered 400: no', problem: true },
    ]);
    destination.answer('AGA#2', { class: 'ok', status: 200 });
    expect(destination.told(A)).toMatchObject([
      { type: 'published' },
      { type: 'delivery_noted', event: null, problem: false },
    ]);
  });

  test('an event that could not be read is due again after 1 s, then 2 s, and no attempt was made', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    const waits: number[] = [];
    for (let time = 1; time <= 7; time++) {
      destination.calls();
      destination.answer('AGA#1', { class: 'not_sent', because: 'unreadable' });
      expect(destination.calls()).toEqual([]);
      waits.push(((destination.wakeAt() ?? 0) - destination.now()) / SECOND);
      destination.advance((destination.wakeAt() ?? 0) - destination.now());
      expect(destination.calls()).toEqual(['AGA#1']);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30]);
    expect(destination.stored('AGA#1')).toMatchObject({ state: 'sending', attempts: 0 });
  });

  test('an event that the service failed at waits in the same way, and the Destination is failing', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    const since = destination.now();
    destination.answer('AGA#1', { class: 'not_sent', because: 'defect', error: 'internal error' });
    expect(destination.failing()).toEqual({ since, error: 'internal error' });
    expect(destination.wakeAt()).toBe(destination.now() + SECOND);
    expect(destination.stored('AGA#1')).toMatchObject({ state: 'waiting', attempts: 0 });
    destination.advance(SECOND);
    destination.answer('AGA#1', { class: 'ok', status: 200 });
    expect(destination.failing()).toBeNull();
  });

  test('a template error ends the event and shows on the Destination until a request renders', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.answer('AGA#1', { class: 'template_error', error: 'the Secret token is missing' });
    expect(destination.stored('AGA#1')).toMatchObject({ state: 'not_delivered' });
    expect(destination.templateError()).toMatchObject({ error: 'the Secret token is missing' });
    expect(destination.health()).toEqual({ state: 'healthy' });
    destination.record(A, 'resolved');
    destination.answer('AGA#2', { class: 'transient', error: 'timeout' });
    expect(destination.templateError()).toBeNull();
  });
});

describe('Internal alerts', () => {
  const BROKEN = 'SvcDestinationBroken';

  test('SvcDestinationBroken is raised once while it stays Broken, and resolved when it recovers', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.record(B, 'created');
    expect(destination.alerts()).toEqual([]);
    destination.answer('AGA#1', { class: 'fatal', error: 'answered 401' });
    expect(destination.alerts()).toEqual([['raise', BROKEN, {}]]);
    destination.answer('AGB#1', { class: 'fatal', error: 'answered 403' });
    destination.advance(BROKEN_PROBE_INTERVAL);
    destination.answer('AGA#1', { class: 'transient', error: 'timeout' });
    expect(destination.alerts()).toEqual([]);
    destination.advance(BROKEN_PROBE_INTERVAL);
    destination.answer('AGA#1', { class: 'ok', status: 200 });
    expect(destination.alerts()).toEqual([['resolve', BROKEN, {}]]);
  });

  test('the failing message of its own Internal alert raises nothing', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.answer('AGA#1', { class: 'fatal', error: 'answered 401' });
    destination.alerts();
    // The Alert Group of the alert is delivered here, too.
    destination.record(B, 'created');
    destination.advance(BROKEN_PROBE_INTERVAL);
    destination.answer('AGA#1', { class: 'fatal', error: 'answered 401' });
    destination.advance(BROKEN_PROBE_INTERVAL);
    expect(destination.alerts()).toEqual([]);
  });

  test('SvcTemplateError is raised by the first failure in a row, and resolved by a request that renders', () => {
    const destination = createDestinationHarness();
    for (const event of ['created', 'alerts_added'] as const) destination.record(A, event);
    destination.answer('AGA#1', { class: 'template_error', error: 'the Secret token is missing' });
    destination.answer('AGA#2', { class: 'template_error', error: 'the Secret token is missing' });
    const labels = { template: 'webhook_request' };
    expect(destination.alerts()).toEqual([['raise', 'SvcTemplateError', labels]]);
    destination.record(A, 'resolved');
    destination.answer('AGA#3', { class: 'ok', status: 200 });
    expect(destination.alerts()).toEqual([['resolve', 'SvcTemplateError', labels]]);
  });

  test('a deletion records nothing: the transaction that deletes resolves', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.answer('AGA#1', { class: 'fatal', error: 'answered 401' });
    destination.alerts();
    destination.send({ type: 'deleted' });
    expect(destination.alerts()).toEqual([]);
  });
});

describe('Broken', () => {
  function broken(groups: readonly PublicId[] = [A, B]) {
    const destination = createDestinationHarness({ limiter: { limit: 100, per_seconds: 1 } });
    for (const group of groups) destination.record(group, 'created');
    destination.answer(`${groups[0]}#1`, { class: 'fatal', error: 'answered 401: no' });
    for (const group of groups.slice(1)) {
      destination.answer(`${group}#1`, { class: 'fatal', error: 'answered 401: no' });
    }
    destination.calls();
    return destination;
  }

  test('a fatal answer breaks at once and tells each waiting group once', () => {
    const destination = broken();
    expect(destination.health()).toMatchObject({ state: 'broken', reason: 'answered 401: no' });
    expect(destination.told(A)).toMatchObject([{ event: 'destination_broken', problem: true }]);
    expect(destination.told(B)).toMatchObject([{ event: 'destination_broken', problem: true }]);
    expect(destination.announced()).toEqual(['destination_broken']);
  });

  test('only the oldest waiting event is sent, every 5 minutes', () => {
    const destination = broken();
    destination.advance(BROKEN_PROBE_INTERVAL - 1);
    expect(destination.calls()).toEqual([]);
    destination.advance(1);
    expect(destination.calls()).toEqual(['AGA#1']);
    destination.answer('AGA#1', { class: 'transient', error: 'timeout' });
    expect(destination.health()).toMatchObject({ reason: 'unavailable: timeout' });
    destination.advance(BROKEN_PROBE_INTERVAL);
    expect(destination.calls()).toEqual(['AGA#1']);
  });

  test('Retry-After moves the next probe when it is later', () => {
    const destination = broken();
    destination.advance(BROKEN_PROBE_INTERVAL);
    destination.calls();
    const until = destination.now() + 20 * MINUTE;
    destination.answer('AGA#1', { class: 'retry_after', until, error: 'answered 503' });
    destination.advance(20 * MINUTE - 1);
    expect(destination.calls()).toEqual([]);
    destination.advance(1);
    expect(destination.calls()).toEqual(['AGA#1']);
  });

  test('new events wait, and their groups are told', () => {
    const destination = broken();
    destination.told(C);
    destination.record(C, 'created');
    expect(destination.calls()).toEqual([]);
    expect(destination.told(C)).toMatchObject([{ event: 'destination_broken', problem: true }]);
    destination.record(C, 'resolved');
    expect(destination.told(C)).toEqual([]);
  });

  test('a successful probe recovers: fresh budgets, everything is sent in order, none dropped', () => {
    const destination = createDestinationHarness({ limiter: { limit: 100, per_seconds: 1 } });
    destination.record(A, 'created');
    destination.record(B, 'created');
    destination.failTransiently('AGB#1', 9, () =>
      destination.answer('AGA#1', { class: 'retry_after', until: destination.now() + SECOND, error: 'x' }),
    );
    destination.calls();
    destination.advance(SECOND);
    destination.answer('AGA#1', { class: 'fatal', error: 'answered 403' });
    destination.record(A, 'resolved');
    destination.calls();
    destination.advance(BROKEN_PROBE_INTERVAL);
    expect(destination.calls()).toEqual(['AGA#1']);
    destination.answer('AGA#1', { class: 'ok', status: 200 });
    expect(destination.health()).toEqual({ state: 'healthy' });
    expect(destination.calls().sort()).toEqual(['AGA#2', 'AGB#1']);
    expect(destination.stored('AGB#1')).toMatchObject({ state: 'sending', attempts: 0 });
    expect(destination.told(B).at(-1)).toMatchObject({ event: 'destination_recovered', problem: false });
    expect(destination.announced()).toContain('destination_recovered');
  });

  test('a probe that can never succeed ends so, and the next oldest event is the next probe', () => {
    const destination = broken();
    destination.advance(BROKEN_PROBE_INTERVAL);
    destination.calls();
    destination.answer('AGA#1', { class: 'unknown', error: 'answered 422' });
    expect(destination.health()).toMatchObject({ state: 'broken' });
    expect(destination.calls()).toEqual(['AGB#1']);
  });

  test('with nothing waiting the next event is the probe the moment it is recorded', () => {
    const destination = broken([A]);
    destination.advance(BROKEN_PROBE_INTERVAL);
    destination.answer('AGA#1', { class: 'unknown', error: 'answered 422' });
    destination.calls();
    expect(destination.wakeAt()).toBeNull();
    destination.advance(MINUTE);
    destination.record(B, 'created');
    expect(destination.calls()).toEqual(['AGB#1']);
  });

  test('a save makes the probe due at once, also while a probe is in flight', () => {
    const destination = broken();
    destination.send({ type: 'saved' });
    expect(destination.calls()).toEqual(['AGA#1']);
    destination.send({ type: 'saved' });
    destination.answer('AGA#1', { class: 'fatal', error: 'answered 401' });
    expect(destination.calls()).toEqual(['AGA#1']);
  });

  test('a call in flight when it broke only replaces the reason', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.record(B, 'created');
    destination.record(C, 'created');
    destination.record('AGD' as PublicId, 'created');
    destination.answer('AGA#1', { class: 'fatal', error: 'answered 401' });
    const since = destination.now();
    destination.advance(SECOND);
    destination.answer('AGB#1', { class: 'transient', error: 'answered 502' });
    const reason = 'unavailable: answered 502';
    expect(destination.health()).toEqual({ state: 'broken', since, reason });
    expect(destination.stored('AGB#1')).toMatchObject({ state: 'waiting', attempts: 0 });
    destination.answer('AGD#1', { class: 'fatal', error: 'answered 403' });
    expect(destination.health()).toEqual({ state: 'broken', since, reason: 'answered 403' });
    destination.answer('AGC#1', { class: 'ok', status: 200 });
    expect(destination.health()).toMatchObject({ state: 'broken' });
    expect(destination.stored('AGC#1')).toMatchObject({ state: 'delivered' });
    expect(destination.told(C).at(-1)).toMatchObject({ event: null, problem: false });
  });

  test('a probe that could not be read is repeated after a pause that grows from 1 s to 30 s', () => {
    const destination = broken();
    destination.advance(BROKEN_PROBE_INTERVAL);
    destination.calls();
    for (const pause of [1, 2, 4, 8, 16, 30, 30]) {
      destination.answer('AGA#1', { class: 'not_sent', because: 'unreadable' });
      destination.advance(pause * SECOND - 1);
      expect(destination.calls()).toEqual([]);
      destination.advance(1);
      expect(destination.calls()).toEqual(['AGA#1']);
    }
    expect(destination.health()).toMatchObject({ reason: 'answered 401: no' });
  });

  test('many waiting groups are told in pages', () => {
    const destination = createDestinationHarness({ limiter: { limit: 1, per_seconds: 3600 } });
    for (let group = 0; group < 1200; group++) destination.record(`AG${group}` as PublicId, 'created');
    destination.answer('AG0#1', { class: 'fatal', error: 'answered 401' });
    expect(destination.sent()).toHaveLength(500);
    destination.advance(1);
    destination.advance(1);
    expect(destination.sent()).toHaveLength(700);
    destination.advance(1);
    expect(destination.sent()).toEqual([]);
  });

  test('a restart in the middle of telling begins it again', () => {
    const destination = createDestinationHarness({ limiter: { limit: 1, per_seconds: 3600 } });
    for (let group = 0; group < 600; group++) destination.record(`AG${group}` as PublicId, 'created');
    destination.answer('AG0#1', { class: 'fatal', error: 'answered 401' });
    destination.sent();
    destination.restart();
    destination.advance(1);
    destination.advance(1);
    expect(destination.sent()).toHaveLength(600);
  });
});

describe('deletion', () => {
  test('sends nothing more and ends what waits', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.record(A, 'resolved');
    destination.calls();
    destination.send({ type: 'deleted' });
    expect(destination.told(A)).toMatchObject([
      { event: 'not_delivered', error: 'the Destination was deleted' },
      { event: 'not_delivered', error: 'the Destination was deleted' },
    ]);
    destination.answer('AGA#1', { class: 'ok', status: 200 });
    expect(destination.calls()).toEqual([]);
    expect(destination.told(A)).toEqual([]);
    destination.record(B, 'created');
    expect(destination.calls()).toEqual([]);
    expect(destination.stored('AGB#1')).toMatchObject({
      state: 'not_delivered',
      error: 'the Destination was deleted',
    });
  });
});

describe('an event that comes beside its end', () => {
  const ended = { state: 'not_delivered', error: 'the Destination was deleted' };
  const left = { state: 'not_delivered', error: 'the Destination left events mode' };

  function leave(destination: ReturnType<typeof createDestinationHarness>): void {
    destination.configure({ mode: 'template' });
    destination.send({ type: 'saved' });
  }

  test('stored by another commit, it ends with the deletion, or with the mode', () => {
    const deleted = createDestinationHarness();
    deleted.record(A, 'created');
    deleted.storeBeside(B);
    deleted.send({ type: 'deleted' });
    expect([deleted.stored('AGA#1'), deleted.stored('AGB#9')]).toMatchObject([ended, ended]);
    const changed = createDestinationHarness();
    changed.record(A, 'created');
    changed.storeBeside(B);
    leave(changed);
    expect([changed.stored('AGA#1'), changed.stored('AGB#9')]).toMatchObject([left, left]);
  });

  test('loaded after a restart of a deleted Destination, it ends and is not sent', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.send({ type: 'deleted' });
    destination.calls();
    destination.storeBeside(B);
    destination.restart();
    destination.send({ type: 'resume' });
    destination.advance(60 * MINUTE);
    expect(destination.calls()).toEqual([]);
    expect(destination.stored('AGB#9')).toMatchObject(ended);
  });

  test('received after the mode was left, it ends and is not sent', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    leave(destination);
    destination.calls();
    destination.send(destination.storeBeside(B));
    expect(destination.stored('AGB#9')).toMatchObject(left);
    destination.advance(5 * MINUTE);
    expect(destination.calls()).toEqual([]);
  });

  test('received before the save that makes it an event, it is sent', () => {
    const destination = createDestinationHarness({ mode: 'template' });
    destination.send({ type: 'wake' });
    destination.configure({ mode: 'events' });
    destination.send(destination.storeBeside(B));
    destination.send({ type: 'saved' });
    expect(destination.stored('AGB#9')).toMatchObject({ state: 'sending' });
  });

  test('ended in storage before its call was made, it leaves the line to the next', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.record(A, 'resolved');
    destination.calls();
    destination.answer('AGA#1', { class: 'dropped' });
    expect(destination.calls()).toEqual(['AGA#2']);
    expect(destination.failing()).toBeNull();
  });

  test('what the other mode used up or was asked to wait for does not hold it', () => {
    const destination = createDestinationHarness({ limiter: { limit: 1, per_seconds: 3_600 } });
    destination.record(A, 'created');
    destination.answer('AGA#1', { class: 'ok', status: 200 });
    leave(destination);
    destination.configure({ mode: 'events' });
    destination.send({ type: 'saved' });
    destination.calls();
    destination.record(B, 'created');
    expect(destination.calls()).toEqual(['AGB#1']);
  });
});

describe('restarts', () => {
  test('a call under way is due again at resume, with the same id', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.calls();
    destination.restart();
    destination.send({ type: 'resume' });
    expect(destination.calls()).toEqual(['AGA#1']);
  });

  test('a call that a wake-up began after the restart is not made again at resume', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.answer('AGA#1', { class: 'transient', error: 'answered 503' });
    destination.calls();
    destination.restart();
    destination.advance(2 * SECOND);
    expect(destination.calls()).toEqual(['AGA#1']);
    destination.send({ type: 'resume' });
    expect(destination.calls()).toEqual([]);
  });

  test('a call without an outcome is due again after a while, even without resume', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.calls();
    destination.restart();
    destination.advance(1);
    destination.advance(CALL_LOST_AFTER);
    expect(destination.calls()).toEqual(['AGA#1']);
  });

  test('a late failure of a call that was given up says nothing about the one after it', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.answer('AGA#1', { class: 'transient', error: 'answered 503' });
    destination.advance(2 * SECOND);
    destination.restart();
    destination.send({ type: 'resume' });
    expect(destination.calls()).toEqual(['AGA#1', 'AGA#1', 'AGA#1']);
    for (const outcome of [
      { class: 'fatal', error: 'answered 401' },
      { class: 'unknown', error: 'answered 400' },
      { class: 'transient', error: 'timeout' },
      { class: 'not_sent', because: 'unreadable' },
    ] as const) {
      destination.answer('AGA#1', outcome, 2);
    }
    expect(destination.health()).toEqual({ state: 'healthy' });
    expect(destination.stored('AGA#1')).toMatchObject({ state: 'sending', calls: 3, attempts: 1 });
    destination.answer('AGA#1', { class: 'ok', status: 200 }, 2);
    expect(destination.stored('AGA#1')).toMatchObject({ state: 'delivered' });
  });

  test('attempts and waits continue', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.failTransiently('AGA#1', 9);
    destination.restart();
    destination.failTransiently('AGA#1', 1);
    expect(destination.health()).toMatchObject({ state: 'broken' });
  });

  test('a lost probe is repeated', () => {
    const destination = createDestinationHarness();
    destination.record(A, 'created');
    destination.answer('AGA#1', { class: 'fatal', error: 'answered 401' });
    destination.calls();
    destination.advance(BROKEN_PROBE_INTERVAL);
    expect(destination.calls()).toEqual(['AGA#1']);
    destination.restart();
    destination.send({ type: 'resume' });
    expect(destination.calls()).toEqual(['AGA#1']);
  });

  test('a message that comes after its event was loaded from storage counts once', () => {
    const destination = createDestinationHarness({ limiter: { limit: 1, per_seconds: 3600 } });
    destination.record(A, 'created');
    const late = destination.record(B, 'created');
    destination.restart();
    destination.send(late);
    expect(destination.waiting()).toBe(2);
  });
});

describe('more events than memory holds', () => {
  test('groups beyond the bound wait in storage and follow, each exactly once', async () => {
    const destination = createDestinationHarness({ limiter: { limit: 1000, per_seconds: 1 } });
    const groups = MOST_EVENTS + 2000;
    for (let group = 0; group < groups; group++) destination.record(`AG${group}` as PublicId, 'created');
    expect(destination.waiting()).toBe(MOST_EVENTS);
    const seen = new Set<string>();
    for (let round = 0; round < 40 && seen.size < groups; round++) {
      for (let calls = destination.calls(); calls.length > 0; calls = destination.calls()) {
        for (const call of calls) {
          expect(seen.has(call)).toBe(false);
          seen.add(call);
          await destination.answerPrepared(call, { class: 'ok', status: 200 });
        }
      }
      destination.advance(SECOND);
    }
    expect(seen.size).toBe(groups);
    expect(destination.waiting()).toBe(0);
  });
  test('a group with more events than it may hold here sends them all, in order, each once', async () => {
    const destination = createDestinationHarness({ limiter: { limit: 1000, per_seconds: 1 } });
    const events = 3 * MOST_OF_GROUP;
    for (let event = 0; event < events; event++) destination.record(A, 'created');
    destination.record(B, 'created');
    expect(destination.waiting()).toBe(MOST_OF_GROUP + 1);
    const seen: string[] = [];
    for (let round = 0; round < 10 * events && seen.length <= events; round++) {
      for (const call of destination.calls()) {
        seen.push(call);
        await destination.answerPrepared(call, { class: 'ok', status: 200 });
      }
      await destination.wakePrepared();
    }
    expect(seen.filter((id) => id.startsWith(A))).toEqual(
      Array.from({ length: events }, (_, index) => `${A}#${index + 1}`),
    );
    expect(destination.waiting()).toBe(0);
    expect(destination.wakeAt()).toBeNull();
  });

  test('an event recorded for a Broken Destination costs the same however many wait', () => {
    const destination = createDestinationHarness({ limiter: { limit: 1, per_seconds: 3600 } });
    for (let group = 0; group < 50_000; group++) destination.record(`AG${group}` as PublicId, 'created');
    destination.answer('AG0#1', { class: 'fatal', error: 'answered 401' });
    destination.advance(MINUTE);
    const began = performance.now();
    for (let group = 0; group < 2000; group++) destination.record(`AN${group}` as PublicId, 'created');
    expect((performance.now() - began) / 2000).toBeLessThan(1);
  });
});
