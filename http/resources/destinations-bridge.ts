/** A channel behind a bridge as it arrives and as it is answered (delivery §13). */
import * as v from 'valibot';
import type { BridgeFields, DestinationChange, StoredDestination } from '../../actors/destination/ports.ts';
import type { Directory } from '../../actors/directory.ts';
import { codePoints } from '../../actors/text.ts';
import { publicId } from '../fields.ts';
import type { FieldError } from '../problem.ts';
import { commonBody, commonErrors, commonFields, commonInput, commonShape } from './destinations-common.ts';

const CHANNEL_CHARACTERS = 512;

export const BridgeInput = v.object({
  type: v.literal('bridge'),
  ...commonInput,
  connection_id: publicId,
  channel_id: v.pipe(
    v.string(),
    v.nonEmpty('too_short'),
    v.check((id) => codePoints(id) <= CHANNEL_CHARACTERS, 'too_long'),
  ),
});
export type BridgeInput = v.InferOutput<typeof BridgeInput>;

export const BridgeShape = v.object({
  type: v.literal('bridge'),
  ...commonShape,
  connection_id: v.string(),
  channel_id: v.string(),
  channel_name: v.nullable(v.string()),
  template_error: v.null(),
  warnings: v.array(v.never()),
});
export type BridgeShape = v.InferOutput<typeof BridgeShape>;

/** Everything that is wrong with a body beyond its shape (422), all of it together. */
export function bridgeErrors(
  input: BridgeInput,
  hasConnection: boolean,
  directory: Pick<Directory, 'usersById'>,
): readonly FieldError[] {
  return [...commonErrors(input, 'bridge', directory), ...(hasConnection ? [] : [UNKNOWN_CONNECTION])];
}

/** @param channelName what the check found */
export function bridgeChange(
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

export function bridgeBody(
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

export const UNKNOWN_CONNECTION: FieldError = {
  pointer: '/connection_id',
  code: 'unknown_id',
  detail: 'There is no such Connection of this type.',
};
