/** A Destination as it arrives, whether it may be saved, how it is answered, who is notified (delivery §13, api §15). */
import * as v from 'valibot';
import { channelOf, MESSENGERS, type MessengerType } from '../../../actors/channels/index.ts';
import type { CheckedPlace, Interactive } from '../../../actors/channels/interactive.ts';
import { destinationAddress } from '../../../actors/destination/messages.ts';
import type {
  DestinationChange,
  DestinationDecision,
  DestinationFields,
  DestinationStore,
  FoundPlace,
  MessengerFields,
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

function messengerInput({ destination, settings }: MessengerType) {
  const { schema, noun } = settings.messenger;
  return d.named(
    `${schema}DestinationInput`,
    v.object({
      type: d.described(v.literal(destination.type), `A channel behind a ${noun}.`),
      ...commonInput,
      connection_id: publicId,
      ...settings.destination.entries,
    }),
    `A Destination behind a ${noun}, as it is saved.`,
  );
}
type MessengerInput = v.InferOutput<ReturnType<typeof messengerInput>> & { readonly team_id?: unknown };

/** Of a channel bot: as its last check that passed found it. */
const GroupShape = {
  discussion_group_id: d.textOrNull('Id of its discussion group; null before it is known.'),
  discussion_group_title: d.textOrNull('Its name; null before it is known.'),
};

function messengerShape({ destination, settings }: MessengerType) {
  const { schema, noun, hasTeams } = settings.messenger;
  const teamName = d.textOrNull('Name of the team; null before it is known, and without one.');
  const team: v.ObjectEntries = hasTeams ? { team_name: teamName } : {};
  const group: v.ObjectEntries = destination.type === 'channel_bot' ? GroupShape : {};
  return d.extending(
    CommonShape,
    `${schema}Destination`,
    v.object({
      type: d.described(v.literal(destination.type), `A channel behind a ${noun}.`),
      ...CommonShape.entries,
      connection_id: d.id('CN'),
      ...settings.destination.entries,
      channel_name: d.textOrNull('Its name when last seen; null without one.'),
      ...{ ...team, ...group },
      template_error: d.described(v.null(), 'Always null: the Route shows it.'),
      warnings: d.described(v.array(v.never()), 'Always empty.'),
    }),
    `A channel of a messenger behind a ${noun}.`,
  );
}

function messengerChange(
  input: MessengerInput,
  current: StoredDestination | null,
  found: FoundPlace | null,
): DestinationChange {
  const { type, connection_id, channel_id, team_id } = input;
  const team = typeof team_id === 'string' ? { team_id } : {};
  const common = commonFields(input, current, channelOf(type).settings.limiter);
  const fields = { type, ...common, connection_id, ...team, channel_id };
  return { fields, proxyPassword: { kind: 'keep' }, found };
}

function messengerBody(
  destination: StoredDestination,
  { type, name: _name, mentions: _mentions, limiter: _limiter, ...place }: MessengerFields,
  directory: Pick<Directory, 'routes'>,
) {
  const { channelName, teamName, channel } = destination.found;
  const group = {
    discussion_group_id: channel?.groupId ?? null,
    discussion_group_title: channel?.groupName ?? null,
  };
  return {
    ...{ type, ...commonBody(destination, directory), ...place, channel_name: channelName },
    ...(channelOf(type).settings.messenger?.hasTeams ? { team_name: teamName } : {}),
    ...(type === 'channel_bot' ? group : {}),
    ...{ template_error: null, warnings: [] },
  };
}

const UNKNOWN_CONNECTION: FieldError = {
  pointer: '/connection_id',
  code: 'unknown_id',
  detail: 'There is no such Connection of this type.',
};

export const DestinationInput = d.named(
  'DestinationInput',
  v.variant('type', [WebhookInput, ...MESSENGERS.map(messengerInput)]),
  'A Destination, as it is saved.',
);
export type DestinationInput = v.InferOutput<typeof DestinationInput>;

export const DestinationShape = d.named(
  'Destination',
  v.variant('type', [WebhookShape, ...MESSENGERS.map(messengerShape)]),
  'Where Alert Groups are sent.',
);

/** A Destination as reads answer it. */
export function destinationBody(destination: StoredDestination, directory: Pick<Directory, 'routes'>) {
  const { fields } = destination;
  if (fields.type === 'webhook') return webhookBody(destination, fields, directory);
  return messengerBody(destination, fields, directory);
}

const typeError = (code: FieldError['code'], detail: string) => ({ pointer: '/type', code, detail });
const TYPE_IS_FIXED = typeError('invalid_format', 'The type of a Destination cannot change.');

/** Refused, or what is to become of the Destination once it is locked; null: of a new one. */
export type JudgedSave =
  | { readonly refuse: Answer }
  | { decide(current: StoredDestination | null): DestinationDecision<Answer> };

type SaveDeps = Pick<DestinationOperationsDeps, 'store' | 'interactive'>;
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
  if (body.type === 'webhook') return judgedWebhook({ body, directory });
  return judgedMessenger(deps, { body, directory }, current);
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
async function judgedMessenger(
  deps: SaveDeps,
  { body, directory }: SaveCall<MessengerInput>,
  current: StoredDestination | null,
): Promise<JudgedSave> {
  const hasConnection = directory.connectionsById.get(body.connection_id)?.type === body.type;
  const errors = [
    ...commonErrors(body, body.type, directory),
    ...(hasConnection ? [] : [UNKNOWN_CONNECTION]),
  ];
  if (errors.length > 0) return { refuse: invalid(errors) };
  const destinationId = current?.id ?? null;
  if (await deps.store.isTaken(body.name.trim(), destinationId)) return { refuse: nameTaken('Destination') };
  const { fields } = messengerChange(body, current, null);
  // A place that it is only to be pointed to has nothing to do with the waits and the limiter of the present one.
  const place = { destinationId: isAt(current, body) ? destinationId : null, fields, found: null };
  const checked = await checkOf(deps, body.type)(place, newPublicId('RN'));
  if ('retryAfterSeconds' in checked) return { refuse: refuse(messengerBusy(checked.retryAfterSeconds)) };
  if (!checked.ok) return { refuse: checkFailed(checked) };
  return { decide: (locked) => ({ save: messengerChange(body, locked, checked.found) }) };
}

function isAt(current: StoredDestination | null, { connection_id, channel_id }: MessengerInput): boolean {
  if (!current || current.fields.type === 'webhook') return false;
  return current.fields.connection_id === connection_id && current.fields.channel_id === channel_id;
}

function checkFailed({ checks }: CheckedPlace): Answer {
  const failed = checks.find(({ ok }) => !ok);
  const pointer = failed?.name === 'token' ? '/connection_id' : '/channel_id';
  const detail = failed?.message ?? 'The check failed.';
  return invalid([{ pointer, code: 'destination_check_failed', detail }]);
}

/** @throws for a type that is not served, or has no check */
export function checkOf({ interactive }: SaveDeps, type: DestinationFields['type']) {
  const check = interactive[type]?.check;
  if (!check) throw new Error(`a Destination of type ${type} has no check`);
  return check;
}

export const NO_CONNECTION = invalid([UNKNOWN_CONNECTION]);

export interface DestinationOperationsDeps {
  readonly store: DestinationStore;
  readonly directory: DirectorySource;
  readonly hints: HintBus;
  readonly system: Pick<ActorSystem, 'tell' | 'ask'>;
  /** By type, of those that are served. */
  readonly interactive: Readonly<Partial<Record<DestinationFields['type'], Interactive>>>;
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
