/** The caller's own sessions (seed 2 §4.2, access §3). */
import * as v from 'valibot';
import type { ListedSession, Sessions } from '../../actors/access/ports.ts';
import { auditEntry } from '../../actors/audit.ts';
import { formatInstant } from '../../runtime/clock.ts';
import { authorOf } from '../author.ts';
import { clearedSessionCookie } from '../cookies.ts';
import { type Call, type Identity, type Operation, operation } from '../operation.ts';
import { itemsOf } from '../shapes.ts';

const SessionInfoShape = v.object({
  id: v.string(),
  method: v.picklist(['local', 'oidc']),
  created_at: v.string(),
  last_used_at: v.string(),
  address: v.nullable(v.string()),
  user_agent: v.nullable(v.string()),
  current: v.boolean(),
});

export function ownSessionOperations(sessions: Sessions): readonly Operation[] {
  return [
    operation({
      id: 'listMySessions',
      method: 'GET',
      path: '/me/sessions',
      tag: 'Profile',
      summary: 'List your own sessions, last used first',
      needs: 'user',
      answers: { 200: { description: 'Live sessions', schema: itemsOf(SessionInfoShape) } },
      async handle(call) {
        const me = callerOf(call);
        const found = await sessions.listOf(me.id, call.now);
        return { status: 200, body: { items: found.map((session) => infoOf(session, me)) } };
      },
    }),
    operation({
      id: 'deleteMySessions',
      method: 'DELETE',
      path: '/me/sessions',
      tag: 'Profile',
      summary: 'Sign out everywhere',
      needs: 'session',
      answers: { 204: { description: 'Every session of yours has ended; the cookie is cleared' } },
      async handle(call) {
        const { id, name } = callerOf(call);
        const entry = { action: 'session.ended_all', resourceId: id, resourceName: name };
        await sessions.endAll(id, 'sign_out_everywhere', call.now, auditEntry(authorOf(call), entry));
        return { status: 204, headers: { 'Set-Cookie': clearedSessionCookie() } };
      },
    }),
  ];
}

function callerOf({ identity }: Pick<Call, 'identity'>): Identity {
  if (!identity) throw new Error('an operation under /me runs with an identity');
  return identity;
}

/** With a token nothing is the current session. */
function infoOf(session: ListedSession, { session: mine }: Identity) {
  return {
    id: session.id,
    method: session.method,
    created_at: formatInstant(session.createdAt),
    last_used_at: formatInstant(session.lastUsedAt),
    address: session.address,
    user_agent: session.userAgent,
    current: session.id === mine?.id,
  };
}
