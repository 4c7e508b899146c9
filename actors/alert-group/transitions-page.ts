/** The transition table as a page of the documentation. */
import { ROW_NAMES, type RowName, transitionRow } from './transitions.ts';

export function transitionPage(): string {
  return [
    '# Transitions of an Alert Group',
    '',
    'Generated from `actors/alert-group/transitions.ts` by `tocsin machines`. The drawing: `alert_group.svg`.',
    'L is Loud, Q is Quiet; Mentions are in brackets. "same" keeps the status.',
    '',
    '| Name | From | Trigger | To | Event |',
    '|---|---|---|---|---|',
    ...ROW_NAMES.map(line),
    '',
  ].join('\n');
}

function line(name: RowName): string {
  const { from, trigger, guard, to, records } = transitionRow(name);
  const condition = guard === null ? trigger : `${trigger} [${guard}]`;
  return `| ${name} | ${from.join(', ') || '—'} | ${condition} | ${to} | ${eventText(records)} |`;
}

function eventText(records: ReturnType<typeof transitionRow>['records']): string {
  if (!records) return 'none';
  const { event, loudness, mentions, ownedMentions } = records;
  const named = [mentions, ownedMentions ?? []]
    .filter(({ length }) => length > 0)
    .map((whom) => `[${whom.join(', ')}]`)
    .join(' or ');
  return `${event} ${loudness === 'loud' ? 'L' : 'Q'} ${named}`.trim();
}
