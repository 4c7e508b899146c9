import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import { createManualClock, type ManualClock } from '../../test/fakes/manual-clock.ts';
import type { Sql } from '../postgres/records.ts';
import { type ConfigurationPart, createConfigurationWatch } from './configuration-watch.ts';

let stored: Record<ConfigurationPart, number>;
let isAway: boolean;
let isSilent: boolean;
let queries: number;
let followed: string[];
let broken: ConfigurationPart | null;
let clock: ManualClock;
let logged: string[];

beforeEach(() => {
  stored = { directory: 7, webhooks: 1, integration_tokens: 3, outbound_policy: 1, links: 1, keyring: 1 };
  isAway = false;
  isSilent = false;
  queries = 0;
  followed = [];
  broken = null;
  logged = [];
  clock = createManualClock();
});

function watched() {
  const sql = async () => {
    queries++;
    if (isAway) throw new Error('away');
    if (isSilent) await new Promise(() => undefined);
    return [{ ...stored }];
  };
  const follow = (part: ConfigurationPart) => async (version: number) => {
    if (broken === part) throw new Error(`${part} cannot be read`);
    followed.push(`${part} ${version}`);
  };
  const watch = createConfigurationWatch({
    sql: sql as unknown as Sql,
    clock,
    monotonic: (): Micros => clock.now(),
    log: (event) => logged.push(event),
    follow: {
      directory: follow('directory'),
      webhooks: follow('webhooks'),
      integration_tokens: follow('integration_tokens'),
      outbound_policy: follow('outbound_policy'),
      links: follow('links'),
      keyring: follow('keyring'),
    },
  });
  onTestFinished(() => watch.stop());
  return watch;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const pass = async (time: Micros) => {
  clock.advance(time);
  await settled();
};

describe('following the configuration', () => {
  test('a look brings every part to what is stored once, and later only what changed', async () => {
    const watch = watched();
    await watch.look();
    expect(followed).toEqual([
      'directory 7',
      'webhooks 1',
      'integration_tokens 3',
      'outbound_policy 1',
      'links 1',
      'keyring 1',
    ]);
    stored.integration_tokens = 4;
    await watch.look();
    await watch.look();
    expect(followed.slice(6)).toEqual(['integration_tokens 4']);
  });

  test('many that look at once share two questions', async () => {
    const watch = watched();
    await Promise.all(Array.from({ length: 50 }, () => watch.look()));
    expect(queries).toBe(2);
  });

  test('one silent connection keeps nobody waiting for longer than 1.5 s', async () => {
    const watch = watched();
    isSilent = true;
    const looks = Promise.all(Array.from({ length: 50 }, () => watch.look()));
    await settled();
    isSilent = false;
    clock.advance(1.5 * SECOND);
    await looks;
    expect(watch.isTrusted()).toBe(true);
  });

  test('a change nobody told of is seen within a second', async () => {
    const watch = watched();
    watch.start();
    await settled();
    stored.webhooks = 2;
    await pass(SECOND);
    expect(followed.at(-1)).toBe('webhooks 2');
  });

  test('a part that could not be read again is tried with the next look; the others are not held up', async () => {
    const watch = watched();
    broken = 'directory';
    await expect(watch.look()).rejects.toThrow('directory cannot be read');
    expect(followed).toHaveLength(5);
    broken = null;
    await watch.look();
    expect(followed.slice(5)).toEqual(['directory 7']);
  });

  test('what is remembered is trusted for two seconds after the last look that succeeded', async () => {
    const watch = watched();
    expect(watch.isTrusted()).toBe(false);
    await watch.look();
    expect(watch.isTrusted()).toBe(true);
    clock.advance(2 * SECOND - 1);
    expect(watch.isTrusted()).toBe(true);
    clock.advance(1);
    expect(watch.isTrusted()).toBe(false);
  });

  test('without the database nothing is trusted, which is logged once; then everything goes on', async () => {
    const watch = watched();
    watch.start();
    await settled();
    isAway = true;
    for (let second = 0; second < 5; second++) await pass(SECOND);
    expect(watch.isTrusted()).toBe(false);
    expect(logged).toEqual(['store_read_failed']);
    isAway = false;
    await pass(SECOND);
    expect(watch.isTrusted()).toBe(true);
  });

  test('a stopped one asks no more', async () => {
    const watch = watched();
    watch.start();
    await settled();
    watch.stop();
    await pass(5 * SECOND);
    expect(queries).toBe(1);
  });
});
