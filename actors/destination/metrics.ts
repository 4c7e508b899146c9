/** Metrics of deliveries (operations §8). */
import { Counter, Histogram, type Registry } from 'prom-client';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { SendOutcome } from '../channels/calls.ts';

/** What a call is for. */
export type CallKind =
  | 'publication'
  | 'update'
  | 'final_edit'
  | 'thread_reply'
  | 'storm_summary'
  | 'webhook_event';

export interface DeliveryMetrics {
  attempt(destination: PublicId, kind: CallKind, outcome: SendOutcome['class']): void;
  /** From the event to its first request. */
  latency(destination: PublicId, took: Micros): void;
}

export function createDeliveryMetrics(registry: Registry): DeliveryMetrics {
  const attempts = new Counter({
    name: 'svc_delivery_attempts_total',
    help: 'Delivery attempts',
    labelNames: ['destination', 'kind', 'outcome'],
    registers: [registry],
  });
  const latencies = new Histogram({
    name: 'svc_delivery_latency_seconds',
    help: 'From what happened to the first request about it',
    labelNames: ['destination'],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers: [registry],
  });
  return {
    attempt(destination, kind, outcome) {
      attempts.inc({ destination, kind, outcome: outcome === 'ok' ? 'delivered' : outcome });
    },
    latency(destination, took) {
      latencies.observe({ destination }, Math.max(0, took) / SECOND);
    },
  };
}
