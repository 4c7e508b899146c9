/** What was tried out, as a test of the project: a scenario of an Alert Group, or a test of the machine. Pure. */
import { eventOf, type Happening, happeningText, type Rehearsal } from './rehearse.ts';
import { TRIALS } from './samples.ts';

/** Text for a test file. */
export function asTest(kind: string, rehearsal: Rehearsal): string {
  return (kind === 'alert_group' ? scenarioOf(rehearsal) : null) ?? machineTest(kind, rehearsal);
}

/**
 * A row of `test/scenarios/alert-groups`: the whole service plays it. Null when something was tried that no sender,
 * person or clock brings about by itself.
 */
function scenarioOf({ steps, begun }: Rehearsal): string | null {
  const script = playOf(steps.map(({ happening }) => happening));
  if (script === null || steps.some(({ error }) => error !== null)) return null;
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

/** They come by themselves when their time has come. */
const TIMED = ['notice_due', 'snooze_end', 'grace_end', 'window_end', 'unclaim'];

/** The script of `Scenario.play`; the group begins with one Alert at t0. Null when there is none for an event. */
export function playOf(happenings: readonly Happening[]): string | null {
  const firing = ['X1'];
  let alerts = 1;
  const lines = ['t0 +X1'];
  for (const { type, minute, fields } of happenings) {
    const line = lineOf(type, minute, fields);
    if (line === null) return null;
    lines.push(`t${minute}${line === '' ? '' : ` ${line}`}`);
  }
  return lines.join('; ');

  function lineOf(type: string, minute: number, fields: Happening['fields']): string | null {
    if (TIMED.includes(type)) return '';
    if (type === 'snooze') {
      if (fields === null) return `Ann snoozes until t${minute + 60}`;
      return fields.until === null ? 'Ann snoozes no end' : null;
    }
    if (fields !== null) return null;
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

/** A test beside the machine. */
function machineTest(kind: string, { steps, value }: Rehearsal): string {
  const trial = TRIALS[kind];
  if (trial === undefined) throw new Error(`nobody tries out ${kind}`);
  const { name, module, input } = trial;
  const events = steps.map(
    ({ happening }) => `    // ${happeningText(happening)}\n    ${literal(eventOf(trial, happening))},`,
  );
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
  expect(snapshot.value).toEqual(${literal(value)});
});
`;
}

/** As TypeScript; the functions of events answer true. */
function literal(value: unknown): string {
  const marked = JSON.stringify(value, (_, each: unknown) => (typeof each === 'function' ? '@true' : each));
  return marked.replaceAll('"@true"', '() => true');
}
