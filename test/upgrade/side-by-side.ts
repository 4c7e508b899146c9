/**
 * `node test/upgrade/side-by-side.ts <checkout of the version before> [seconds]`: an upgrade as docs/upgrading.md tells to
 * do it, with replicas of both versions side by side under load. It needs a second checkout with its packages, so it is
 * run by hand before a release and not by the tests.
 */
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Cluster } from '../harness/cluster.ts';
import { evenlySpread } from '../harness/cluster-facts.ts';
import { checkConsistency } from '../harness/consistency.ts';
import { runTocsin } from '../harness/program.ts';
import { randomSource } from '../harness/random.ts';
import type { Replica } from '../harness/replica.ts';
import { Traffic } from '../harness/traffic.ts';
import { Witness } from '../harness/witness.ts';

const [before, seconds = '60'] = process.argv.slice(2);
if (before === undefined) {
  console.error('node test/upgrade/side-by-side.ts <checkout of the version before> [seconds]');
  process.exit(2);
}
const HERE = path.resolve(import.meta.dirname, '..', '..');
const LOAD = { lanes: 16, groups: 80, postsPerSecond: 100, people: 4, commandsPerSecond: 5 };

const cluster = await Cluster.start({ replicas: 2, program: path.resolve(before), durable: true });
const witness = await Witness.install(cluster.sql);
await evenlySpread(cluster);
const traffic = new Traffic(cluster, 'Upgrade', { ...LOAD, random: randomSource(Date.now()) });
await pause(10_000);

const began = performance.now();
await runTocsin(['migrate'], cluster.environment(), HERE);
console.log(`migrated under load in ${Math.round(performance.now() - began)} ms`);
const [first, second] = cluster.replicas as [Replica, Replica];
await replaced(first);
await sideBySide('one of each version');
await restartedOld(second);
await replaced(second);
await sideBySide('the new version alone');

await traffic.stop();
const { faults } = await checkConsistency(cluster, traffic);
const violations = await witness.violations();
const { latencies, slowest } = traffic.people;
console.log(
  `${traffic.accepted} posts accepted, ${latencies.length} Commands, slowest ${Math.round(slowest.tookMs)} ms`,
);
console.log(
  `faults ${faults.length}, fencing violations ${violations.length}, ended by themselves ${crashes().length}`,
);
for (const fault of [...faults, ...violations, ...crashes()].slice(0, 20)) console.log(fault);
const isRight = faults.length + violations.length + crashes().length === 0;
if (isRight) await cluster.remove();
else console.log(`what was written is kept in ${cluster.home}`);
process.exit(isRight ? 0 : 1);

async function replaced(replica: Replica): Promise<void> {
  replica.program = HERE;
  await restarted(replica);
}

async function restarted(replica: Replica): Promise<void> {
  await replica.terminate();
  await replica.start();
  await evenlySpread(cluster);
}

/** A replica of the old version that restarts after the migrations: it serves, or says that it is too old for them. */
async function restartedOld(replica: Replica): Promise<void> {
  await replica.terminate();
  const started = replica.start();
  const refused = await started.then(
    () => null,
    () => replica.said().at(-1) ?? 'no word',
  );
  console.log(`a replica of the old version started again: ${refused ?? 'it serves'}`);
  if (refused === null) return;
  await replica.ends();
  // It ended as it should.
  replica.crashes.pop();
}

async function sideBySide(what: string): Promise<void> {
  const { accepted } = traffic;
  await pause(Number(seconds) * 1_000);
  const lines = cluster.replicas.flatMap((replica) => replica.events());
  const errors = lines.filter(({ level }) => level === 'error').map(({ event }) => event);
  console.log(
    `${what}: ${seconds} s, ${traffic.accepted - accepted} posts, errors logged so far: ${errors.length}`,
  );
  for (const event of new Set(errors)) console.log(`  ${event}`);
}

function crashes(): readonly string[] {
  return cluster.replicas.flatMap((replica) => replica.crashes);
}
