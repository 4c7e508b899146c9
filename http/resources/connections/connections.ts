/** Connections: list, create, read, update, delete (api §14). Bridges are the one type that this build speaks to. */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { connectionOwner } from '../../../actors/channels/bridge/client.ts';
import { connectionAddress } from '../../../actors/connection/messages.ts';
import type { ConnectionStore, StoredConnection } from '../../../actors/connection/ports.ts';
import type { DirectorySource } from '../../../actors/directory.ts';
import type { HintBus } from '../../../actors/effects.ts';
import type { Address } from '../../../runtime/actor/index.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Answer, authorOf, type Call, type Operation, operation } from '../../operation.ts';
import { COMMAND_PERMISSIONS } from '../../permissions.ts';
import { conflict, invalid, notFound, preconditionFailed } from '../../problem.ts';
import { unheldErrors } from '../../request/admission.ts';
import * as d from '../../schema/described.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../../schema/page.ts';
import { pageOf } from '../../schema/shapes.ts';
import { ConnectionType } from '../../schema/words.ts';
import {
  ConnectionInput,
  ConnectionShape,
  connectionBody,
  connectionErrors,
  connectionFields,
} from './shapes.ts';

export interface ConnectionOperationsDeps {
  readonly store: ConnectionStore;
  readonly directory: DirectorySource;
  readonly hints: HintBus;
  /** Makes whoever acts for the Connection look for the message that was stored with a change. */
  readonly messageWaits: (to: Address) => void;
  /** Closes connections that were opened with the settings before. */
  readonly client: { release(owner: string): void };
  /** Where bridges push, without a trailing slash. */
  readonly ingestUrl: string;
}

export const CONNECTION_ID = { connection_id: 'CN' } as const;
const OF_CONNECTION = { description: 'The Connection', schema: ConnectionShape, etag: true } as const;
const NAME_REFUSAL = [409, 'conflict', 'name_taken'] as const;
const LIST = 'connections';

const ListQuery = v.object({
  ...pageQuery,
  type: d.described(v.optional(v.array(ConnectionType)), 'Only this type. Repeated, any of them.'),
});

export function connectionOperations(deps: ConnectionOperationsDeps): readonly Operation[] {
  const { store } = deps;

  const answer = (status: number, connection: StoredConnection): Answer => ({
    status,
    body: connectionBody(connection, deps.ingestUrl),
    etag: connection.version,
  });

  return [
    operation({
      id: 'listConnections',
      method: 'GET',
      path: '/connections',
      tag: 'Connections',
      summary: 'List Connections, oldest first',
      description: 'Secrets are never answered; their status says whether there is one.',
      needs: 'connections:read',
      query: ListQuery,
      answers: { 200: { description: 'Connections', schema: pageOf(ConnectionShape) } },
      handle: (call) => list(deps, call),
    }),

    operation({
      id: 'createConnection',
      method: 'POST',
      path: '/connections',
      tag: 'Connections',
      summary: 'Create a Connection; nothing is sent',
      description: 'The address is not tried. Check it first with `checkConnection`.',
      needs: 'connections:write',
      body: ConnectionInput,
      answers: { 201: OF_CONNECTION },
      refusals: [NAME_REFUSAL],
      async handle(call) {
        const errors = connectionErrors(call.body, null);
        if (errors.length > 0) return invalid(errors);
        const { save, secrets } = connectionFields(call.body, null);
        const created = await store.create(save, secrets, authorOf(call));
        if (created === 'name_taken') return NAME_TAKEN;
        await changed(deps, created.id);
        const location = `/api/v1/connections/${created.id}`;
        return { ...answer(201, created), location };
      },
    }),

    operation({
      id: 'getConnection',
      method: 'GET',
      path: '/connections/{connection_id}',
      tag: 'Connections',
      summary: 'Read a Connection',
      description: 'Secrets are never answered; their status says whether there is one.',
      needs: 'connections:read',
      ids: CONNECTION_ID,
      answers: { 200: OF_CONNECTION },
      async handle(call) {
        const connection = await store.read(connectionId(call));
        return connection ? answer(200, connection) : notFound();
      },
    }),

    operation({
      id: 'updateConnection',
      method: 'PUT',
      path: '/connections/{connection_id}',
      tag: 'Connections',
      summary: 'Update a Connection; another address needs the token again',
      description:
        'Secrets that are left out stay. Another address needs `bot_token` again and may end Account links.',
      needs: 'connections:write',
      ids: CONNECTION_ID,
      ifMatch: 'required',
      body: ConnectionInput,
      answers: { 200: OF_CONNECTION },
      refusals: [NAME_REFUSAL],
      async handle(call) {
        const id = connectionId(call);
        const update = await store.update(id, (current) => decide(call, current), authorOf(call));
        switch (update.outcome) {
          case 'unknown':
            return notFound();
          case 'name_taken':
            return NAME_TAKEN;
          case 'refused':
            return update.refusal;
          case 'unchanged':
            return answer(200, update.connection);
          case 'saved':
            await changed(deps, id, update.unlinked);
            return answer(200, update.connection);
        }
      },
    }),

    operation({
      id: 'deleteConnection',
      method: 'DELETE',
      path: '/connections/{connection_id}',
      tag: 'Connections',
      summary: 'Delete a Connection that no Destination uses; its secrets are wiped',
      description: 'Account links through it and its Request log go, too.',
      needs: 'connections:write',
      ids: CONNECTION_ID,
      ifMatch: 'optional',
      answers: { 204: { description: 'Deleted' } },
      refusals: [[409, 'conflict', 'in_use']],
      async handle(call) {
        const id = connectionId(call);
        const { ifMatch } = call;
        const isCurrent = ifMatch && ((version: number) => ifMatch.matches(version));
        const removal = await store.remove(id, isCurrent, authorOf(call));
        switch (removal.outcome) {
          case 'unknown':
            return notFound();
          case 'stale':
            return preconditionFailed();
          case 'in_use':
            return IN_USE;
          case 'removed':
            await changed(deps, id, removal.unlinked);
            return { status: 204 };
        }
      },
    }),

    operation({
      id: 'listConnectionChannels',
      method: 'GET',
      path: '/connections/{connection_id}/channels',
      tag: 'Connections',
      summary: 'List the channels of the bot of a chat server; other types have no such list',
      description: 'For pickers of a channel. At most 500.',
      needs: 'destinations:write',
      ids: CONNECTION_ID,
      answers: {},
      refusals: [[422, 'validation-failed', '']],
      async handle(call) {
        const connection = await store.read(connectionId(call));
        return connection ? NO_CHANNELS : notFound();
      },
    }),
  ];

  function decide(call: Call<unknown, ConnectionInput>, current: StoredConnection) {
    // Stale before meaning (api §1.3).
    if (!call.ifMatch?.matches(current.version)) return { refuse: preconditionFailed() };
    const errors = [...connectionErrors(call.body, current), ...unheld(call, current)];
    return errors.length > 0 ? { refuse: invalid(errors) } : connectionFields(call.body, current);
  }
}

/**
 * Whoever knows the secret of pushed events, or puts a proxy in between, may act as the people whose accounts are linked
 * through the Connection. Another address removes these links.
 */
function unheld({ identity, body }: Call<unknown, ConnectionInput>, current: StoredConnection) {
  const { save } = connectionFields(body, current);
  if (current.accountLinkCount === 0 || save.base_url !== current.fields.base_url) return [];
  return [
    ...(typeof body.push_secret === 'string'
      ? unheldErrors(identity, '/push_secret', COMMAND_PERMISSIONS)
      : []),
    ...(isDeepStrictEqual(save.proxy, current.fields.proxy)
      ? []
      : unheldErrors(identity, '/proxy', COMMAND_PERMISSIONS)),
  ];
}

export function connectionId(call: Pick<Call, 'params'>): PublicId {
  return call.params.connection_id as PublicId;
}

/** A change is stored: everything remembered follows, and so does whoever listens through the Connection. */
async function changed(
  deps: ConnectionOperationsDeps,
  id: PublicId,
  unlinked: readonly PublicId[] = [],
): Promise<void> {
  await deps.directory.reload();
  deps.client.release(connectionOwner(id));
  deps.messageWaits(connectionAddress(id));
  deps.hints.send({ type: 'connection', id });
  for (const user of unlinked) deps.hints.send({ type: 'account-links', id: user });
}

async function list(
  { store, ingestUrl }: ConnectionOperationsDeps,
  { query }: Call<v.InferOutput<typeof ListQuery>>,
): Promise<Answer> {
  const { type = null, limit = DEFAULT_LIMIT } = query;
  const filters = { type };
  const after = query.cursor === undefined ? null : readCursor(filters, query.cursor);
  if (after === 'invalid') return INVALID_CURSOR;
  const { items, more } = await store.page(type, after, limit);
  const last = more ? items.at(-1) : undefined;
  return {
    status: 200,
    body: {
      items: items.map((connection) => connectionBody(connection, ingestUrl)),
      next_cursor: last ? encodeCursor(LIST, filters, [last.createdAt, last.id]) : null,
    },
  };
}

function readCursor(filters: unknown, cursor: string): readonly [number, string] | 'invalid' {
  const [createdAt, id] = decodeCursor(LIST, filters, cursor) ?? [];
  return typeof createdAt === 'number' && typeof id === 'string' ? [createdAt, id] : 'invalid';
}

const NAME_TAKEN = conflict('name_taken', 'Another Connection has this name. Choose a different one.');

const IN_USE = conflict(
  'in_use',
  'Destinations use this Connection. Delete them or give them another one first.',
);

const NO_CHANNELS = invalid([
  {
    pointer: '/path/connection_id',
    code: 'unsupported',
    detail: 'A bridge has no list of channels. Enter the id of the channel as the bridge writes it.',
  },
]);
