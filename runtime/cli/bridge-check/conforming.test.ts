/** The reference bridge keeps every rule, with everything on and with everything off. */
import { expect, test } from 'vitest';
import { SWITCHES } from '../bridge-reference/shapes.ts';
import { playChecks } from './in-memory.fixture.ts';
import { ALL_CHECKS } from './session.ts';

test('the reference bridge passes every check, and none is skipped', async () => {
  const results = await playChecks();
  expect(results.filter(({ verdict }) => verdict !== 'PASS')).toEqual([]);
  expect(results.map(({ id }) => id)).toEqual(ALL_CHECKS.map(({ id }) => id));
});

test.each(SWITCHES)('the reference bridge without %s fails nothing', async (name) => {
  const results = await playChecks({ settings: { without: new Set([name]) } });
  expect(results.filter(({ verdict }) => verdict === 'FAIL' || verdict === 'WARN')).toEqual([]);
});

test('what a bridge does not declare is skipped, and so is what lacks an option', async () => {
  const without = new Set(SWITCHES);
  const nothing = {
    channel: null,
    missingChannel: null,
    handle: null,
    unknownHandle: null,
    secondToken: null,
  };
  const results = await playChecks({
    settings: { without, editMaxAge: null },
    session: { ...nothing, person: null },
  });
  const skipped = results
    .filter(({ verdict }) => verdict === 'SKIP')
    .map(({ id, reason }) => `${id} ${reason}`);
  expect(results.every(({ verdict }) => verdict === 'PASS' || verdict === 'SKIP')).toBe(true);
  expect(skipped).toEqual(
    expect.arrayContaining([
      'P1 needs --channel',
      'C2 needs --missing-channel',
      'F1 user_lookup is none',
      'L1 the bridge is not polled',
      'K1 needs --channel',
      'K2 K1 did not pass',
      'N1 needs --interactive or --sim',
      'W1 needs --interactive or --sim',
    ]),
  );
});

test('the checks that were asked for are made with those that they need', async () => {
  const results = await playChecks({ session: { only: ['K4', 'G1'] } });
  expect(results.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual(['G1 PASS', 'K1 PASS', 'K4 PASS']);
});
