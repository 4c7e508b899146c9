/**
 * What nobody wrote down: two Alertmanagers that say the same, late and out of order, people who act meanwhile, time
 * that passes, and a service that is restarted on its database.
 */
import { expect } from 'vitest';
import { MINUTE, SECOND } from '../../runtime/clock.ts';
import { randomSource } from '../harness/random.ts';
import { expectInvariants } from './invariants.ts';
import type { Body } from './lab-sender.ts';
import type { Scenario } from './scenario.ts';

const NAMES = ['X1', 'X2', 'XI', 'XC', 'Xb', 'P1', 'P2'] as const;
const GROUPS = ['G', 'H'] as const;
const PEOPLE = ['Ann', 'Bob'] as const;
const COMMANDS = [
  ['acknowledge'],
  ['unacknowledge'],
  ['resolve'],
  ['unresolve'],
  ['unsnooze'],
  ['still-on-it'],
  ['notes', { body: 'noted' }],
  ['snooze', { no_end: true }],
] as const;
const PAUSES = [5 * SECOND, 50 * SECOND, 3 * MINUTE, 7 * MINUTE, 16 * MINUTE, 70 * MINUTE] as const;

/**
 * Plays `rounds` rounds of chance: what is done follows from the seed, what overtakes what also from the machine. Answers
 * the Alert Groups that are open after everything has ended. @throws when an invariant does not hold
 */
export async function interleave(s: Scenario, seed: number, rounds: number): Promise<readonly number[]> {
  const random = randomSource(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  const firing = new Map<string, Set<string>>(GROUPS.map((group) => [group, new Set()]));
  /** On their way: each body once from either Alertmanager. */
  const underWay: Body[] = [];

  const change = () => {
    const group = pick(GROUPS);
    const names = firing.get(group) as Set<string>;
    const changes = Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(NAMES)).map((name) => {
      if (!names.has(name)) return names.add(name) && `+${name}`;
      if (random() < 0.2) return `^${name}`;
      names.delete(name);
      return random() < 0.7 ? `-${name}` : `!${name}`;
    });
    const body = s.sender().snapshot(group, changes, s.world.clock.now());
    underWay.push(body, body);
  };
  const post = async () => {
    // One of the oldest: some overtake others.
    const [body] = underWay.splice(Math.floor(random() * Math.min(4, underWay.length)), 1);
    if (body) expect(await s.sender().post(body)).toBe(202);
  };
  const command = async () => {
    const groups = await s.groups();
    if (groups.length === 0) return;
    const [path, body] = pick(COMMANDS);
    const who = await s.people.named(pick(PEOPLE));
    const { id } = pick(groups);
    const { status } = await who.call('POST', `/alert-groups/${id}/${path}`, body);
    expect([200, 201, 409]).toContain(status);
  };

  for (const name of PEOPLE) await s.people.named(name);
  for (let round = 1; round <= rounds; round++) {
    change();
    const together = Array.from({ length: 1 + Math.floor(random() * 5) }, () =>
      random() < 0.65 ? post() : command(),
    );
    await Promise.all(together);
    if (random() < 0.06) await s.world.downUntil(s.world.clock.now() + pick(PAUSES));
    else await s.world.passTo(s.world.clock.now() + pick(PAUSES));
    await expectInvariants(s.world.sql);
  }
  return endAll(s, underWay);
}

/** The rest arrives, then both say that nothing fires. Answers the Alert Groups that are open all the same. */
async function endAll(s: Scenario, underWay: readonly Body[]): Promise<readonly number[]> {
  for (const body of underWay) expect(await s.sender().post(body)).toBe(202);
  await s.world.passTo(s.world.clock.now() + MINUTE);
  for (const group of GROUPS) {
    const { groupKey } = s.sender().snapshot(group, [], s.world.clock.now());
    expect(await s.sender().post({ groupKey, status: 'resolved', alerts: [] })).toBe(202);
  }
  await s.world.passTo(s.world.clock.now() + 60 * MINUTE);
  await expectInvariants(s.world.sql);
  return (await s.groups()).filter(({ status }) => status !== 'resolved').map(({ number }) => number);
}
