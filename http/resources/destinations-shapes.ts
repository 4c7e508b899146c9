/** A Destination of any type as it arrives and as it is answered (api §15). Each type has a file of its own. */
import * as v from 'valibot';
import type { StoredDestination } from '../../actors/destination/ports.ts';
import type { Directory } from '../../actors/directory.ts';
import type { FieldError } from '../problem.ts';
import { BridgeInput, BridgeShape, bridgeBody } from './destinations-bridge.ts';
import { commonInput } from './destinations-common.ts';
import { WebhookInput, WebhookShape, webhookBody } from './destinations-webhook.ts';

export const DESTINATION_TYPES = ['webhook', 'chat_server', 'channel_bot', 'bridge'] as const;

/** Of the types that this build does not deliver to only the type is looked at, and refused. */
export const DestinationInput = v.variant('type', [
  WebhookInput,
  BridgeInput,
  v.object({ type: v.picklist(['chat_server', 'channel_bot']), name: commonInput.name }),
]);
export type DestinationInput = v.InferOutput<typeof DestinationInput>;
type LaterInput = Extract<DestinationInput, { readonly type: 'chat_server' | 'channel_bot' }>;

export const DestinationShape = v.variant('type', [WebhookShape, BridgeShape]);
export type DestinationShape = v.InferOutput<typeof DestinationShape>;

export function isLater(input: DestinationInput): input is LaterInput {
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

export const TYPE_IS_FIXED: FieldError = {
  pointer: '/type',
  code: 'invalid_format',
  detail: 'The type of a Destination cannot change.',
};

export const LATER_TYPE: FieldError = {
  pointer: '/type',
  code: 'unsupported',
  detail: 'This messenger comes with a later version. Create an outgoing webhook or a channel of a bridge.',
};
