/** The Audit log: who changed what, when and from where (access §11). */
import * as v from 'valibot';
import { type AuditLogReader, auditLogBody } from '../../../actors/audit.ts';
import { parsePublicId } from '../../../runtime/public-id.ts';
import { type Operation, operation } from '../../operation.ts';
import * as d from '../../schema/described.ts';
import { instant, publicId } from '../../schema/fields.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../../schema/page.ts';
import { pageOf } from '../../schema/shapes.ts';
import { Transport } from '../../schema/words.ts';

export interface AuditLogDeps {
  readonly reader: AuditLogReader;
}

const LIST = 'audit-log';

const EntryShape = d.named(
  'AuditEntry',
  v.object({
    id: d.id('AE'),
    at: d.time('When it was done.'),
    actor: d.described(
      v.object({
        kind: d.described(
          v.picklist(['user', 'service_account', 'system', 'bootstrap', 'cli']),
          '`user`: a person; `service_account`: a program; `system`: the service; `bootstrap`: the first start; `cli`: a command of the operator.',
        ),
        id: v.nullable(d.anyId('Id of the person or Service account; null for others.')),
        name: d.text('Name now; `deleted-user-<id>` once deleted.'),
      }),
      'Who did it.',
    ),
    token_id: v.nullable(d.anyId('The API token that was used; null without one.')),
    token_name: d.textOrNull('Name of the API token; null without one.'),
    transport: Transport,
    action: d.text('What was done, as `<area>.<verb>`.'),
    resource_type: d.textOrNull('Type of what it was done to; null without one.'),
    resource_id: d.textOrNull('Id of what it was done to; null without one.'),
    resource_name: d.textOrNull('Name of what it was done to, at that time; null without one.'),
    address: d.textOrNull('Address it was done from; null when unknown.'),
    diff: d.described(
      v.array(
        v.union([
          v.object({
            pointer: d.text('Which field, as a JSON pointer into the resource.'),
            before: d.described(v.optional(v.unknown()), 'Value before. Absent for what was created.'),
            after: d.described(v.unknown(), 'Value after.'),
          }),
          v.object({
            pointer: d.text('Which field, as a JSON pointer into the resource.'),
            secret_changed: d.described(v.literal(true), 'A secret changed; its values are not kept.'),
          }),
        ]),
      ),
      'What changed. Names, logins and emails of deleted users read `[erased]`.',
    ),
    details: d.described(v.record(v.string(), v.unknown()), 'More facts, by name.'),
  }),
  'Something that was done.',
);

const ListQuery = v.object({
  ...pageQuery,
  from: d.described(instant, 'Only entries at or after this time.'),
  to: d.described(instant, 'Only entries before this time.'),
  actor: d.described(v.optional(publicId), 'Id of a user or Service account, exactly.'),
  action: d.optionalText('Action, exactly.'),
  resource_type: d.optionalText('Type of the resource, exactly.'),
  resource_id: d.described(
    v.optional(
      v.pipe(
        v.string(),
        // Ids are read as people type them; some resources are named otherwise.
        v.transform((text) => parsePublicId(text) ?? text),
      ),
    ),
    'Id of the resource, exactly.',
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
      description: 'Filters compare exactly; what nothing fits is an empty list.',
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
