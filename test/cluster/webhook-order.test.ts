/** The check of webhook requests itself: the orders that it accepts and refuses. */
import { expect, test } from 'vitest';
import type { WebhookBody } from '../fakes/webhook-receiver.ts';
import { type LifecycleEvent, webhookFaults } from '../harness/consistency.ts';

const EVENTS: readonly LifecycleEvent[] = [1, 2, 3].map((sequence) => {
  return { group: 'AG1', sequence, event: `event ${sequence}` };
});

/** Sequence and time of arrival in ms. */
type Arrival = readonly [sequence: number, at: number];

function faultsOf(arrivals: readonly Arrival[]): string[] {
  const requests = arrivals.map(([sequence, at]) => {
    const body = {
      event: `event ${sequence}`,
      sequence,
      alert_group: { id: 'AG1' },
    } as unknown as WebhookBody;
    return { id: `msg_${sequence}`, raw: `${sequence}`, at, body };
  });
  return webhookFaults(requests, EVENTS);
}

test.each<[string, readonly Arrival[], readonly string[]]>([
  [
    'each event once, in order',
    [
      [1, 0],
      [2, 1],
      [3, 2],
    ],
    [],
  ],
  [
    'an event again before the next one',
    [
      [1, 0],
      [1, 9_000],
      [2, 9_001],
      [3, 9_002],
    ],
    [],
  ],
  [
    'an event again right after the next one',
    [
      [1, 0],
      [2, 1_000],
      [1, 1_250],
      [3, 1_300],
    ],
    [],
  ],
  [
    'an event again long after the next one',
    [
      [1, 0],
      [2, 1_000],
      [1, 1_251],
      [3, 1_300],
    ],
    ['AG1 1 came again 251 ms after the next one'],
  ],
  [
    'an event for the first time after the next one',
    [
      [2, 0],
      [1, 1],
      [3, 2],
    ],
    ['AG1 1 came after 2'],
  ],
  [
    'an event that never comes',
    [
      [1, 0],
      [2, 1],
    ],
    ['AG1 3 (event 3) never came'],
  ],
])('%s', (_, arrivals, faults) => {
  expect(faultsOf(arrivals)).toEqual(faults);
});
