import { describe, expect, it, test, vi } from 'vitest';
import { machines } from '../../../../actors/machines.ts';
import { begin, step } from '../../../../runtime/actor/machine.ts';
import { asTest, playOf } from './as-test.ts';
import {
  type Happening,
  happeningText,
  MOST_EVENTS,
  parseHappening,
  possibleNext,
  rehearse,
} from './rehearse.ts';
import { TRIALS } from './samples.ts';

const said = (...texts: string[]) => texts.map((text) => parseHappening(text) as Happening);
const group = (...texts: string[]) => rehearse('alert_group', said(...texts));

test('every machine but that of a delivery can be tried out, and is the one that the service runs', () => {
  expect(Object.keys(machines).filter((kind) => !(kind in TRIALS))).toEqual(['delivery']);
  for (const [kind, { machine }] of Object.entries(TRIALS)) expect(machine).toBe(machines[kind]);
});

test.each(Object.keys(TRIALS))(
  'of %s every event of the machine has a sample that it can work with',
  (kind) => {
    const { machine, events } = TRIALS[kind]!;
    expect(Object.keys(events).sort()).toEqual([...machine.events].filter((type) => type !== '').sort());
    for (const type of Object.keys(events)) {
      for (const earlier of ['', ...Object.keys(events)]) {
        const happenings = [earlier, type]
          .filter((each) => each !== '')
          .map((each) => ({ type: each, minute: 1, fields: null }));
        expect(rehearse(kind, happenings).steps.map(({ error }) => error)).not.toContain(expect.anything());
      }
    }
  },
);

describe('a step', () => {
  it('shows what was taken, what was emitted and what changed', () => {
    const [step] = group('t1 acknowledge').steps;
    expect(step?.states).toEqual(['acknowledged', 'acknowledged.waiting']);
    expect(step?.taken).toEqual([{ from: 'firing', guard: null, actions: ['takeOwnership', 'record'] }]);
    expect(step?.emitted).toEqual([{ type: 'row', row: 'acknowledge' }]);
    expect(step?.changes.map(({ name }) => name)).toContain('owner');
    expect(step?.refusals).toEqual([]);
  });

  it('names the guard that decided, and the one that refused', () => {
    const { steps } = group('t1 acknowledge', 't2 acknowledge', 't3 still_on_it');
    expect(steps[1]?.taken[0]).toMatchObject({ from: 'acknowledged', guard: 'callerIsOwner' });
    expect(steps[2]).toMatchObject({
      taken: [],
      refusals: [{ from: 'acknowledged', guard: 'reminderPending' }],
    });
  });

  it('says nothing of guards when no state takes the event', () => {
    expect(group('t1 unsnooze').steps[0]).toMatchObject({
      taken: [],
      refusals: [],
      emitted: [],
      changes: [],
    });
  });

  it('takes the fields that differ', () => {
    const { steps } = group('t1 snooze {"until":null}');
    expect(steps[0]?.changes.find(({ name }) => name === 'snooze')?.after).toContain('"until":null');
  });

  it('leaves the machine as it is when its fields cannot be worked with', () => {
    const { steps } = group('t1 acknowledge {"by":null}', 't2 snooze');
    expect([steps[0]?.error, steps[0]?.states[0], steps[1]?.states[0]]).toEqual([
      expect.any(String),
      'firing',
      'snoozed',
    ]);
  });
});

test.each(['t1 acknowledge', 't90 snooze {"until":null}'])('%s is written as it is read', (text) => {
  expect(happeningText(parseHappening(text)!)).toBe(text);
});

test.each(['', 'acknowledge', 't1', 't1 a {', 't1 a []', 't1 a "x"', `t1 a {"x":"${'y'.repeat(1_000)}"}`])(
  'an address with %j leaves it out',
  (text) => expect(parseHappening(text)).toBeNull(),
);

const many = (count: number) =>
  Array.from({ length: count }, () => ({ type: 'note', minute: 1, fields: null }));

test('a trial has an end, after which nothing is possible', () => {
  const whole = rehearse('alert_group', many(MOST_EVENTS + 5));
  expect(whole.steps).toHaveLength(MOST_EVENTS);
  expect(possibleNext('alert_group', whole, 2)).toEqual([]);
});

test('what is possible next is tried from where the trial is, each event once', () => {
  const tried = rehearse('alert_group', [...many(MOST_EVENTS - 2), ...said('t2 snooze')]);
  const { machine, events } = TRIALS.alert_group!;
  const asked = vi.spyOn(machine, 'transition');
  const possible = possibleNext('alert_group', tried, 3);
  expect(asked).toHaveBeenCalledTimes(Object.keys(events).length);
  asked.mockRestore();
  expect(possible).toContain('snooze_end');
  expect(possible).not.toContain('unacknowledge');
  expect(tried.snapshot.value).toBe('snoozed');
});

test('what senders, people and the clock bring about is copied as a scenario', () => {
  const tried = group(
    't1 acknowledge',
    't2 join',
    't3 alerts_resolve',
    't4 reopen',
    't5 snooze {"until":null}',
  );
  expect(asTest('alert_group', tried)).toBe(`row(1, 'what is to be shown', async (s) => {
  await s.play('t0 +X1; t1 Ann acknowledges; t2 +X2; t3 -X1 & -X2; t4 +X1; t5 Ann snoozes no end');
  await s.shows(1, { status: 'snoozed' });
});
`);
  expect(playOf(said('t1 hold'))).toBeNull();
});

describe('a scenario', () => {
  const scriptOf = (...texts: string[]) =>
    /play\('(.*)'\);/.exec(asTest('alert_group', group(...texts)))?.[1];

  it.each([
    { texts: [], script: 't0 +X1' },
    { texts: ['t1 snooze', 't61 snooze_end'], script: 't0 +X1; t1 Ann snoozes until t61; t61' },
    { texts: ['t2 resolve', 't17 grace_end'], script: 't0 +X1; t2 Ann resolves; t17' },
    { texts: ['t2 alerts_resolve', 't17 window_end'], script: 't0 +X1; t2 -X1; t17' },
    {
      texts: ['t0 publish', 't15 notice_due', 't15 acknowledge'],
      script: 't0 +X1; t15; t15 Ann acknowledges',
    },
    { texts: ['t1 acknowledge', 't241 notice_due'], script: undefined },
    {
      texts: ['t0 publish', 't1 acknowledge', 't241 notice_due', 't242 still_on_it'],
      script: 't0 +X1; t1 Ann acknowledges; t241; t242 Ann still on it',
    },
  ])('of $texts is $script', ({ texts, script }) => {
    expect(scriptOf(...texts)).toBe(script);
  });

  it.each([
    ['a timer comes early', ['t1 snooze', 't2 snooze_end']],
    ['a timer comes late', ['t1 snooze', 't62 snooze_end']],
    ['a timer was due earlier', ['t1 snooze', 't62 acknowledge']],
    ['a timer is due in the same minute', ['t1 snooze', 't61 acknowledge']],
    ['a timer has other fields', ['t1 snooze', 't61 snooze_end {"at":1}']],
    ['the service would send a notice meanwhile', ['t1 note', 't20 acknowledge']],
    ['an event was not taken', ['t1 alerts_resolve', 't2 join']],
    ['an event was refused by its guard', ['t1 alerts_resolve', 't16 reopen']],
    ['time goes back', ['t5 acknowledge', 't4 unacknowledge']],
    ['two Snapshots come at once', ['t0 join']],
    ['a Snooze has further fields', ['t1 snooze {"until":null,"urgent":true}']],
    ['it is published twice', ['t0 publish', 't1 publish']],
    ['it lasts so long that silence ends it', ['t1 snooze {"until":null}', 't1441 note']],
  ])('is not given when %s', (_, texts) => {
    expect(scriptOf(...texts)).toBeUndefined();
  });
});

test.each([
  ['alert_group', 't1 hold'],
  ['route', 't1 group_created {"exceedsUntil":9000000000}'],
  ['feed', 't1 snapshot'],
  ['alert_group', 't1 snooze', 't2 snooze_end'],
  ['alert_group', 't1 acknowledge {"by":null}', 't2 snooze'],
])('of %s %s is copied as a test of the machine, which holds', async (kind, ...texts) => {
  const copied = asTest(kind, rehearse(kind, said(...texts)));
  const { machine, name, input } = TRIALS[kind]!;
  expect(copied).toContain(`import { ${name} } from './machine.ts';`);
  const events = /const events = \[([\s\S]*?)\n {2}\];/.exec(copied)?.[1] ?? '';
  const expected = /toEqual\((.*)\);/.exec(copied)?.[1] ?? '';
  const read = (source: string): unknown => new Function(`return ${source}`)();
  let snapshot = begin(machine, input);
  for (const event of read(`[${events}]`) as never[]) ({ snapshot } = step(machine, snapshot, event));
  expect(snapshot.value).toEqual(read(`(${expected})`));
});
