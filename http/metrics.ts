/** Metrics of the app listener and of sign-in (operations §8). */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface HttpMetrics {
  /** @param pattern path template, or `unmatched` */
  requestAnswered(pattern: string, method: string, status: number, seconds: number): void;
  liveStreams(open: number): void;
  /** An attempt that was looked at and failed. */
  loginFailed(method: 'local' | 'oidc' | 'totp'): void;
}

export function createHttpMetrics(registry: Registry): HttpMetrics {
  const requests = new Counter({
    name: 'svc_api_requests_total',
    help: 'Requests of the app listener.',
    labelNames: ['route_pattern', 'method', 'code'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'svc_api_request_duration_seconds',
    help: 'From the head of a request to its answer.',
    labelNames: ['route_pattern', 'method'],
    buckets: SECONDS,
    registers: [registry],
  });
  const streams = new Gauge({
    name: 'svc_live_streams',
    help: 'Open live-update streams.',
    registers: [registry],
  });
  const failures = new Counter({
    name: 'svc_login_failures_total',
    help: 'Evaluated sign-in attempts that failed.',
    labelNames: ['method'],
    registers: [registry],
  });
  for (const method of ['local', 'oidc', 'totp']) failures.inc({ method }, 0);

  return {
    requestAnswered(pattern, method, status, seconds) {
      requests.inc({ route_pattern: pattern, method, code: String(status) });
      duration.observe({ route_pattern: pattern, method }, seconds);
    },
    liveStreams: (open) => streams.set(open),
    loginFailed: (method) => failures.inc({ method }),
  };
}
