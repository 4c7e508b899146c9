import { Counter, type Registry } from 'prom-client';

const OUTCOMES = ['ok', 'refused', 'unavailable', 'skipped'] as const;
export type CheckOutcome = (typeof OUTCOMES)[number];

export interface OidcMetrics {
  checked(outcome: CheckOutcome): void;
}

export function createOidcMetrics(registry: Registry): OidcMetrics {
  const checks = new Counter({
    name: 'svc_oidc_checks_total',
    help: 'People about whom the identity provider was asked while they were away.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of OUTCOMES) checks.inc({ outcome }, 0);
  return { checked: (outcome) => checks.inc({ outcome }) };
}
