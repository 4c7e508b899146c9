/** Metrics of Redis (operations §8). */
import { Gauge, Histogram, type Registry } from 'prom-client';
import { type Micros, SECOND } from '../clock.ts';

export interface RedisMetrics {
  up(isUp: boolean): void;
  /** One round trip, answered or not. */
  command(took: Micros): void;
}

export function createRedisMetrics(registry: Registry): RedisMetrics {
  const up = new Gauge({
    name: 'svc_redis_up',
    help: '1 while this replica can use Redis, 0 otherwise.',
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'svc_redis_command_duration_seconds',
    help: 'Round trips to Redis, those without an answer included.',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [registry],
  });
  return {
    up: (isUp) => up.set(isUp ? 1 : 0),
    command: (took) => durations.observe(took / SECOND),
  };
}
