/** Connections: list, create, read, update, delete (api §14). */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { endsLinks } from '../../../actors/account-links/link.ts';
import type { ChannelLister } from '../../../actors/channels/connection-check.ts';
import { connectionAddress, connectionOwner } from '../../../actors/connection/messages.ts';
import type {
  BotSaving,
  ConnectionFields,
  ConnectionStore,
  StoredConnection,
} from '../../../actors/connection/ports.ts';
import type { DirectorySource } from '../../../actors/directory.ts';
import type { HintBus } from '../../../actors/effects.ts';
import type { Address } from '../../../runtime/actor/index.ts';
import { newPublicId, type PublicId } from '../../../runtime/public-id.ts';
import { messengerBusy } from '../../errors.ts';
import { type Answer, authorOf, type Call, type Operation, operation } from '../../operation.ts';
import { COMMAND_PERMISSIONS } from '../../permissions.ts';
import {
  conflict,
  type FieldErrorCode,
  invalid,
  notFound,
  preconditionFailed,
  refuse,
} from '../../problem.ts';
import { unheldErrors } from '../../request/admission.ts';
import * as d from '../../schema/described.ts';
import { searchText } from '../../schema/fields.ts';
import { pageQuery } from '../../schema/page.ts';
import { itemsOf } from '../../schema/shapes.ts';
import { ConnectionType } from '../../schema/words.ts';
import {
  byAge,
  configurationOperations,
  NAME_REFUSAL,
  PLACE_BY_AGE,
  type PlaceByAge,
} from '../configuration.ts';
import {
  addressOf,
  addressPointer,
  ConnectionInput,
  ConnectionShape,
  connectionBody,
  connectionErrors,
  connectionFields,
} from './shapes.ts';
import { PUBLIC_BOT_API } from './types/channel-bot.ts';

export interface ConnectionOperationsDeps {
  readonly store: ConnectionStore;
  readonly directory: DirectorySource;
  readonly hints: HintBus;
  /** Makes whoever acts for the Connection look for the message that was stored with a change. */
  readonly messageWaits: (to: Address) => void;
  /** Closes connections that were opened with the settings before. */
  readonly client: { release(owner: string): void };
  /** Where the other side calls in, without a trailing slash. */
  readonly ingestUrl: string;
  /** Where people open the service, without a trailing slash. */
  readonly publicUrl: string;
  /** By type, where channels can be listed. */
  readonly channels: Readonly<Partial<Record<ConnectionFields['type'], ChannelLister>>>;
  /** Of channel bots. */
  readonly botSaving?: Pick<BotSaving, 'prepare' | 'leaving'>;
}

type Wanted = ReturnType<typeof connectionFields>;
type Prepared = Wanted & {
  /** It was not stored after all. */
  undo(): Promise<void>;
};

/** Before a channel bot is stored its messenger is told where updates go from then on (channel-bot §1.1). */
async function prepare(
  { botSaving }: ConnectionOperationsDeps,
  id: PublicId,
  { save, secrets }: Wanted,
): Promise<Prepared | { readonly refuse: Answer }> {
  if (save.type !== 'channel_bot' || !botSaving) return { save, secrets, undo: async () => undefined };
  const prepared = await botSaving.prepare(id, save, secrets);
  if (prepared.ok) {
    const { webhook, undo } = prepared;
    return { save, secrets: webhook ? { ...secrets, webhook } : secrets, undo };
  }
  const detail = `The messenger did not take the change: ${prepared.error}`;
  return { refuse: invalid([{ pointer: '/update_mode', code: 'webhook_call_failed', detail }]) };
}

export const CONNECTION_ID = { connection_id: 'CN' } as const;
const ListQuery = v.object({
  ...pageQuery,
  type: d.described(v.optional(v.array(ConnectionType)), 'Only this type.'),
});

const ChannelsQuery = v.object({
  team_id: d.described(
    v.optional(v.pipe(v.string(), v.maxLength(64, 'too_long'))),
    'Only channels of this team.',
  ),
  q: d.described(searchText, 'A part of the name or display name, in any case.'),
});

const ChannelShape = d.named(
  'ConnectionChannel',
  v.object({
    id: d.text('Its id at the chat server.'),
    name: d.text('Its name in addresses.'),
    display_name: d.text('Its name as people see it.'),
    team_id: d.text('Id of its team.'),
    team_name: d.text('Name of its team as people see it.'),
    type: d.described(
      v.picklist(['open', 'private', 'direct', 'group']),
      '`open`: anybody of the team may join; `private`: by invitation; `direct`, `group`: between people.',
    ),
    archived: d.flag('Whether it is archived; nothing can be posted then.'),
  }),
  'A channel of a chat server.',
);

export function connectionOperations(deps: ConnectionOperationsDeps): readonly Operation[] {
  const { store } = deps;

  return [
    ...configurationOperations({
      names: ['Connection', 'Connections'],
      tag: 'Connections',
      path: '/connections',
      id: ['connection_id', 'CN'],
      noun: 'Connection',
      words: {
        create: [
          'Create a Connection; nothing is sent',
          'The address is not tried. Check it first with `checkConnection`.',
        ],
        get: ['Read a Connection', 'Secrets are never answered, only whether there is one.'],
        update: [
          'Update a Connection; another address needs the token again',
          'Secrets that are left out stay. Another address needs `bot_token` again and may end Account links.',
        ],
        delete: [
          'Delete a Connection that no Destination uses; its secrets are wiped',
          'Account links through it and its Request log go, too.',
        ],
      },
      shape: ConnectionShape,
      input: ConnectionInput,
      refusals: {
        create: [NAME_REFUSAL],
        update: [NAME_REFUSAL],
        delete: [[409, 'conflict', 'in_use']],
      },
      list: {
        words: ['List Connections, oldest first', 'Secrets are never answered, only whether there is one.'],
        answer: 'Connections',
        query: ListQuery,
        place: PLACE_BY_AGE,
        filters: ({ type = null }) => ({ type }),
        page: async ({ query: { type = null } }, after, limit) =>
          byAge(await store.page(type, after as PlaceByAge | null, limit)),
      },
      body: (connection) => connectionBody(connection, deps),
      read: (id) => store.read(id),
      async create(call) {
        const errors = [...connectionErrors(call.body, null), ...unheld(call, null)];
        if (errors.length > 0) return { refuse: invalid(errors) };
        const id = newPublicId('CN');
        const prepared = await prepare(deps, id, connectionFields(call.body, null));
        if ('refuse' in prepared) return { refuse: prepared.refuse };
        const created = await store.create(prepared.save, prepared.secrets, authorOf(call), id);
        if (created === 'name_taken') {
          await prepared.undo();
          return created;
        }
        await changed(deps, id);
        return { saved: created };
      },
      async update(call, id) {
        const before = await store.read(id);
        if (!before) return 'unknown';
        const wanted = decide(call, before);
        if ('refuse' in wanted) return { refuse: wanted.refuse };
        const prepared = await prepare(deps, id, wanted);
        if ('refuse' in prepared) return { refuse: prepared.refuse };
        const { secrets, undo } = prepared;
        const decideLocked = (current: StoredConnection) => {
          const decided = decide(call, current);
          return 'refuse' in decided ? decided : { save: decided.save, secrets };
        };
        const update = await store.update(id, decideLocked, authorOf(call));
        if (update.outcome === 'saved') await changed(deps, id, update.unlinked);
        else await undo();
        if (update.outcome === 'refused') return { refuse: update.refusal };
        return 'connection' in update ? { saved: update.connection } : update.outcome;
      },
      async remove(call, id, isCurrent) {
        const leave = await deps.botSaving?.leaving(id);
        const removal = await store.remove(id, isCurrent, authorOf(call));
        if (removal.outcome === 'in_use') return { refuse: IN_USE };
        if (removal.outcome === 'removed') {
          await changed(deps, id, removal.unlinked);
          await leave?.();
        }
        return removal.outcome;
      },
    }),

    operation({
      id: 'listConnectionChannels',
      method: 'GET',
      path: '/connections/{connection_id}/channels',
      tag: 'Connections',
      summary: 'List the channels of the bot of a chat server; other types have no such list',
      description: 'By team, then name, at most 500, without direct and group channels.',
      needs: 'destinations:write',
      ids: CONNECTION_ID,
      query: ChannelsQuery,
      answers: { 200: { description: 'Channels that the bot has joined', schema: itemsOf(ChannelShape) } },
      refusals: [
        [422, 'validation-failed', ''],
        [503, 'interactive-budget-exhausted', ''],
      ],
      async handle(call) {
        const connection = await store.read(connectionId(call));
        if (!connection) return notFound();
        const list = deps.channels[connection.fields.type];
        if (!list) return NO_CHANNELS;
        const { team_id: teamId = null, q = null } = call.query;
        const listed = await list(connection.id, { teamId, q });
        if (listed.is === 'busy') return refuse(messengerBusy(listed.wait.retryAfterSeconds));
        if (listed.is === 'failed') return notListed('destination_check_failed', listed.error);
        const items = listed.channels.map((channel) => ({ ...channel, archived: false }));
        return { status: 200, body: { items } };
      },
    }),
  ];

  function decide(call: Call<unknown, ConnectionInput>, current: StoredConnection) {
    // Stale before meaning (api §1.3).
    if (!call.ifMatch?.matches(current.version)) return { refuse: preconditionFailed() };
    const isOfType = call.body.type === current.fields.type;
    const errors = [...connectionErrors(call.body, current), ...(isOfType ? unheld(call, current) : [])];
    return errors.length > 0 ? { refuse: invalid(errors) } : connectionFields(call.body, current);
  }
}

/**
 * Whoever knows the secret of pushed events, puts a proxy in between, or answers at another address that keeps the Account
 * links, may act as the people whose accounts are linked (access §9.1).
 */
function unheld({ identity, body }: Call<unknown, ConnectionInput>, current: StoredConnection | null) {
  const { save, secrets } = connectionFields(body, current);
  const address = addressOf(save);
  const before = current === null ? null : addressOf(current.fields);
  const links = current?.accountLinkCount ?? 0;
  const isLinked = before !== null && links > 0 && !endsLinks(save.type, before, address);
  // Accounts of channel bots count for every Connection to one; at its own address the messenger vouches for them.
  const isOwnBotApi = save.type === 'channel_bot' && address !== PUBLIC_BOT_API;
  const isElsewhere = address !== before && (isOwnBotApi || (isLinked && save.type !== 'channel_bot'));
  const isOtherProxy = current !== null && !isDeepStrictEqual(save.proxy, current.fields.proxy);
  const isOtherSecret = secrets.pushSecret !== null && secrets.pushSecret !== 'clear';
  return [
    ...(isElsewhere ? unheldErrors(identity, addressPointer(save), COMMAND_PERMISSIONS) : []),
    ...(isLinked && isOtherSecret ? unheldErrors(identity, '/push_secret', COMMAND_PERMISSIONS) : []),
    ...((isLinked || isOwnBotApi) && isOtherProxy
      ? unheldErrors(identity, '/proxy', COMMAND_PERMISSIONS)
      : []),
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

const IN_USE = conflict(
  'in_use',
  'Destinations use this Connection. Delete them or give them another one first.',
);

function notListed(code: FieldErrorCode, detail: string): Answer {
  return invalid([{ pointer: '/path/connection_id', code, detail }]);
}

const NO_CHANNELS = notListed(
  'unsupported',
  'This type has no list of channels. Enter the id of the channel as the messenger writes it.',
);
