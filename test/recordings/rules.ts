/** The alerting rules of the recording: what fires when, in seconds after its begin. */

export interface Rule {
  readonly labels: Readonly<Record<string, string>>;
  /** A second, identical Prometheus evaluates it as well. */
  readonly twice: boolean;
  trueAt(second: number): boolean;
}

type Condition = (second: number) => boolean;

/** Everything is over by then, the heartbeat apart. */
export const ALL_OVER = 285;

const during =
  (...spans: readonly (readonly [from: number, until: number])[]): Condition =>
  (second) =>
    spans.some(([from, until]) => second >= from && second < Math.min(until, ALL_OVER));

/** On and off by turns. */
const flapping =
  (from: number, until: number, on: number, off: number): Condition =>
  (second) =>
    during([from, until])(second) && (second - from) % (on + off) < on;

function rule(
  alertname: string,
  rest: Readonly<Record<string, string>>,
  trueAt: Condition,
  twice = false,
): Rule {
  return { labels: { alertname, cluster: 'a', severity: 'warning', ...rest }, twice, trueAt };
}

/** Each pod fires until the next one takes its place. */
const pods = Array.from({ length: 18 }, (_, n) =>
  rule('PodCrash', { pod: `shop-${n}`, team: 'web' }, during([20 + 14 * n, 34 + 14 * n])),
);

const nodes = Array.from({ length: 5 }, (_, n) =>
  rule(
    'NodeDown',
    { instance: `node-${n}`, severity: 'critical' },
    during([80, 100 + 3 * n], [172 + n, 240 + 4 * n]),
  ),
);

export const RULES: readonly Rule[] = [
  rule('DiskFull', { instance: 'db-1' }, during([3, ALL_OVER]), true),
  rule('DiskFull', { instance: 'db-2' }, during([10, 140]), true),
  rule('DiskFull', { instance: 'db-3' }, during([30, ALL_OVER]), true),
  rule('DiskFull', { instance: 'db-4', cluster: 'b' }, during([15, ALL_OVER]), true),
  rule('HighLatency', { service: 'shop', team: 'web' }, flapping(5, ALL_OVER, 25, 25)),
  rule('HighLatency', { service: 'shop', team: 'web', cluster: 'b' }, flapping(8, ALL_OVER, 6, 6), true),
  rule('Flicker', { instance: 'web-1', severity: 'info' }, flapping(40, 240, 2, 3)),
  rule('QueueFull', { queue: 'mail', team: 'db' }, during([12, ALL_OVER])),
  rule('QueueFull', { queue: 'bills', team: 'db' }, during([50, 100], [130, 200])),
  rule('QueueFull', { queue: 'logs', team: 'db' }, flapping(25, ALL_OVER, 15, 15)),
  rule('BatchLate', { job: 'bills' }, during([55, 120])),
  rule('BackupOld', { instance: 'db-1', severity: 'critical' }, during([58, ALL_OVER])),
  ...pods,
  ...nodes,
];

/** Always fires. */
export const WATCHDOG: Rule = rule('Watchdog', {}, () => true);
