/** Commands on one Alert Group with their answers in words; the result always comes from the API (ui §4). */
import type { PlainCommand } from '../../api/alert-groups.ts';
import { type Answer, isSame } from '../../api/client.ts';
import type { Problem } from '../../api/problem.ts';
import type {
  AlertGroup,
  AlertGroupRef,
  CommandAnswer,
  CommandName,
  SnoozeRequest,
} from '../../api/shapes.ts';
import type { App } from '../../app/context.ts';
import type { Translate } from '../../i18n/i18n.svelte.ts';
import { type Back, takeBack, undoOf } from './undo.ts';

type Detail = string | SnoozeRequest | null;

interface Running {
  readonly command: CommandName;
  /** The Note or the end that goes with it; null for a plain one. */
  readonly detail: Detail;
  /** The group as it is after the Command. */
  readonly ended: Promise<AlertGroup>;
}

const afterwards = async (before: Running | undefined, group: AlertGroup): Promise<AlertGroup> =>
  before === undefined ? group : before.ended;

/**
 * @param changed gets the group as it is after a Command
 * @param refused is called after a refusal, so that what is shown is read again
 */
export function createGroupCommands(
  app: Pick<App, 'alertGroups' | 'session' | 'toasts' | 'failures' | 'i18n'>,
  changed: (group: AlertGroup) => void,
  refused: (id: string) => void,
) {
  const { alertGroups, toasts, failures, i18n } = app;
  const { t } = i18n;
  // Read once: an Undo may outlive the session by a moment.
  const userId = app.session.active.user.id;
  /** The newest Command on its way for each group. */
  let running = $state.raw<ReadonlyMap<string, Running>>(new Map());

  /**
   * Sends a Command, after another one of the same group that is on its way. A key that repeats sends one; another Note
   * or another end is no repetition.
   */
  async function inTurn(
    group: AlertGroup,
    command: CommandName,
    detail: Detail,
    send: () => Promise<Answer<CommandAnswer>>,
  ): Promise<Problem | null> {
    const before = running.get(group.id);
    if (before?.command === command && isSame(before.detail, detail)) return null;
    const answered = afterwards(before, group).then(async (found) => ({ found, answer: await send() }));
    const ended = answered.then(({ found, answer }) => (answer.ok ? answer.value.alert_group : found));
    const mine: Running = { command, detail, ended };
    running = new Map(running).set(group.id, mine);
    const { found, answer } = await answered;
    if (running.get(group.id) === mine) {
      const left = new Map(running);
      left.delete(group.id);
      running = left;
    }
    if (!answer.ok) {
      refused(group.id);
      return answer.problem;
    }
    const { outcome, alert_group: after } = answer.value;
    changed(after);
    if (outcome === 'unchanged') toasts.done(t('command.unchanged', { number: group.number }));
    else {
      const back = undoOf(command, found, userId, after.allowed_commands);
      const undo = back && { text: t('action.undo'), run: () => undone(group, back) };
      toasts.command(doneText(command, group.number), group.id, undo);
    }
    return null;
  }

  async function undone(group: AlertGroup, back: Back): Promise<void> {
    const answer = await takeBack(alertGroups, group.id, back, userId);
    if (answer?.ok) {
      changed(answer.value.alert_group);
      toasts.done(doneText(back, group.number), group.id);
      return;
    }
    refused(group.id);
    if (answer !== null) tell(answer.problem);
    else toasts.refused(t('command.overtaken'), linkTo(group));
  }

  const linkTo = ({ id, number }: AlertGroupRef) => ({ href: `/alert-groups/${id}`, text: `#${number}` });

  function doneText(command: CommandName, number: number): string {
    return t(`commandDone.${command}`, { number });
  }

  function tell(problem: Problem | null): void {
    if (problem === null) return;
    const related = problem.relatedAlertGroup;
    toasts.refused(failures.sentence(problem), related && linkTo(related));
  }

  return {
    /** The Command on its way for a group, if any. */
    runningFor: (id: string): CommandName | null => running.get(id)?.command ?? null,
    plain: async (group: AlertGroup, command: PlainCommand): Promise<void> =>
      tell(await inTurn(group, command, null, () => alertGroups.command(group.id, command))),
    /** @returns the refusal, for the dialog to show */
    resolve: (group: AlertGroup, note: string | null): Promise<Problem | null> =>
      inTurn(group, 'resolve', note, () => alertGroups.resolve(group.id, note)),
    /** @returns the refusal, for the dialog to show */
    snooze: (group: AlertGroup, snooze: SnoozeRequest): Promise<Problem | null> =>
      inTurn(group, 'snooze', snooze, () => alertGroups.snooze(group.id, snooze)),
  };
}

/** Whether a Command takes no text or time of its own. */
export function isPlain(command: CommandName): command is PlainCommand {
  return command !== 'resolve' && command !== 'snooze' && command !== 'add_note';
}

/** What a Command is called on a button: Acknowledge of another's group is a takeover and says whose. */
export function commandText(t: Translate, command: CommandName, group: AlertGroup): string {
  if (command === 'acknowledge' && group.owner !== null)
    return t('command.takeOver', { owner: group.owner.name });
  return t(`command.${command}`);
}

/** The order of Command buttons: what a woken person most likely wants comes first. */
const FIRING: readonly CommandName[] = ['acknowledge', 'resolve', 'snooze'];
const MINE: readonly CommandName[] = ['still_on_it', 'resolve', 'snooze', 'unacknowledge'];
const REST: readonly CommandName[] = [
  'acknowledge',
  'unsnooze',
  'unresolve',
  'resolve',
  'snooze',
  'still_on_it',
  'unacknowledge',
  'add_note',
];

/** The allowed Commands, each once: Acknowledge first while firing, Resolve first when the group is one's own. */
export function orderCommands(group: AlertGroup, userId: string): readonly CommandName[] {
  const wanted = group.owner?.id === userId ? MINE : FIRING;
  const order = [...new Set([...wanted, ...REST])];
  return order.filter((command) => group.allowed_commands.includes(command));
}
