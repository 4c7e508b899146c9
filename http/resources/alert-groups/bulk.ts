/** One Command on many Alert Groups (alert-groups §6.6, api §12). */
import * as v from 'valibot';
import type { Command, CommandOutcome } from '../../../actors/alert-group/messages.ts';
import { tellFailed } from '../../../actors/alert-group/metrics.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Answer, type Call, type Operation, operation } from '../../operation.ts';
import type { Permission } from '../../permissions.ts';
import { type FieldError, invalid } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { duplicates, publicId } from '../../schema/fields.ts';
import { COMMAND_PERMISSIONS, userRef } from './bodies.ts';
import { askGroup, holds, mayNot, REFUSAL_DETAIL } from './commands.ts';
import { BulkAnswer } from './shapes.ts';
import { type AlertGroupOperationsDeps, isBlank, noteTextOrEmpty, TAG } from './shared.ts';
import { SnoozeInput, snoozeEnd } from './snooze.ts';

/** Setting alert_group.bulk_max. */
const MOST_GROUPS = 100;

/** Alert Groups that are asked at the same time. */
const SIDE_BY_SIDE = 10;

const BulkInput = d.named(
  'BulkCommandInput',
  v.object({
    command: d.described(
      v.picklist(['acknowledge', 'resolve', 'snooze', 'unsnooze']),
      '`acknowledge` takes ownership, `resolve` ends, `snooze` silences for a time, `unsnooze` ends that. It decides which Permission is needed.',
    ),
    alert_group_ids: d.described(
      v.pipe(v.array(publicId), v.minLength(1, 'too_short'), v.maxLength(MOST_GROUPS, 'too_long')),
      'Ids of the Alert Groups, 1 to 100, each once.',
    ),
    /** With resolve; empty: none. */
    note: d.described(v.nullish(noteTextOrEmpty), 'A Note for each, with `resolve`, up to 4,000 characters.'),
    snooze: d.described(v.nullish(SnoozeInput), 'Until when, with `snooze`. Needed there.'),
  }),
  'A Command on several Alert Groups.',
);

type Bulk = v.InferOutput<typeof BulkInput>;
type BulkCall = Call<unknown, Bulk>;
type BulkResult = v.InferOutput<typeof BulkAnswer>['results'][number];

export function bulkOperations(deps: AlertGroupOperationsDeps): readonly Operation[] {
  return [
    operation({
      id: 'runBulkCommand',
      method: 'POST',
      path: '/alert-groups/bulk-commands',
      tag: TAG,
      summary: 'Act on many Alert Groups, each on its own',
      description:
        'At most 100. Each succeeds or fails by itself; those that somebody else owns are skipped.',
      needs: 'authenticated',
      mayAlsoNeed: [
        'alert-groups:acknowledge',
        'alert-groups:resolve',
        'alert-groups:snooze',
        'alert-groups:note',
      ],
      body: BulkInput,
      validatesFirst: true,
      answers: { 200: { description: 'What came of each, in the order asked', schema: BulkAnswer } },
      handle: (call) => runBulk(deps, call),
    }),
  ];
}

async function runBulk(deps: AlertGroupOperationsDeps, call: BulkCall): Promise<Answer> {
  const { alert_group_ids: groups } = call.body;
  const missing = permissionsFor(call.body).find((permission) => !holds(call, permission));
  if (missing) return mayNot(missing);
  const wanted = commandOf(call);
  const repeated = duplicates(groups, '/alert_group_ids');
  if ('errors' in wanted) return invalid([...repeated, ...wanted.errors]);
  if (repeated.length > 0) return invalid(repeated);
  const results = await sideBySide(groups, (group) => runOne(deps, call, group, wanted));
  return { status: 200, body: { results } };
}

function permissionsFor(bulk: Bulk): readonly Permission[] {
  const chosen = COMMAND_PERMISSIONS[bulk.command];
  return noteOf(bulk) === null ? [chosen] : [chosen, COMMAND_PERMISSIONS.add_note];
}

/** The Note that comes along: only with resolve, and only when something was written. */
function noteOf({ command, note }: Bulk): string | null {
  return command === 'resolve' && note ? note : null;
}

/** The Command that every group gets, a preset's end worked out once; or all that is 422 about it. */
function commandOf(call: BulkCall): Command | { readonly errors: readonly FieldError[] } {
  const { command: name, snooze } = call.body;
  switch (name) {
    case 'acknowledge':
      return { name, sparesOwner: true };
    case 'unsnooze':
      return { name };
    case 'resolve': {
      const note = noteOf(call.body);
      if (note !== null && isBlank(note)) return needed('/note', 'Write something.');
      return { name, note };
    }
    case 'snooze': {
      if (!snooze) return needed('/snooze', 'Say when the Snooze ends.');
      const end = snoozeEnd(snooze, call);
      if (!('errors' in end)) return { name, until: end.until };
      return { errors: end.errors.map((error) => ({ ...error, pointer: `/snooze${error.pointer}` })) };
    }
  }
}

function needed(pointer: string, detail: string): { readonly errors: readonly FieldError[] } {
  return { errors: [{ pointer, code: 'required', detail }] };
}

/** Results in the order of the items. `work` must not reject. */
async function sideBySide<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  const worker = async () => {
    for (const [index, item] of waiting) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
  return results;
}

/** One group's result. Never rejects: an error of one group is reported for that one, the others continue. */
async function runOne(
  deps: AlertGroupOperationsDeps,
  call: BulkCall,
  id: PublicId,
  wanted: Command,
): Promise<BulkResult> {
  let number: number | null = null;
  try {
    const group = await deps.reader.read(id);
    if (!group) return resultOf(id, null, NOT_FOUND);
    number = group.number;
    return resultOf(id, number, told(call, await askGroup(deps, call, id, wanted)));
  } catch (error) {
    tellFailed(deps, { command: wanted.name, group: id, by: call.principal() }, error);
    return resultOf(id, number, INTERNAL);
  }
}

type Told = Pick<BulkResult, 'outcome' | 'code' | 'message'>;

const NOT_FOUND: Told = { outcome: 'failed', code: 'not_found', message: 'There is no such Alert Group.' };

/** Without a reply it is unknown whether the Command took effect. */
const INTERNAL: Told = {
  outcome: 'failed',
  code: 'internal',
  message: 'No answer came. Read the Alert Group before you try again: it may have been done.',
};

function resultOf(id: PublicId, number: number | null, what: Told): BulkResult {
  return { alert_group_id: id, number, ...what };
}

function told({ directory }: BulkCall, outcome: CommandOutcome): Told {
  switch (outcome.outcome) {
    case 'done':
    case 'unchanged':
      return { outcome: outcome.outcome, code: null, message: null };
    case 'refused':
      return { outcome: 'refused', code: outcome.code, message: REFUSAL_DETAIL[outcome.code] };
    case 'skipped': {
      const { name } = userRef(directory, outcome.owner.id, outcome.owner);
      return { outcome: 'skipped', code: 'owned_by_other', message: `skipped: owned by ${name}` };
    }
    case 'unknown':
      return NOT_FOUND;
  }
}
