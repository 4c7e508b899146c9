/** Taking back a bulk Command, one Alert Group after the other (ui §1.5): the service has no bulk Command for each. */
import type { AlertGroupsApi, BulkCommand } from '../../../api/alert-groups.ts';
import type { Answer } from '../../../api/client.ts';
import type { AlertGroup, BulkResult, Schemas } from '../../../api/shapes.ts';
import { type Back, takeBack, undoOf } from '../../commands/undo.ts';

/** A Command and the Alert Groups, by id with their numbers, that it takes back to where they were. */
export interface BulkUndo {
  readonly back: Back;
  readonly numbers: ReadonlyMap<string, number | null>;
}

/**
 * @param before the groups as they were shown when the Command was sent
 * @returns null when nothing was changed that can be taken back
 */
export function undoOfBulk(
  command: BulkCommand['command'],
  results: readonly BulkResult[],
  before: ReadonlyMap<string, AlertGroup | undefined>,
  userId: string,
): BulkUndo | null {
  const numbers = new Map<string, number | null>();
  let back: Back | null = null;
  for (const { alert_group_id: id, number, outcome } of results) {
    const group = before.get(id);
    const way = outcome === 'done' && group ? undoOf(command, group, userId, null) : null;
    if (way === null) continue;
    back = way;
    numbers.set(id, number);
  }
  return back && { back, numbers };
}

/**
 * Takes back one group, with its refusal as a result; any other problem ends what would follow.
 * @param overtaken what is said of a group that somebody else changed since
 */
export async function takeBackOne(
  api: Pick<AlertGroupsApi, 'read' | 'command'>,
  id: string,
  { back, numbers }: BulkUndo,
  userId: string,
  overtaken: string,
): Promise<Answer<Schemas['BulkAnswer']>> {
  const answer = await takeBack(api, id, back, userId);
  const of = { alert_group_id: id, number: numbers.get(id) ?? null };
  const result = (outcome: BulkResult['outcome'], code: string | null, message: string | null = null) =>
    ({ ok: true, value: { results: [{ ...of, outcome, code, message }] }, etag: null }) as const;
  if (answer === null) return result('refused', 'overtaken', overtaken);
  if (answer.ok) return result(answer.value.outcome, null);
  const { problem } = answer;
  if (problem.status === 404) return result('failed', 'not_found');
  return problem.status === 409 ? result('refused', problem.code) : answer;
}
