import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cutText, LABEL_BOUNDS } from '../feed/body.ts';
import {
  contextOf,
  type GroupState,
  migrateState,
  persistState,
  restoreState,
  type StartedGroup,
} from './state.ts';
import { NEVER_REMINDED } from './timers/timers.ts';

/** As the first release stored them. */
const STORED = JSON.parse(
  readFileSync(new URL('./schema-1.fixture.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, unknown>>;

function migrated(name: string): StartedGroup {
  const state: GroupState = restoreState(migrateState(STORED[name], 1));
  if (state.stage === 'unstarted') throw new Error(`${name} has not begun`);
  return state;
}

describe('an Alert Group that the first release stored', () => {
  it.each(Object.keys(STORED))('%s is restored, stored and restored again', (name) => {
    const state = migrated(name);
    expect(contextOf(state)).toMatchObject({ held: false, acceptedWhileHeld: false, noticeAt: null });
    expect(restoreState(JSON.parse(JSON.stringify(persistState(state))))).toEqual(state);
  });
});

describe('its timers', () => {
  it.each([
    ['firing', { firing: 'silent' }, null],
    ['unpublished', { firing: 'waiting' }, null],
    ['acknowledged', { acknowledged: 'silent' }, NEVER_REMINDED],
    ['snoozed', 'snoozed', null],
    ['resolvedByPerson', { resolved: { person: 'grace' } }, null],
  ])('%s', (name, value, reminders) => {
    const state = migrated(name);
    expect(state.snapshot.value).toEqual(value);
    expect(contextOf(state).reminders).toEqual(reminders);
  });

  it('a Reopen goes back to an Owner who was never reminded', () => {
    expect(contextOf(migrated('resolvedAcknowledged')).prior).toMatchObject({
      status: 'acknowledged',
      reminders: NEVER_REMINDED,
    });
  });
});

describe('the labels of its key', () => {
  const long = 'x'.repeat(100_000);
  const cut = cutText(long, LABEL_BOUNDS.value);

  it.each([
    ['of any length are cut as received ones are', long, cut],
    ['that are cut already stay so', cut, cut],
    ['that an earlier release cut stay so', `${long.slice(0, 4_096)}… [cut: 100000 characters]`, null],
    ['that only end like a cut text are cut', `${long}… [cut: 3 characters]`, undefined],
  ])('%s', (_, value, expected) => {
    const stored = { ...(STORED.firing as StartedGroup) };
    const old = { ...stored, slot: { ...stored.slot, groupLabels: { alertname: 'X', cluster: value } } };
    const restored = restoreState(migrateState(JSON.parse(JSON.stringify(old)), 1)) as StartedGroup;
    const shown = expected === undefined ? cutText(value, LABEL_BOUNDS.value) : (expected ?? value);
    expect(restored.slot).toEqual({ ...stored.slot, groupLabels: { alertname: 'X', cluster: shown } });
  });
});

it('an address that was only chosen stays as it is', () => {
  expect(migrateState({ stage: 'unstarted' }, 1)).toEqual({ stage: 'unstarted' });
});

it('no other schema was ever stored', () => {
  expect(() => migrateState({}, 0)).toThrow('schema 0');
});
