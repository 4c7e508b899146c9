import { expect, it } from 'vitest';
import type { AlertGroup, BulkResult } from '../../../api/shapes.ts';
import { takeBackOne, undoOfBulk } from './bulk-undo.ts';

const ME = 'U1';
const result = (id: string, outcome: BulkResult['outcome'] = 'done'): BulkResult => ({
  alert_group_id: id,
  number: Number(id),
  outcome,
  code: null,
  message: null,
});
const before = new Map(
  [
    ['1', 'firing'],
    ['2', 'snoozed'],
    ['3', 'firing'],
    ['4', 'firing'],
  ].map(([id = '', status]) => [id, { id, status, owner: null } as AlertGroup]),
);

it('takes back what the bulk changed and what was there with a way back, no more', () => {
  const results = [result('1'), result('2'), result('3', 'unchanged'), result('4'), result('5')];
  const undo = undoOfBulk('acknowledge', results, before, ME);
  expect(undo?.back).toBe('unacknowledge');
  expect([...(undo?.numbers ?? [])]).toEqual([
    ['1', 1],
    ['4', 4],
  ]);
});

it('is nothing where no group has a way back', () => {
  expect(undoOfBulk('unsnooze', [result('2')], before, ME)).toBeNull();
  expect(undoOfBulk('acknowledge', [result('1', 'refused'), result('2')], before, ME)).toBeNull();
});

/** @param owner of the group when it is read. @param problem what the Command is answered */
async function takenBack(owner: string, problem: { status: number; code: string | null } | null) {
  const api = {
    read: async () => ({ ok: true, value: { owner: { id: owner } } }),
    command: async () => (problem ? { ok: false, problem } : { ok: true, value: { outcome: 'done' } }),
  };
  const undo = { back: 'unacknowledge', numbers: new Map([['1', 1]]) } as const;
  const answer = await takeBackOne(api as never, '1', undo, ME, 'It has changed.');
  return answer.ok ? answer.value.results : answer.problem;
}

it.each([
  ['done', ME, null, { outcome: 'done', code: null }],
  [
    'changed by somebody else',
    'U2',
    null,
    { outcome: 'refused', code: 'overtaken', message: 'It has changed.' },
  ],
  [
    'refused',
    ME,
    { status: 409, code: 'not_acknowledged' },
    { outcome: 'refused', code: 'not_acknowledged' },
  ],
  ['gone', ME, { status: 404, code: null }, { outcome: 'failed', code: 'not_found' }],
])('a group that was %s is a result', async (_, owner, problem, expected) => {
  expect(await takenBack(owner, problem)).toMatchObject([{ alert_group_id: '1', number: 1, ...expected }]);
});

it('a service that does not answer ends it', async () => {
  expect(await takenBack(ME, { status: 503, code: null })).toEqual({ status: 503, code: null });
});
