/** This API's own description, and the live stream (api §13, §18). */
import { noneMatchCovers } from '../etag.ts';
import type { LiveUpdates } from '../live.ts';
import { type Answer, type Call, type Operation, operation } from '../operation.ts';
import { refuse } from '../problem.ts';

/** The API description as text, made once. */
export interface ApiDescription {
  readonly yaml: string;
  readonly json: string;
  /** With its quotes; of the build. */
  readonly etag: string;
}

export interface SystemDeps {
  readonly live: LiveUpdates;
  /** Read when asked: the description describes these operations, too. */
  readonly description: () => ApiDescription;
}

export function systemOperations(deps: SystemDeps): readonly Operation[] {
  return [
    operation({
      id: 'streamLiveUpdates',
      method: 'GET',
      path: '/live-updates',
      tag: 'Live updates',
      summary: 'Follow changes as server-sent events',
      needs: 'session',
      answers: { 200: { description: 'A stream of hints', contentType: 'text/event-stream' } },
      refusals: [[429, 'rate-limited', '']],
      handle: (call) => openStream(deps.live, call),
    }),
    describedAs(deps, 'getOpenApiYaml', '/openapi.yaml', 'application/yaml', 'yaml'),
    describedAs(deps, 'getOpenApiJson', '/openapi.json', 'application/json', 'json'),
  ];
}

async function openStream(live: LiveUpdates, { identity }: Call): Promise<Answer> {
  const sessionId = identity?.session?.id;
  if (!identity || !sessionId) throw new Error('a live stream runs with a session');
  if (!live.hasRoom(sessionId)) return TOO_MANY;
  const { id: userId, permissions } = identity;
  return {
    status: 200,
    headers: {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache',
      'X-Accel-Buffering': 'no',
    },
    stream: (output) => live.open({ sessionId, userId, permissions }, output),
  };
}

const TOO_MANY = refuse({
  status: 429,
  type: 'rate-limited',
  detail: 'Too many live streams are open. Close some pages of Tocsin.',
  retryAfterSeconds: 5,
});

function describedAs(
  { description }: SystemDeps,
  id: string,
  path: string,
  contentType: string,
  format: 'yaml' | 'json',
): Operation {
  return operation({
    id,
    method: 'GET',
    path,
    tag: 'System',
    summary: `Read this API as OpenAPI 3.1 (${format.toUpperCase()})`,
    needs: 'none',
    answers: {
      200: { description: 'The API description', contentType, etag: true },
      304: { description: 'Unchanged since the ETag in If-None-Match' },
    },
    async handle({ header }) {
      const { [format]: content, etag } = description();
      const known = noneMatchCovers(header('if-none-match'), etag);
      return { status: known ? 304 : 200, headers: { ETag: etag }, text: { contentType, content } };
    },
  });
}
