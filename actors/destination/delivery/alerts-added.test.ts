/** The table of delivery §2.2, read from the contract: what `alerts_added` notifies, and what follows at a Destination. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SECOND } from '../../../runtime/clock.ts';
import { TRANSITIONS } from '../../alert-group/transitions.ts';
import type { SendOutcome } from '../../channels/calls.ts';
import { createMessageWorld } from './world.fixture.ts';

type World = ReturnType<typeof createMessageWorld>;

const STATUSES = ['firing', 'acknowledged', 'snoozed'] as const;
type Status = (typeof STATUSES)[number];

const UNKNOWN: SendOutcome = { class: 'unknown', error: 'answered 400' };
const GONE: SendOutcome = { class: 'gone', error: 'answered 404' };

/** What comes before a person acts on the Alert Group A, if one does, and what the messenger answers to that. */
const SITUATIONS: Readonly<Record<string, (world: World, isActedOn: boolean) => Promise<void>>> = {
  'Root message published': (world) => world.create('A'),
  async 'Publication waits for its turn'(world) {
    const until = world.now() + 7 * SECOND;
    world.script({ class: 'retry_after', until, scope: 'destination', error: 'answered 429' });
    await world.create('A');
  },
  async 'Publication ended Not delivered'(world, isActedOn) {
    world.script(UNKNOWN);
    await world.create('A');
    if (isActedOn) world.script(UNKNOWN);
  },
  async 'Publication ended Not delivered, and does so again'(world, isActedOn) {
    world.script(UNKNOWN);
    await world.create('A');
    world.script(UNKNOWN, ...(isActedOn ? [UNKNOWN] : []));
  },
  'held by a Storm': (world) => world.create('A', { held: true }),
  async Broken(world) {
    world.script({ class: 'fatal', error: 'not in the channel' });
    await world.create('A');
  },
  async 'Root message deleted twice, so left alone'(world) {
    await world.create('A');
    for (let times = 0; times < 2; times++) {
      world.script(GONE);
      await world.event('A', 'annotations_changed');
    }
  },
};

/** Rows of the contract: the situation, then a cell for each status. */
function contractRows(): readonly (readonly [situation: string, cells: readonly string[]])[] {
  const text = readFileSync(new URL('../../../docs/contract/delivery.md', import.meta.url), 'utf8');
  const [, section = ''] = /### 2\.2 .*\n([\s\S]*?)\n##/.exec(text) ?? [];
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((line) => {
    const [situation = '', ...cells] = line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
    return [situation, cells];
  });
}

const [notifies, ...rows] = contractRows();

/** `edit, reply L [new_alerts]` as the fixture writes calls. */
function callsIn(cell: string): readonly string[] {
  if (cell === 'nothing') return [];
  return cell
    .split(', ')
    .map((call) => call.replace(/^(\w+)/, '$1 A').replace('reply A', 'reply A alerts_added 1'));
}

async function followsIn(situation: string, status: Status): Promise<readonly string[]> {
  const world = createMessageWorld();
  await world.begin();
  const prepare = SITUATIONS[situation];
  if (!prepare) throw new Error(`the contract names a situation that no test makes: ${situation}`);
  await prepare(world, status !== 'firing');
  if (status !== 'firing') await world.event('A', status, { status, by: 'person' });
  world.calls();
  const { loudness, mentions } = recorded(status);
  const facts = { event: 'alerts_added', fingerprints: ['f1'] } as const;
  await world.event('A', 'alerts_added', { loudness, mentions, facts });
  await world.advance(30 * SECOND);
  return world.calls();
}

function recorded(status: Status) {
  const { records } = TRANSITIONS[`join-${status}`];
  if (records?.event !== 'alerts_added') throw new Error(`join-${status} records something else`);
  return records;
}

test('the table has a row for notify and for every situation', () => {
  expect(notifies?.[0]).toBe('events mode: `notify`');
  expect(rows.map(([situation]) => situation)).toEqual(Object.keys(SITUATIONS));
});

test.each(STATUSES.map((status, index) => [status, notifies?.[1][index]] as const))(
  'an Alert that joins while %s notifies: %s',
  (status, notify) => {
    expect(String(recorded(status).loudness === 'loud')).toBe(notify);
  },
);

test.each(
  rows.flatMap(([situation, cells]) =>
    STATUSES.map((status, index) => [situation, status, cells[index] ?? ''] as const),
  ),
)('%s, %s: %s', async (situation, status, cell) => {
  expect(await followsIn(situation, status)).toEqual(callsIn(cell));
});
