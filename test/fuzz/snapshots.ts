/** Bodies of webhooks to ingest: sizes, numbers and types at and beyond every bound. */
import type { Random } from '../simulation/random.ts';
import { changed, type Json, oddText, oddValue } from './values.ts';

const STARTS = [
  '2026-10-03T09:58:00Z',
  '2026-10-03T09:58:00.123456789+02:00',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
];

/** @returns the body, as text or as bytes that no text has */
export function snapshotBytes(random: Random): Buffer {
  let value: Json = snapshotOf(random);
  for (let times = random.pick([0, 0, 1, 1, 2, 4]); times > 0; times--) value = changed(value, random);
  const bytes = Buffer.from(JSON.stringify(value));
  if (random.chance(0.95) || bytes.length === 0) return bytes;
  const at = random.int(bytes.length);
  return random.pick([
    bytes.subarray(0, at),
    Buffer.concat([bytes.subarray(0, at), Buffer.from(random.bytes(3)), bytes.subarray(at)]),
    Buffer.from(`${'['.repeat(50_000)}`),
    Buffer.concat([Buffer.from('\uFEFF'), bytes]),
    Buffer.from(bytes.toString(), 'utf16le'),
  ]);
}

function snapshotOf(random: Random): Json {
  const many = random.chance(0.01) ? random.pick([100, 1_000]) : random.int(4);
  return {
    version: random.pick(['4', '3', 4, '']),
    // Few groups, so that most of them change instead of being new.
    groupKey: random.chance(0.9) ? `{}:{alertname="Fuzz${random.int(30)}"}` : oddText(random),
    truncatedAlerts: random.pick([0, 0, 0, 1, -1, 2 ** 53]),
    status: random.pick(['firing', 'firing', 'resolved', 'suppressed']),
    receiver: 'tocsin',
    groupLabels: {},
    commonLabels: {},
    commonAnnotations: {},
    externalURL: random.pick(['http://alertmanager:9093', 'javascript:alert(1)', '']),
    alerts: Array.from({ length: many }, (_, n) => alertOf(random, n)),
  };
}

function alertOf(random: Random, n: number): Json {
  const labels: Record<string, Json> = { alertname: `Fuzz${random.int(30)}`, n: String(n) };
  for (let more = random.int(4); more > 0; more--) {
    const name = random.pick(['severity', 'instance', 'pod', 'cluster', oddText(random)]);
    labels[name] = random.chance(0.95) ? oddText(random) : oddValue(random);
  }
  return {
    status: random.pick(['firing', 'firing', 'resolved']),
    labels,
    annotations: {
      summary: oddText(random),
      runbook_url: random.pick(['https://x.invalid/', 'javascript:alert(1)']),
    },
    startsAt: random.chance(0.9) ? random.pick(STARTS) : oddText(random),
    endsAt: random.pick(['0001-01-01T00:00:00Z', '2026-10-03T10:00:00Z']),
    generatorURL: 'http://prometheus:9090/graph',
    ...(random.chance(0.3)
      ? { fingerprint: random.chance(0.8) ? `${random.int(50)}` : oddText(random) }
      : {}),
  };
}
