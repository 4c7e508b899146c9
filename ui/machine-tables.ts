/** The transition tables of the contract, for the diagrams of the machines that they describe. */
import { readFileSync } from 'node:fs';
import { TRANSITIONS, type TransitionRow } from '../actors/alert-group/transitions.ts';
import type { ContractRow, RowOf, Transition } from '../scripts/machines/diagram.ts';

export interface ContractTables {
  /** Of all tables; those that say the same are one. Complete once the diagrams are made. */
  readonly rows: readonly ContractRow[];
  /** By kind; the other machines have no table. */
  readonly rowOf: Readonly<Record<string, RowOf>>;
}

export function contractTables(): ContractTables {
  const page = readFileSync(new URL('../docs/contract/delivery.md', import.meta.url), 'utf8');
  const rows: ContractRow[] = [];
  const places = new Map<string, number>();
  const placed =
    (find: FindRow): RowOf =>
    (transition, actions) => {
      const row = find(transition, actions);
      if (row === null) return null;
      const text = JSON.stringify(row);
      const place = places.get(text) ?? rows.push(row) - 1;
      places.set(text, place);
      return place;
    };
  return { rows, rowOf: { alert_group: placed(groupRow), delivery: placed(deliveryRows(page)) } };
}

type FindRow = (...transition: Parameters<RowOf>) => ContractRow | null;

/** The machine names the row that a transition takes. */
const groupRow: FindRow = (_, actions) => {
  const name = actions.map(namedRow).find((found) => found !== undefined);
  if (name === undefined) return null;
  const table: Readonly<Record<string, TransitionRow>> = TRANSITIONS;
  const found = table[name];
  if (found === undefined) throw new Error(`The table of an Alert Group has no row ${name}`);
  const { records } = found;
  return {
    ...{ name, why: null },
    records: records && {
      event: records.event,
      loudness: records.loudness,
      mentions: records.mentions,
      ownedMentions: records.ownedMentions ?? [],
    },
  };
};

function namedRow(action: unknown): string | undefined {
  if (typeof action !== 'object' || action === null) return undefined;
  return (action as { readonly params?: { readonly row?: string } }).params?.row;
}

const ROOT_HEAD = '| From | Event | Guard | To | Why |\n|---|---|---|---|---|\n';
const THREAD_HEAD = '| From | Guard | To | Why |\n|---|---|---|---|\n';

/** By state, event, guard and target: the reason of each row. @param page delivery §11.1 */
function deliveryRows(page: string): FindRow {
  const reasons = new Map<string, string>();
  for (const [from = '', event = '', guard = '', to = '', why = ''] of cellsOf(page, ROOT_HEAD)) {
    for (const state of from.split(', ')) reasons.set(keyOf(`root.${state}`, event, guard, to), why);
  }
  for (const [from = '', guard = '', to = '', why = ''] of cellsOf(page, THREAD_HEAD)) {
    for (const state of from.split(', ')) reasons.set(keyOf(`thread.${state}`, 'always', guard, to), why);
  }
  return (transition) => {
    const why = reasons.get(keyOfTransition(transition));
    return why === undefined ? null : ({ name: null, records: null, why } satisfies ContractRow);
  };
}

const keyOf = (...cells: readonly string[]): string => cells.join(' | ');

function keyOfTransition({ from, to, event, guard }: Omit<Transition, 'row' | 'actions'>): string {
  const target = to === null ? 'same' : to.replace(/^(root|thread)\./, '');
  return keyOf(from ?? '', event, guard ?? '–', target);
}

/** The rows of a table, each with its own reason: "the same" stands for the reason above. */
function cellsOf(page: string, head: string): readonly (readonly string[])[] {
  const [, table = ''] = page.split(head);
  const rows = (table.split('\n\n')[0] ?? '').trim().split('\n');
  let above = '';
  return rows.map((line) => {
    const cells = line.split('|').map((cell) => cell.trim());
    const why = cells.at(-2) ?? '';
    const more = /^the same[,:]? ?(.*)$/.exec(why)?.[1];
    if (more === undefined) above = why;
    const whole = more === undefined ? why : [above, more].filter((part) => part !== '').join('; ');
    return [...cells.slice(1, -2), whole];
  });
}
