/** What messengers and bridges call on the ingest listener (api §19). Every other path there is unknown. */
import type { PushAnswer, PushReceiver } from '../actors/connection/bridge/push-receiver.ts';
import { parsePublicId } from '../runtime/public-id.ts';
import { NOT_FOUND, NOT_IMPLEMENTED, problemReply, UNAVAILABLE } from './errors.ts';
import type { Handler, Reply, Request } from './exchange.ts';
import type { ProblemType } from './problem.ts';

const CALLBACK = /^\/api\/v1\/callbacks\/(chat-server|channel-bot|bridge)\/([^/]+)$/;

export interface CallbackDeps {
  readonly pushes: PushReceiver;
}

/** What ingestion leaves over. Messengers other than bridges are not served by this build. */
export function createCallbackHandler({ pushes }: CallbackDeps): Handler {
  return async (request) => {
    const [, kind, id = ''] = CALLBACK.exec(request.path) ?? [];
    if (kind === undefined || request.method !== 'POST') return problemReply(NOT_FOUND, null, []);
    if (kind !== 'bridge') return problemReply(NOT_IMPLEMENTED, null, []);
    return takePush(pushes, request, id);
  };
}

/** What proves a push, and what helps to find out where it came from. */
const KEPT_HEADERS = [
  'content-type',
  'user-agent',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
] as const;

async function takePush(pushes: PushReceiver, request: Request, id: string): Promise<Reply | null> {
  const body = await request.body();
  if (body.kind === 'aborted') return null;
  if (body.kind === 'no_room') return problemReply(UNAVAILABLE, null, []);
  // It can never be handled, whoever sent it.
  if (body.kind === 'too_large') return replyOf(400);
  const headers = KEPT_HEADERS.flatMap((name) => {
    const value = request.header(name);
    return value === null ? [] : [[name, value] as const];
  });
  return replyOf(await pushes.receive({ id: parsePublicId(id), headers, body: body.bytes }));
}

const REFUSALS = {
  400: ['validation-failed', 'This is no event that can be handled. It need not be sent again.'],
  401: [
    'unauthenticated',
    'The signature, the time, the Connection or its mode is wrong. Correct it and send the event again.',
  ],
  500: ['internal', 'The event could not be handled. Send it again.'],
} as const satisfies Record<Exclude<PushAnswer, 204>, readonly [ProblemType, string]>;

function replyOf(status: PushAnswer): Reply {
  if (status === 204) return { status, headers: [], content: null };
  const [type, detail] = REFUSALS[status];
  return problemReply({ status, type, detail }, null, []);
}
