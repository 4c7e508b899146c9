/** A Destination as it arrives, whether it may be saved, how it is answered, who is notified (delivery §13, api §15). */
import * as v from 'valibot';
import { CHANNELS } from '../../../actors/channels/index.ts';
import type { CheckedPlace, Interactive } from '../../../actors/channels/interactive.ts';
import type { ConnectionStore } from '../../../actors/connection/ports.ts';
import { destinationAddress } from '../../../actors/destination/messages.ts';
import type {
  BridgeFields,
  DestinationChange,
  DestinationDecision,
  DestinationStore,
  StoredDestination,
} from '../../../actors/destination/ports.ts';
import type { Directory, DirectorySource } from '../../../actors/directory.ts';
import type { HintBus } from '../../../actors/effects.ts';
import type { ActorSystem } from '../../../runtime/actor/index.ts';
import type { Micros } from '../../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../../runtime/public-id.ts';
import { messengerBusy } from '../../errors.ts';
import type { Answer, Call } from '../../operation.ts';
import { type FieldError, invalid, refuse } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { nameErrors, publicId } from '../../schema/fields.ts';
import { nameTaken } from '../configuration.ts';
import { CommonShape, commonBody, commonErrors, commonFields, commonInput } from './common.ts';
import {
  WebhookInput,
  WebhookShape,
  webhookBody,
  webhookChange,
  webhookErrors,
  webhookFields,
} from './webhook.ts';

const BridgeInput = d.named(
  'BridgeDestinationInput',
  v.object({
    type: d.described(v.literal('bridge'), 'A channel behind a bridge.'),
    ...commonInput,
    connection_id: d.described(publicId, 'Id of the Connection to the bridge.'),
    ...CHANNELS.bridge.settings.destination.entries,
  }),
  'A Destination behind a bridge, as it is saved.',
);
export type BridgeInput = v.InferOutput<typeof BridgeInput>;

const BridgeShape = d.extending(
  CommonShape,
  'BridgeDestination',
  v.object({
    type: d.described(v.literal('bridge'), 'A channel behind a bridge.'),
    ...CommonShape.entries,
    connection_id: d.id('CN'),
    channel_id: d.text('Id of the channel at the bridge.'),
    channel_name: d.textOrNull('Name of the channel as the bridge last said; null without one.'),
    template_error: d.described(v.null(), 'Always null: errors of templates are shown at the Route.'),
    warnings: d.described(v.array(v.never()), 'Always empty.'),
  }),
  'A channel of a messenger behind a bridge.',
);
export type BridgeShape = v.InferOutput<typeof BridgeShape>;

/** Everything that is wrong with a body beyond its shape (422), all of it together. */
function bridgeErrors(
  input: BridgeInput,
  hasConnection: boolean,
  directory: Pick<Directory, 'usersById'>,
): readonly FieldError[] {
  return [...commonErrors(input, 'bridge', directory), ...(hasConnection ? [] : [UNKNOWN_CONNECTION])];
}

/** @param channelName what the check found */
function bridgeChange(
  input: BridgeInput,
  current: StoredDestination | null,
  channelName: string | null,
): DestinationChange {
  return {
    fields: {
      type: 'bridge',
      ...commonFields(input, current),
      connection_id: input.connection_id,
      channel_id: input.channel_id,
    },
    proxyPassword: { kind: 'keep' },
    channelName,
  };
}

function bridgeBody(
  destination: StoredDestination,
  fields: BridgeFields,
  directory: Pick<Directory, 'routes'>,
): BridgeShape {
  return {
    type: 'bridge',
    ...commonBody(destination, directory),
    connection_id: fields.connection_id,
    channel_id: fields.channel_id,
    channel_name: destination.channelName,
    template_error: null,
    warnings: [],
  };
}

const UNKNOWN_CONNECTION: FieldError = {
  pointer: '/connection_id',
  code: 'unknown_id',
  detail: 'There is no such Connection of this type.',
};

/** Of the types that this build does not deliver to only the type is looked at, and refused. */
export const DestinationInput = d.named(
  'DestinationInput',
  v.variant('type', [
    WebhookInput,
    BridgeInput,
    v.object({
      type: d.described(
        v.picklist(['chat_server', 'channel_bot']),
        'The type, `chat_server` or `channel_bot`. This version does not serve it: 501.',
      ),
      name: commonInput.name,
    }),
  ]),
  'A Destination, as it is saved.',
);
export type DestinationInput = v.InferOutput<typeof DestinationInput>;
type LaterInput = Extract<DestinationInput, { readonly type: 'chat_server' | 'channel_bot' }>;

export const DestinationShape = d.named(
  'Destination',
  v.variant('type', [WebhookShape, BridgeShape]),
  'Where Alert Groups are sent.',
);
export type DestinationShape = v.InferOutput<typeof DestinationShape>;

function isLater(input: DestinationInput): input is LaterInput {
  return input.type === 'chat_server' || input.type === 'channel_bot';
}

/** A Destination as reads answer it. */
export function destinationBody(
  destination: StoredDestination,
  directory: Pick<Directory, 'routes'>,
): DestinationShape {
  const { fields } = destination;
  switch (fields.type) {
    case 'webhook':
      return webhookBody(destination, fields, directory);
    case 'bridge':
      return bridgeBody(destination, fields, directory);
  }
}

const TYPE_IS_FIXED: FieldError = {
  pointer: '/type',
  code: 'invalid_format',
  detail: 'The type of a Destination cannot change.',
};

const LATER_TYPE: FieldError = {
  pointer: '/type',
  code: 'unsupported',
  detail: 'This messenger comes with a later version. Create an outgoing webhook or a channel of a bridge.',
};

/** Refused, or what is to become of the Destination once it is locked; null: of a new one. */
export type JudgedSave =
  | { readonly refuse: Answer }
  | { decide(current: StoredDestination | null): DestinationDecision<Answer> };

type SaveDeps = Pick<DestinationOperationsDeps, 'store' | 'connections' | 'check'>;
type SaveCall<Body> = Pick<Call<unknown, Body>, 'body' | 'directory'>;

/** @param current as it was read; null for a new one */
export async function judgedSave(
  deps: SaveDeps,
  { body, directory }: SaveCall<DestinationInput>,
  current: StoredDestination | null,
): Promise<JudgedSave> {
  if (current && body.type !== current.fields.type) {
    return { refuse: invalid([TYPE_IS_FIXED, ...nameErrors(body.name)]) };
  }
  if (isLater(body)) return { refuse: invalid([LATER_TYPE, ...nameErrors(body.name)]) };
  return body.type === 'webhook'
    ? judgedWebhook({ body, directory })
    : judgedBridge(deps, { body, directory }, current);
}

/** Nothing is sent; a field that is left out is judged as it is stored at that moment. */
function judgedWebhook({ body, directory }: SaveCall<WebhookInput>): JudgedSave {
  return {
    decide(current) {
      const errors = webhookErrors(body, webhookFields(current), directory);
      return errors.length > 0 ? { refuse: invalid(errors) } : { save: webhookChange(body, current) };
    },
  };
}

/** The check comes last: everything that needs no messenger is known before one is asked. */
async function judgedBridge(
  { store, connections, check }: SaveDeps,
  { body, directory }: SaveCall<BridgeInput>,
  current: StoredDestination | null,
): Promise<JudgedSave> {
  const settings = await connections.settings(body.connection_id);
  const errors = bridgeErrors(body, settings !== null, directory);
  if (errors.length > 0) return { refuse: invalid(errors) };
  if (settings === null) return { refuse: NO_CONNECTION };
  const destinationId = current?.id ?? null;
  if (await store.isTaken(body.name.trim(), destinationId)) return { refuse: nameTaken('Destination') };
  const { fields } = bridgeChange(body, current, null);
  const checked = await check({ destinationId, fields }, newPublicId('RN'));
  if ('retryAfterSeconds' in checked) return { refuse: refuse(messengerBusy(checked.retryAfterSeconds)) };
  if (!checked.ok) return { refuse: checkFailed(checked) };
  return { decide: (locked) => ({ save: bridgeChange(body, locked, checked.channelName) }) };
}

function checkFailed({ checks }: CheckedPlace): Answer {
  const failed = checks.find(({ ok }) => !ok);
  const pointer = failed?.name === 'token' ? '/connection_id' : '/channel_id';
  const detail = failed?.message ?? 'The check failed.';
  return invalid([{ pointer, code: 'destination_check_failed', detail }]);
}

export const NO_CONNECTION = invalid([UNKNOWN_CONNECTION]);

export interface DestinationOperationsDeps {
  readonly store: DestinationStore;
  readonly connections: Pick<ConnectionStore, 'settings'>;
  readonly directory: DirectorySource;
  readonly hints: HintBus;
  readonly system: Pick<ActorSystem, 'tell' | 'ask'>;
  /** Of Destinations that have a check. */
  readonly check: NonNullable<Interactive['check']>;
  /** Requests made from now on use what was saved. */
  readonly settings: { forget(id: PublicId): void };
  /** Closes connections that were opened with the settings before. */
  readonly client: { release(owner: string): void };
}

export const DESTINATION_ID = { destination_id: 'DS' } as const;

export function destinationId(call: Pick<Call, 'params'>): PublicId {
  return call.params.destination_id as PublicId;
}

/** Whatever was saved counts from the next request on; a Broken Destination is tried at once. */
export function tellSaved(
  { settings, client, system }: Pick<DestinationOperationsDeps, 'settings' | 'client' | 'system'>,
  id: PublicId,
): void {
  settings.forget(id);
  client.release(`destination/${id}`);
  system.tell(destinationAddress(id), { type: 'saved' });
}

/** A check passed or a test succeeded: a Broken Destination is healthy again. @returns it as it stands then */
export async function provedToWork(
  { store, system }: Pick<DestinationOperationsDeps, 'store' | 'system'>,
  destination: StoredDestination,
  at: Micros,
): Promise<StoredDestination> {
  const { id } = destination;
  const worked = { type: 'worked', at } as const;
  await system.ask(destinationAddress(id), worked);
  return (await store.read(id)) ?? destination;
}
