/** The alerting rules of the recorded day: what fires when. A second of the recording is a minute of the day. */

export interface Rule {
  readonly labels: Readonly<Record<string, string>>;
  /** Who evaluates it; `both` are an HA pair of Prometheuses with the same rules. */
  readonly by: 'prometheus' | 'both' | 'evaluator';
  trueAt(second: number): boolean;
}

type Condition = (second: number) => boolean;
type Span = readonly [from: number, until: number];

const HOUR = 60;
/** Everything is over by then, the heartbeat apart. */
export const ALL_OVER = 23 * HOUR;

const during =
  (...spans: readonly Span[]): Condition =>
  (second) =>
    spans.some(([from, until]) => second >= from && second < Math.min(until, ALL_OVER));

/** On and off by turns. */
const flapping =
  (from: number, until: number, on: number, off: number): Condition =>
  (second) =>
    during([from, until])(second) && (second - from) % (on + off) < on;

function rule(
  by: Rule['by'],
  alertname: string,
  rest: Readonly<Record<string, string>>,
  trueAt: Condition,
): Rule {
  return { labels: { alertname, cluster: 'a', severity: 'warning', ...rest }, by, trueAt };
}

/** When a release begins; each of its pods fires until the next one takes its place. */
const RELEASES = [2 * HOUR, 10 * HOUR, 18 * HOUR] as const;

const pods = RELEASES.flatMap((begin, release) =>
  Array.from({ length: 8 }, (_, n) =>
    rule(
      'evaluator',
      'PodCrash',
      { pod: `shop-${release}${n}`, team: 'web' },
      during([begin + 14 * n, begin + 14 * (n + 1)]),
    ),
  ),
);

const nodes = Array.from({ length: 5 }, (_, n) =>
  rule(
    'evaluator',
    'NodeDown',
    { instance: `node-${n}`, severity: 'critical' },
    during([5 * HOUR, 5 * HOUR + 30 + 3 * n], [14 * HOUR + n, 15 * HOUR + 4 * n]),
  ),
);

/** Minutes on and off of four machines. */
const RHYTHMS = [
  [9, 4],
  [20, 8],
  [31, 50],
  [70, 35],
] as const;

const machines = RHYTHMS.map(([on, off], n) =>
  rule(
    'prometheus',
    'CpuHot',
    { instance: `web-${n + 1}`, team: 'web' },
    flapping(4 * HOUR + 7 * n, 19 * HOUR, on, off),
  ),
);

export const RULES: readonly Rule[] = [
  rule('both', 'DiskFull', { instance: 'db-1' }, during([3, ALL_OVER])),
  rule('both', 'DiskFull', { instance: 'db-2' }, during([30, 10 * HOUR + 40])),
  rule('prometheus', 'DiskFull', { instance: 'db-3' }, during([90, ALL_OVER])),
  rule(
    'both',
    'DiskFull',
    { instance: 'db-4', cluster: 'b' },
    during([45, 6 * HOUR], [13 * HOUR, 20 * HOUR]),
  ),
  rule('prometheus', 'HighLatency', { service: 'shop', team: 'web' }, flapping(5, ALL_OVER, 40, 40)),
  rule(
    'both',
    'HighLatency',
    { service: 'shop', team: 'web', cluster: 'b' },
    flapping(3 * HOUR, 8 * HOUR, 6, 6),
  ),
  rule(
    'prometheus',
    'Flicker',
    { instance: 'web-1', severity: 'info' },
    flapping(11 * HOUR, 13 * HOUR, 2, 3),
  ),
  rule('prometheus', 'QueueFull', { queue: 'mail', team: 'db' }, during([12, 16 * HOUR])),
  rule('prometheus', 'QueueFull', { queue: 'logs', team: 'db' }, flapping(25, 21 * HOUR, 30, 25)),
  rule('evaluator', 'QueueFull', { queue: 'bills', team: 'db' }, during([50, 100], [6 * HOUR, 8 * HOUR])),
  rule('evaluator', 'BatchLate', { job: 'bills' }, during([60, 130], [20 * HOUR, 21 * HOUR])),
  rule('prometheus', 'BackupOld', { instance: 'db-1', severity: 'critical' }, during([58, 9 * HOUR])),
  rule('evaluator', 'CertificateEnds', { instance: 'shop' }, during([16 * HOUR + 20, 22 * HOUR])),
  ...machines,
  ...pods,
  ...nodes,
];
