/**
 * Streams the turns of this process to Stately Inspector; `SVC_INSPECT=1 npm run dev` loads it into the service, and runs
 * the server that shows them. Sent are addresses, states and the types of messages and events, and no content of either.
 */
import { subscribe } from 'node:diagnostics_channel';
import { createWebSocketInspector } from '@statelyai/inspect';
import { machines } from '../actors/machines.ts';
import { addressText, TURNS, type TurnMade } from '../runtime/actor/index.ts';

/** The server draws each actor with its machine: more of them than a person looks at would only fill its memory. */
const MOST_ACTORS = 500;

const shown = new Set<string>();
let inspector: ReturnType<typeof createWebSocketInspector> | null = null;

function show({ self, message, from, value, events }: TurnMade): void {
  const machine = machines[self.kind];
  const url = process.env.INSPECTOR_URL;
  if (machine === undefined || url === undefined) return;
  inspector ??= createWebSocketInspector({ url });
  const id = addressText(self);
  const snapshot = { status: 'active' as const, value };
  if (!shown.has(id)) {
    if (shown.size >= MOST_ACTORS) return;
    shown.add(id);
    // `inspector.actor` leaves the definition out.
    const definition = JSON.stringify(machine.config);
    inspector.adapter.send({
      ...{ type: '@xstate.actor', sessionId: id, name: id, snapshot, definition, parentId: undefined },
      ...{ id: '', rootId: undefined, createdAt: Date.now().toString(), _version: '' },
    });
  }
  inspector.event(id, { type: message }, from === null ? {} : { source: addressText(from) });
  inspector.snapshot(id, snapshot, { event: { type: events.at(-1) ?? message } });
}

subscribe(TURNS.name, (turn) => show(turn as TurnMade));
