/** Metrics of outbound requests and deliveries (operations §8). */
import { Counter, Histogram, type Registry } from 'prom-client';
import { type Micros, SECOND } from '../clock.ts';
import type { RequestClass } from './client.ts';

export type ClientOutcome = 'ok' | 'retry_after' | 'transient' | 'fatal' | 'unknown' | 'blocked' | 'redirect';

export interface OutboundMetrics {
  /** One attempt, from dialling to the last byte. */
  request(client: RequestClass, outcome: ClientOutcome, took: Micros): void;
  /** Records of the Request log that were stored, or that nobody will see. */
  recorded(outcome: 'written' | 'lost', records: number): void;
}

export function createOutboundMetrics(registry: Registry): OutboundMetrics {
  const requests = new Counter({
    name: 'svc_client_requests_total',
    help: 'Outbound attempts',
    labelNames: ['client', 'outcome'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'svc_client_request_duration_seconds',
    help: 'Outbound attempts, from dialling to the end of the body',
    labelNames: ['client', 'outcome'],
    buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [registry],
  });
  const records = new Counter({
    name: 'svc_request_records_total',
    help: 'Records of the Request log: written, or lost because too many came or the database did not take them',
    labelNames: ['outcome'],
    registers: [registry],
  });
  return {
    recorded: (outcome, count) => records.inc({ outcome }, count),
    request(client, outcome, took) {
      requests.inc({ client, outcome });
      durations.observe({ client, outcome }, took / SECOND);
    },
  };
}
