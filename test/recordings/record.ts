/**
 * Records what a real pair of Alertmanagers sends in a day in which rules fire and flap and everything is mistreated,
 * beside the truth. The day takes 24 minutes: `npx node test/recordings/record.ts`.
 */
import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { installPrerequisites } from '../prerequisites.ts';
import { EVALUATION_INTERVAL, Evaluator } from './evaluator.ts';
import { Pair } from './pair.ts';
import { Prometheuses } from './prometheus.ts';
import { nowMicros, startReceiver } from './receiver.ts';
import type { Line } from './recording.ts';
import { RULES, type Rule } from './rules.ts';
import { firstConfiguration, Story } from './story.ts';

const FILE = path.join(import.meta.dirname, 'alertmanager-day.jsonl.gz');
/** Seconds; what ended without a word is over by then. */
const LENGTH = 1_440;

installPrerequisites();
const receiver = await startReceiver();
const truth: Line[] = [];
let begin = Number.POSITIVE_INFINITY;
/** µs; before the begin nothing is true. */
const since = (): number => nowMicros() - begin;

const pair = await Pair.start(firstConfiguration(receiver.port));
const prometheuses = await Prometheuses.start({
  rules: RULES,
  now: () => since() / 1e6,
  deliver: (alertmanager, alerts) => pair.deliver(alertmanager, alerts),
});
await pause(6_000);
begin = nowMicros();

const firing = new Map<Rule, number>();
function note(second: number): void {
  for (const rule of RULES) {
    const at = firing.get(rule);
    if (rule.trueAt(second) && at === undefined) firing.set(rule, since());
    if (rule.trueAt(second) || at === undefined) continue;
    truth.push({ kind: 'fired', at, until: since(), labels: rule.labels });
    firing.delete(rule);
  }
}

async function evaluate(): Promise<void> {
  const evaluator = new Evaluator(RULES.filter(({ by }) => by === 'evaluator'));
  for (let tick = 0; tick < LENGTH; tick++) {
    await pause(Math.max(0, tick * EVALUATION_INTERVAL - since() / 1000));
    note(tick);
    const alerts = evaluator.evaluate(tick, Date.now());
    if (alerts.length > 0) await Promise.all([pair.deliver(1, alerts), pair.deliver(2, alerts)]);
  }
}

const story = new Story({ pair, prometheuses, receiverPort: receiver.port, truth, since });
try {
  await Promise.all([evaluate(), story.play()]);
} finally {
  await prometheuses.close();
  await pair.close();
  receiver.server.close();
}

const heard: Line[] = receiver.received
  .filter((one) => one.at >= begin)
  .map(({ path, from, at, body }) =>
    path === 'heartbeat'
      ? { kind: 'heartbeat', at: at - begin, from }
      : { kind: 'post', at: at - begin, from, body },
  );
const lines = [...heard, ...truth].sort((left, right) => left.at - right.at);
writeFileSync(FILE, gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { level: 9 }));
const count = (kind: Line['kind']) => lines.filter((line) => line.kind === kind).length;
console.log(
  `${count('post')} posts, ${count('heartbeat')} heartbeats, ${receiver.refused()} refused, ` +
    `${count('fired')} firings; ${statSync(FILE).size} bytes`,
);
