import { describe, expect, it } from 'vitest';
import type { AlertGroup, CommandName } from '../../api/shapes.ts';
import { asksFirst, type Back, type isAsLeft, takeBack, undoOf } from './undo.ts';

const ME = 'U1';
const OTHER = 'U2';
const person = (id: string) => ({ id, name: id, login: id, deactivated: false });

const BEFORE = {
  firing: { status: 'firing', owner: null },
  mine: { status: 'acknowledged', owner: person(ME) },
  theirs: { status: 'acknowledged', owner: person(OTHER) },
  snoozed: { status: 'snoozed', owner: null },
  resolved: { status: 'resolved', owner: null },
} as const satisfies Record<string, Pick<AlertGroup, 'status' | 'owner'>>;

describe('the way back of', () => {
  it.each<[CommandName, keyof typeof BEFORE, Back | null]>([
    ['acknowledge', 'firing', 'unacknowledge'],
    ['acknowledge', 'theirs', null],
    ['acknowledge', 'snoozed', null],
    ['snooze', 'firing', 'unsnooze'],
    ['snooze', 'mine', null],
    ['snooze', 'theirs', null],
    ['snooze', 'snoozed', null],
    ['unacknowledge', 'mine', 'acknowledge'],
    ['unacknowledge', 'theirs', null],
    ['resolve', 'firing', 'unresolve'],
    ['resolve', 'mine', 'unresolve'],
    ['resolve', 'theirs', 'unresolve'],
    ['resolve', 'snoozed', 'unresolve'],
    ['unsnooze', 'snoozed', null],
    ['unresolve', 'resolved', null],
    ['still_on_it', 'mine', null],
    ['add_note', 'firing', null],
  ])('%s, of a group that was %s, is %s', (command, before, back) => {
    expect(undoOf(command, BEFORE[before], ME, null)).toBe(back);
    expect(undoOf(command, BEFORE[before], ME, back === null ? [] : [back])).toBe(back);
  });

  it('a Command is none when the service does not allow it', () => {
    expect(undoOf('resolve', BEFORE.firing, ME, ['add_note'])).toBeNull();
  });
});

it.each<[CommandName, keyof typeof BEFORE, boolean]>([
  ['acknowledge', 'firing', false],
  ['acknowledge', 'theirs', true],
  ['acknowledge', 'snoozed', true],
  ['unacknowledge', 'mine', false],
  ['unacknowledge', 'theirs', true],
  ['unsnooze', 'snoozed', true],
  ['unresolve', 'resolved', true],
  ['still_on_it', 'mine', false],
])('%s of a group that is %s asks first: %s', (command, before, asks) => {
  expect(asksFirst(command, BEFORE[before], ME)).toBe(asks);
});

type Present = Parameters<typeof isAsLeft>[1];
const FIRING: Present = { ...BEFORE.firing, snoozed_by: null, resolution: null };
const present = (change: Partial<Present>): Present => ({ ...FIRING, ...change });
const actor = (id: string) => ({ ...person(id), kind: 'user' as const });
const resolvedBy = (id: string) =>
  present({
    status: 'resolved',
    resolution: { by: 'user', actor: actor(id), reason: null, reason_text: null },
  });

const AS_LEFT: readonly [Back, Present][] = [
  ['unacknowledge', present(BEFORE.mine)],
  ['unsnooze', present({ status: 'snoozed', snoozed_by: actor(ME) })],
  ['unresolve', resolvedBy(ME)],
  ['acknowledge', FIRING],
];
const CHANGED: readonly [Back, Present][] = [
  ['unacknowledge', present(BEFORE.theirs)],
  ['unacknowledge', FIRING],
  ['unsnooze', present({ status: 'snoozed', snoozed_by: actor(OTHER) })],
  ['unsnooze', FIRING],
  ['unresolve', resolvedBy(OTHER)],
  ['unresolve', FIRING],
  ['acknowledge', present(BEFORE.theirs)],
];

describe('taking back', () => {
  it.each(AS_LEFT)('sends %s while the group is as the person left it', async (back, now) => {
    expect(await sent(back, now)).toEqual([`AG1 ${back}`]);
  });

  it.each(CHANGED)('sends no %s after somebody else did something', async (back, now) => {
    expect(await sent(back, now)).toEqual([]);
  });

  it('sends nothing when the group cannot be read', async () => {
    expect(await sent('unacknowledge', null)).toEqual([]);
  });

  it.each([
    [503, 'not-sent'],
    [404, 'not-found'],
  ])('says that nothing was sent when reading the group fails: %d', async (status, type) => {
    const read = async () => ({ ok: false, problem: { status, type: status === 404 ? 'not-found' : 'x' } });
    expect(await takeBack({ read } as never, 'AG1', 'unresolve', ME)).toMatchObject({ problem: { type } });
  });
});

/** @param now the group as it is read, or null when it is not. @returns what was sent */
async function sent(back: Back, now: Present | null): Promise<string[]> {
  const commands: string[] = [];
  const api = {
    read: async () => (now === null ? { ok: false, problem: {} } : { ok: true, value: now }),
    command: async (id: string, command: string) => {
      commands.push(`${id} ${command}`);
      return { ok: true };
    },
  };
  const answer = await takeBack(api as never, 'AG1', back, ME);
  expect(answer === null).toBe(now !== null && commands.length === 0);
  return commands;
}
