/** The Audit log: who changed what, when and from where (access §11). */
import * as v from 'valibot';
import { type AuditLogReader, auditLogBody } from '../../actors/access/audit-log.ts';
import { parsePublicId } from '../../runtime/public-id.ts';
import { publicId } from '../fields.ts';
import { type Operation, operation } from '../operation.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../page.ts';
import { instant } from '../query-fields.ts';
import { pageOf } from '../shapes.ts';

export interface AuditLogDeps {
  readonly reader: AuditLogReader;
}

const LIST = 'audit-log';

const EntryShape = v.object({
  id: v.string(),
  at: v.string(),
  actor: v.object({
    kind: v.picklist(['user', 'service_account', 'system', 'bootstrap', 'cli']),
    id: v.nullable(v.string()),
    name: v.string(),
  }),
  token_id: v.nullable(v.string()),
  token_name: v.nullable(v.string()),
  transport: v.picklist(['ui', 'api', 'chat_server', 'channel_bot', 'bridge', 'cli', 'system']),
  action: v.string(),
  resource_type: v.nullable(v.string()),
  resource_id: v.nullable(v.string()),
  resource_name: v.nullable(v.string()),
  address: v.nullable(v.string()),
  diff: v.array(
    v.union([
      v.object({ pointer: v.string(), before: v.optional(v.unknown()), after: v.unknown() }),
      v.object({ pointer: v.string(), secret_changed: v.literal(true) }),
    ]),
  ),
  details: v.record(v.string(), v.unknown()),
});

const ListQuery = v.object({
  ...pageQuery,
  from: instant,
  to: instant,
  actor: v.optional(publicId),
  action: v.optional(v.string()),
  resource_type: v.optional(v.string()),
  resource_id: v.optional(
    v.pipe(
      v.string(),
      // Ids are read as people type them; some resources are named otherwise.
      v.transform((text) => parsePublicId(text) ?? text),
    ),
  ),
});

export function auditLogOperations({ reader }: AuditLogDeps): readonly Operation[] {
  return [
    operation({
      id: 'listAuditLog',
      method: 'GET',
      path: '/audit-log',
      tag: 'Audit log',
      summary: 'List Audit log entries, newest first',
      needs: 'audit-log:read',
      query: ListQuery,
      answers: { 200: { description: 'A page of entries', schema: pageOf(EntryShape) } },
      async handle({ query, now }) {
        const { cursor, limit = DEFAULT_LIMIT, ...filters } = query;
        const after = cursor === undefined ? null : afterOf(cursor, filters);
        if (after === 'invalid') return INVALID_CURSOR;
        const asked = {
          from: filters.from ?? null,
          to: filters.to ?? null,
          actorId: filters.actor ?? null,
          action: filters.action ?? null,
          resourceType: filters.resource_type ?? null,
          resourceId: filters.resource_id ?? null,
          after,
          limit,
        };
        const page = await reader.list(asked, now);
        const next = page.next && encodeCursor(LIST, filters, page.next);
        return { status: 200, body: { items: page.items.map(auditLogBody), next_cursor: next } };
      },
    }),
  ];
}

function afterOf(cursor: string, filters: unknown): readonly [number, string] | 'invalid' {
  const [at, id] = decodeCursor(LIST, filters, cursor) ?? [];
  return typeof at === 'number' && typeof id === 'string' ? [at, id] : 'invalid';
}
