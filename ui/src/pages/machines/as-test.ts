/** What was tried out, as a test of the project: a scenario of an Alert Group, or a test of the machine. Pure. */
import type { GroupContext } from '../../../../actors/alert-group/machine-types.ts';
import { MINUTE, type Micros } from '../../../../runtime/clock.ts';
import { eventOf, type Happening, happeningText, type Rehearsal, rehearse, type Step } from './rehearse.ts';
import { TRIALS } from './samples.ts';

/** Text for a test file. */
export function asTest(kind: string, rehearsal: Rehearsal): string {
  return (kind === 'alert_group' ? scenarioOf(rehearsal) : null) ?? machineTest(kind, rehearsal);
}

/** The service publishes a group as soon as it is there. */
const PUBLISHED: Happening = { type: 'publish', minute: 0, fields: null };

/**
 * A row of `test/scenarios/alert-groups`: the whole service plays it. Null when it would not come the same way there,
 * or something was tried that no sender, person or clock brings about by itself.
 */
function scenarioOf({ steps, begun }: Rehearsal): string | null {
  const told = steps.map(({ happening }) => happening);
  const [first] = told;
  const isPublished = first !== undefined && happeningText(first) === happeningText(PUBLISHED);
  const rest = isPublished ? told.slice(1) : told;
  const script = playOf(rest);
  if (script === null || steps.some(isRefused) || !comesTrue(rest)) return null;
  const status = (steps.at(-1)?.states ?? begun)[0];
  return `row(1, 'what is to be shown', async (s) => {
  await s.play('${script}');
  await s.shows(1, { status: '${status}' });
});
`;
}

/** What people do, as `test/scenarios/scenario.ts` reads it. */
const COMMANDS: Readonly<Record<string, string>> = {
  acknowledge: 'acknowledges',
  unacknowledge: 'unacknowledges',
  unsnooze: 'unsnoozes',
  unresolve: 'unresolves',
  resolve: 'resolves',
  note: 'notes seen',
  still_on_it: 'still on it',
};

/** They come by themselves when their time has come, and only then. */
const TIMED = ['notice_due', 'snooze_end', 'grace_end', 'window_end'];
/** Snapshots of one moment count as one. */
const SENT = ['join', 'alerts_resolve', 'reopen'];
/** Minutes: the service ends what a sender was silent about for 25 h. */
const LONGEST = 24 * 60;

const isRefused = ({ taken }: Step) => taken.length === 0;

/** Whether the service takes every event, with time that never goes back and timers that fire at their times. */
function comesTrue(happenings: readonly Happening[]): boolean {
  const { steps } = rehearse('alert_group', [PUBLISHED, ...happenings]);
  if (steps.length <= happenings.length || steps.some(isRefused)) return false;
  return steps.slice(1).every(({ happening: { type, minute } }, index) => {
    const before = steps[index] as Step;
    if (minute < before.happening.minute || minute > LONGEST) return false;
    const [timer, due] = timerOf(before);
    if (TIMED.includes(type)) return timer === type && due === minute * MINUTE;
    // What is due in the same minute comes first.
    return due === null || due > minute * MINUTE;
  });
}

/** The timer that runs, and when it is due: as `wakeAtOf` of an Alert Group has it. */
function timerOf({ states, context }: Step): readonly [type: string, due: Micros | null] {
  const { noticeAt, snooze, graceDeadline, reopenDeadline } = context as GroupContext;
  if (noticeAt !== null) return ['notice_due', noticeAt];
  if (snooze) return ['snooze_end', snooze.until];
  if (states.includes('resolved.person.grace')) return ['grace_end', graceDeadline];
  return ['window_end', states.includes('resolved.system.reopenable') ? reopenDeadline : null];
}

/** The script of `Scenario.play`; the group begins with one Alert at t0. Null when there is none for an event. */
export function playOf(happenings: readonly Happening[]): string | null {
  const firing = ['X1'];
  let alerts = 1;
  let sentAt = 0;
  const lines = ['t0 +X1'];
  for (const { type, minute, fields } of happenings) {
    const line = lineOf(type, minute, fields);
    if (line === null) return null;
    lines.push(`t${minute}${line === '' ? '' : ` ${line}`}`);
  }
  return lines.join('; ');

  function lineOf(type: string, minute: number, fields: Happening['fields']): string | null {
    if (type === 'snooze') {
      if (fields === null) return `Ann snoozes until t${minute + 60}`;
      return JSON.stringify(fields) === '{"until":null}' ? 'Ann snoozes no end' : null;
    }
    if (fields !== null) return null;
    if (TIMED.includes(type)) return '';
    if (SENT.includes(type)) {
      if (minute === sentAt) return null;
      sentAt = minute;
    }
    const verb = COMMANDS[type];
    if (verb !== undefined) return `Ann ${verb}`;
    if (type === 'join') {
      firing.push(`X${++alerts}`);
      return `+X${alerts}`;
    }
    if (type === 'alerts_resolve')
      return firing
        .splice(0)
        .map((name) => `-${name}`)
        .join(' & ');
    if (type !== 'reopen') return null;
    firing.push('X1');
    return '+X1';
  }
}

/** A test beside the machine, without the events that it cannot work with: they change nothing. */
function machineTest(kind: string, { steps, snapshot }: Rehearsal): string {
  const trial = TRIALS[kind];
  if (trial === undefined) throw new Error(`nobody tries out ${kind}`);
  const { name, module, input } = trial;
  const events = steps
    .filter(({ error }) => error === null)
    .map(({ happening }) => `    // ${happeningText(happening)}\n    ${literal(eventOf(trial, happening))},`);
  const imported = "import { expect, test } from 'vitest';";
  return `// Beside ${module}.
${imported}
import { begin, step } from '../../runtime/actor/index.ts';
import { ${name} } from './machine.ts';

test('what is to be shown', () => {
  let snapshot = begin(${name}${input === undefined ? '' : `, ${literal(input)} as never`});
  const events = [
${events.join('\n')}
  ];
  for (const event of events) ({ snapshot } = step(${name}, snapshot, event as never));
  expect(snapshot.value).toEqual(${literal(snapshot.value)});
});
`;
}

/** As TypeScript; the functions of events answer true. */
function literal(value: unknown): string {
  const marked = JSON.stringify(value, (_, each: unknown) => (typeof each === 'function' ? '@true' : each));
  return marked.replaceAll('"@true"', '() => true');
}
