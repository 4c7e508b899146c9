/** ingestion §15, rows 13 to 22, 35 and 40: windows, absence, group-wide resolves, truncation. */
import { expect } from 'vitest';
import { SECOND } from '../../../runtime/clock.ts';
import { casesOf } from '../case.ts';
import { K1, LAB, Lab, many } from './lab.ts';
import { expectReplayChangesNothing } from './replaying.ts';

const { cases, row: add } = casesOf('ingestion');
export const ABSENCE = cases;

/** Row 29 holds of each: what was processed is replayed without effect. */
function row(number: number, title: string, run: (lab: Lab) => Promise<void>): void {
  const andAgain = async (lab: Lab) => {
    await run(lab);
    if (number <= 22) await expectReplayChangesNothing(lab);
  };
  add(number, title, (s) => andAgain(new Lab(s)), LAB);
}

row(13, 'missed for five minutes is gone', async (lab) => {
  await lab.plays('T [A+ B+ C+]; +60 [A+ B+]; +120 [A+ B+]');
  expect((await lab.states())[2]).toBe('C: firing');
  await lab.plays('+360 [A+ B+]');
  expect(await lab.states()).toEqual(['A: firing', 'B: firing', 'C: resolved +360 gone']);
});

row(14, 'a Snapshot of the same window misses nothing', async (lab) => {
  await lab.plays('T [A+ C+]; +20 [A+]; +80 [A+]; +379 [A+]');
  expect(await lab.states()).toEqual(['A: firing', 'C: firing']);
});

row(14, 'a miss counts from the next window', async (lab) => {
  await lab.plays('T [A+ C+]; +20 [A+]; +80 [A+]; +380 [A+]');
  expect(await lab.states()).toEqual(['A: firing', 'C: resolved +380 gone']);
});

row(15, 'a listing in the same window forgets the miss', async (lab) => {
  await lab.plays('T [A+ C+]; +60 [A+]; +75 [A+ C+]; +400 [A+]; +699 [A+]');
  expect(await lab.states()).toEqual(['A: firing', 'C: firing']);
});

row(16, 'a later listing forgets the miss', async (lab) => {
  await lab.plays('T [A+ C+]; +60 [A+]; +120 [A+ C+]; +400 [A+]');
  expect(await lab.states()).toEqual(['A: firing', 'C: firing']);
  await lab.plays('+700 [A+]');
  expect((await lab.states())[1]).toBe('C: resolved +700 gone');
});

row(17, 'a sender that restarts lists its Alerts little by little', async (lab) => {
  const expectAll = async () => {
    expect(new Set((await lab.states()).map((state) => state.split(': ')[1]))).toEqual(new Set(['firing']));
  };
  await lab.plays(`T [${many(10)}]; +600 [${many(3)}]`);
  await expectAll();
  await lab.plays(`+660 [${many(9)}]`);
  await expectAll();
  await lab.plays(`+720 [${many(10)}]`);
  await expectAll();
  expect(await lab.states()).toHaveLength(10);
});

const EIGHTEEN = async (lab: Lab) => {
  lab.labels('X', { alertname: 'Other', instance: 'x' });
  await lab.plays(`T K1 [${many(20)}]; T K2 [X+]; +60 K1 Z [${many(6, '-')}]`);
};

row(18, 'a group-wide resolve ends what it does not list, too', async (lab) => {
  await EIGHTEEN(lab);
  const states = await lab.states();
  expect(states.filter((state) => state.endsWith(': resolved +60 resolved'))).toHaveLength(20);
  expect(states.at(-1)).toBe('X: firing');
});

row(19, 'after a group-wide resolve the same start fires at once', async (lab) => {
  await EIGHTEEN(lab);
  await lab.plays('+120 K1 [N7+]');
  expect((await lab.alerts()).get('N7')?.state).toBe('firing');
  expect(await lab.events()).toEqual(['+0 created', '+60 resolved', '+120 reopened']);
});

row(20, 'an Alert that another group lists is not gone', async (lab) => {
  await lab.plays('T K1 [A+]; T K2 [A+]; +60 K1 [B+]; +400 K1 [B+]; +400 K2 [A+]');
  expect(await lab.states()).toEqual(['A: firing', 'B: firing']);
});

row(21, 'a truncated Snapshot decides no absence, and raises an alert', async (lab) => {
  await lab.plays('T [A+ B+ C+]; +60 t1 [A+ B+]');
  expect(await lab.internalAlerts()).toEqual(['SvcSnapshotTruncated']);
  await lab.plays('+400 t1 [A+ B+]');
  expect(await lab.internalAlerts()).toEqual(['SvcSnapshotTruncated']);
  await lab.plays('+700 [A+ B+]');
  expect(await lab.internalAlerts()).toEqual([]);
  expect((await lab.states())[2]).toBe('C: firing');
  await lab.plays('+1000 [A+ B+]');
  expect((await lab.states())[2]).toBe('C: resolved +1000 gone');
});

row(22, 'a Snapshot committed out of order still resolves', async (lab) => {
  await lab.plays('+2 [A+]');
  lab.s.world.clock.setBack(SECOND);
  await lab.post(lab.body(['Z'], ['A-']));
  const [alert] = (await lab.alerts()).values();
  expect(alert).toMatchObject({ state: 'resolved', resolve_reason: 'resolved' });
  // It was early: the window is the one of the newer Snapshot still, so that one second later nothing is missed.
  await lab.plays('+3 [B+]');
  expect(lab.last()).toMatchObject({ group_key: K1, fired: 1, gone: 0 });
});

row(35, 'no change of Routes changes where an Alert fires', async (lab) => {
  const { s } = lab;
  await lab.plays('T K1 [A+]');
  await s.takeFirst(await s.addRoute('R2'));
  await lab.plays('+60 K2 [A+]');
  expect(await lab.events()).toEqual(['+0 created']);
  await lab.plays('+120 K1 [B+]; +480 K1 [B+]');
  expect((await lab.states())[0]).toBe('A: firing');
  await lab.plays('+600 K2 [C+]; +960 K2 [C+]');
  expect((await lab.states())[0]).toBe('A: resolved +960 gone');
  expect(await lab.events()).toEqual(['+0 created', '+960 resolved']);
  await s.shows(1, { route: 'R' });
});

row(40, 'a final notification that is repeated ends nothing that began since', async (lab) => {
  await lab.plays('T [A+]; +60 Z [A-]; +120 [B+1]; +180 Z [A-]');
  expect(await lab.states()).toEqual(['A: resolved +60 resolved', 'B: firing']);
  await lab.plays('+240 [A+]; +241 Z [A-]');
  expect(await lab.states()).toEqual(['A: resolved +241 resolved', 'B: firing']);
  await lab.plays('+720 R [B+1]; +721 Z [B-1 A-]');
  expect(await lab.states()).toEqual(['A: resolved +241 resolved', 'B: resolved +721 resolved']);
});
