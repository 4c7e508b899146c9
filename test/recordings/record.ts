/**
 * Records what a real pair of Alertmanagers sends while rules fire and flap and the pair is mistreated, beside the
 * truth. Takes five and a half minutes: `npx node test/recordings/record.ts`.
 */
import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { stringify } from 'yaml';
import { installPrerequisites } from '../prerequisites.ts';
import { EVALUATION_INTERVAL, Evaluator, type Turn } from './evaluator.ts';
import { Pair } from './pair.ts';
import { nowMicros, startReceiver } from './receiver.ts';
import type { Line } from './recording.ts';
import { RULES, type Rule, WATCHDOG } from './rules.ts';

const FILE = path.join(import.meta.dirname, 'alertmanager-pair.jsonl.gz');
/** Seconds; what ended without a word is over by then. */
const LENGTH = 335;
/** ms by which the second Prometheus is behind. */
const SECOND_BEHIND = 400;

installPrerequisites();
const receiver = await startReceiver();
const truth: Line[] = [];

/** @param maxAlerts 0 for all */
const config =
  (groupBy: readonly string[], maxAlerts = 0) =>
  (instance: number): string => {
    const url = (path: string) => `http://127.0.0.1:${receiver.port}/${instance}/${path}`;
    const heartbeat = { group_wait: '0s', group_interval: '2s', repeat_interval: '1s' };
    return stringify({
      route: {
        receiver: 'tocsin',
        group_by: groupBy,
        group_wait: '1s',
        group_interval: '2s',
        repeat_interval: '10s',
        routes: [
          { receiver: 'heartbeat', matchers: ['alertname="Watchdog"'], ...heartbeat },
          { receiver: 'tocsin', matchers: ['team="db"'], continue: true },
          { receiver: 'tocsin' },
        ],
      },
      receivers: [
        {
          name: 'tocsin',
          webhook_configs: [{ url: url('ingest'), send_resolved: true, max_alerts: maxAlerts }],
        },
        { name: 'heartbeat', webhook_configs: [{ url: url('heartbeat'), send_resolved: false }] },
      ],
    });
  };

const BY_CLUSTER = ['alertname', 'cluster'];
const pair = await Pair.start(config(BY_CLUSTER));
await pause(6_000);
const begin = nowMicros();
const since = (): number => nowMicros() - begin;

function tell(text: string): void {
  console.log(`${(since() / 1e6).toFixed(1).padStart(6)}  ${text}`);
  truth.push({ kind: 'story', at: since(), text });
}

async function restart(instance: number, signal: 'SIGTERM' | 'SIGKILL', wipe = false): Promise<void> {
  tell(`${signal} to ${instance}${wipe ? ', its data lost' : ''}`);
  await pair.end(instance, signal, { wipe });
  await pause(3_000);
  await pair.start(instance);
}

async function silence(
  labels: Readonly<Record<string, string>>,
  seconds: number,
  setFor = seconds,
): Promise<void> {
  tell(`silence ${JSON.stringify(labels)}`);
  const at = since();
  const id = await pair.silence(labels, setFor * 1000);
  await pause(seconds * 1000);
  if (setFor > seconds) await pair.expire(id);
  truth.push({ kind: 'silenced', at, until: since(), labels });
  tell(`silence over ${JSON.stringify(labels)}`);
}

async function cutFor(seconds: number): Promise<void> {
  tell('max_alerts 2');
  const at = since();
  pair.reload(config(BY_CLUSTER, 2));
  await pause(seconds * 1000);
  pair.reload(config(BY_CLUSTER));
  truth.push({ kind: 'cut', at, until: since() });
  tell('max_alerts 0');
}

function group(by: readonly string[]): void {
  tell(`group_by ${by}`);
  pair.reload(config(by));
}

function prometheusRestarts(): void {
  tell('Prometheus forgets since when everything fires');
  first.forget();
}

const STORY: readonly (readonly [second: number, act: () => unknown])[] = [
  [20.3, () => restart(1, 'SIGTERM')],
  [45.7, () => restart(2, 'SIGKILL')],
  [60.1, () => silence({ alertname: 'DiskFull', instance: 'db-3' }, 35, 600)],
  [70.5, () => silence({ alertname: 'BatchLate' }, 80)],
  [70.6, () => silence({ alertname: 'BackupOld' }, 80)],
  [110.2, () => group(['alertname'])],
  [126.4, () => restart(1, 'SIGKILL')],
  [160.8, () => group(BY_CLUSTER)],
  [175.3, () => cutFor(40)],
  [225.5, prometheusRestarts],
  [235.6, () => Promise.all([restart(1, 'SIGKILL', true), restart(2, 'SIGKILL', true)])],
  [260.2, () => restart(1, 'SIGTERM')],
  [270.9, () => restart(2, 'SIGKILL')],
];

const firing = new Map<Rule, number>();
function note(turns: readonly Turn[]): void {
  for (const { rule, fires } of turns) {
    // Whoever forgot says once more that it began.
    if (fires && firing.has(rule)) continue;
    if (fires) firing.set(rule, since());
    else {
      truth.push({ kind: 'fired', at: firing.get(rule) ?? since(), until: since(), labels: rule.labels });
      firing.delete(rule);
    }
  }
}

/** What the truth says fires and nobody evaluates as such any more. */
function noteForgotten(second: number): void {
  const ended = [...firing.keys()].filter((rule) => !rule.trueAt(second));
  note(ended.map((rule) => ({ rule, fires: false })));
}

const first = new Evaluator([...RULES, WATCHDOG]);
const second = new Evaluator(RULES.filter(({ twice }) => twice));
const acts = STORY.map(async ([when, act]) => {
  await pause(when * 1000);
  await act();
});

for (let tick = 0; tick < LENGTH; tick++) {
  await pause(Math.max(0, tick * EVALUATION_INTERVAL - since() / 1000));
  const told = first.evaluate(tick, Date.now());
  note(told.turns);
  noteForgotten(tick);
  await pair.send(told.send);
  await pause(Math.max(0, tick * EVALUATION_INTERVAL + SECOND_BEHIND - since() / 1000));
  await pair.send(second.evaluate(tick, Date.now()).send);
}
await Promise.all(acts);
await pair.close();
receiver.server.close();

const heard: Line[] = receiver.received
  .filter((one) => one.at >= begin)
  .map(({ path, from, at, body }) =>
    path === 'heartbeat'
      ? { kind: 'heartbeat', at: at - begin, from }
      : { kind: 'post', at: at - begin, from, body },
  );
const watched = truth.filter((line) => line.kind !== 'fired' || line.labels.alertname !== 'Watchdog');
const lines = [...heard, ...watched].sort((left, right) => left.at - right.at);
writeFileSync(FILE, gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { level: 9 }));
const count = (kind: Line['kind']) => lines.filter((line) => line.kind === kind).length;
console.log(
  `${count('post')} posts, ${count('heartbeat')} heartbeats, ${receiver.refused()} refused, ` +
    `${count('fired')} firings; ${statSync(FILE).size} bytes`,
);
