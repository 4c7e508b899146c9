import { expect, test } from 'vitest';
import { machines } from '../../../../actors/machines.ts';
import { diagramOf } from '../../../../scripts/machines/diagram.ts';
import { contractTables } from '../../../machine-tables.ts';

/** Without a layout, which takes long and does not matter here. */
async function transitionsOf(kind: string) {
  const { rows, rowOf } = contractTables();
  const elk = { layout: async (graph: object) => graph as never };
  const { transitions } = await diagramOf(kind, machines[kind]!, elk, rowOf[kind]);
  return transitions.map((each) => ({ ...each, row: each.row === null ? null : rows[each.row]! }));
}

test('each transition of an Alert Group that the machine names a row for has it', async () => {
  const transitions = await transitionsOf('alert_group');
  const named = transitions.filter(({ actions }) => actions.includes('record'));
  expect(named.length).toBeGreaterThan(40);
  expect(transitions.filter(({ row }) => row !== null)).toEqual(named);
  expect(named.find(({ row }) => row?.name === 'missed')?.row).toEqual({
    ...{ name: 'missed', why: null },
    records: {
      event: 'notices_missed',
      loudness: 'loud',
      mentions: ['ack_timeout'],
      ownedMentions: ['owner'],
    },
  });
});

test('each transition of a delivery has its reason, in words of its own', async () => {
  const transitions = await transitionsOf('delivery');
  const ofTables = transitions.filter(({ from, event }) => from !== 'thread' || event === 'always');
  expect(ofTables.length).toBeGreaterThan(80);
  expect(ofTables.filter(({ row }) => (row?.why ?? '').length < 5)).toEqual([]);
  expect(ofTables.filter(({ row }) => row?.why?.startsWith('the same'))).toEqual([]);
  const joined = ofTables.find(
    ({ from, event, guard }) =>
      from === 'root.editing' && event === 'not_delivered' && guard === 'hasChanged',
  );
  expect(joined?.row?.why).toMatch(
    /^it changed during the call, .*; or it left meanwhile and gets its last edit/,
  );
});
