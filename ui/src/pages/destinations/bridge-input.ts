/** The form of a channel behind a bridge and what is sent. */
import type { BridgeInput, Destination } from '../../api/shapes.ts';
import { fromMentionsDraft, type MentionsDraft, NOBODY_EVER, toMentionsDraft } from './mentions-draft.ts';

export interface BridgeDraft {
  name: string;
  connectionId: string;
  channelId: string;
  mentions: MentionsDraft;
  limit: number;
  perSeconds: number;
}

/** @param connectionId the only Connection there is, so that nobody has to choose it */
export function newBridge(connectionId: string): BridgeInput {
  return {
    type: 'bridge',
    name: '',
    connection_id: connectionId,
    channel_id: '',
    mentions: NOBODY_EVER,
    limiter: { limit: 5, per_seconds: 1 },
  };
}

/** Null for a Destination of another type. */
export function toBridgeInput(destination: Destination): BridgeInput | null {
  const { type, name, mentions, limiter, connection_id: connection, channel_id: channel } = destination;
  if (type !== 'bridge' || connection === undefined || channel === undefined) return null;
  return { type, name, connection_id: connection, channel_id: channel, mentions, limiter };
}

export function toBridgeDraft(input: BridgeInput): BridgeDraft {
  return {
    name: input.name,
    connectionId: input.connection_id,
    channelId: input.channel_id,
    mentions: toMentionsDraft(input.mentions),
    limit: input.limiter.limit,
    perSeconds: input.limiter.per_seconds,
  };
}

export function fromBridgeDraft(draft: BridgeDraft): BridgeInput {
  return {
    type: 'bridge',
    name: draft.name,
    connection_id: draft.connectionId,
    channel_id: draft.channelId,
    mentions: fromMentionsDraft(draft.mentions),
    limiter: { limit: draft.limit, per_seconds: draft.perSeconds },
  };
}
