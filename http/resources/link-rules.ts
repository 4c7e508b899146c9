/** Link rules: list, create, read, update, delete (seed 2 §2.11, messages §9.2, api §16). */
import * as v from 'valibot';
import type { CheckedTemplate, LinkTemplateCheck } from '../../actors/links/check-template.ts';
import {
  type LinkRuleFields,
  type LinkRuleStore,
  MOST_LINK_RULES,
  type StoredLinkRule,
} from '../../actors/links/ports.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { authorOf } from '../author.ts';
import { templateError } from '../fields.ts';
import { type Answer, type Call, type Operation, operation } from '../operation.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../page.ts';
import { conflict, invalid, notFound, preconditionFailed } from '../problem.ts';
import { pageOf } from '../shapes.ts';
import { LinkRuleInput, LinkRuleShape, linkRuleBody, linkRuleFields } from './link-rules-shapes.ts';

export interface LinkRuleOperationsDeps {
  readonly store: LinkRuleStore;
  /** Parses a template and tries it on what was received lately. */
  readonly checkTemplate: LinkTemplateCheck;
  /** Reads what links are made of again, here and wherever else it is kept. */
  readonly links: { reload(): Promise<void> };
}

const TAG = 'Link rules';
const LIST = 'link-rules';
const RULE_ID = { link_rule_id: 'KR' } as const;
const OF_RULE = { description: 'The Link rule', schema: LinkRuleShape, etag: true } as const;
const NAME_REFUSAL = [409, 'conflict', 'name_taken'] as const;
const BUILTIN_REFUSAL = [409, 'conflict', 'builtin_immutable'] as const;

const ListQuery = v.object(pageQuery);

export function linkRuleOperations(deps: LinkRuleOperationsDeps): readonly Operation[] {
  const { store, links } = deps;
  return [
    operation({
      id: 'listLinkRules',
      method: 'GET',
      path: '/link-rules',
      tag: TAG,
      summary: 'List Link rules, oldest first',
      needs: 'link-rules:read',
      query: ListQuery,
      answers: { 200: { description: 'Link rules', schema: pageOf(LinkRuleShape) } },
      handle: (call) => list(store, call),
    }),

    operation({
      id: 'createLinkRule',
      method: 'POST',
      path: '/link-rules',
      tag: TAG,
      summary: 'Create a Link rule',
      needs: 'link-rules:write',
      body: LinkRuleInput,
      answers: { 201: OF_RULE },
      refusals: [NAME_REFUSAL],
      handle: (call) => create(deps, call),
    }),

    operation({
      id: 'getLinkRule',
      method: 'GET',
      path: '/link-rules/{link_rule_id}',
      tag: TAG,
      summary: 'Read a Link rule',
      needs: 'link-rules:read',
      ids: RULE_ID,
      answers: { 200: OF_RULE },
      async handle(call) {
        const rule = await store.read(ruleId(call));
        return rule ? ruleAnswer(200, rule) : notFound();
      },
    }),

    operation({
      id: 'updateLinkRule',
      method: 'PUT',
      path: '/link-rules/{link_rule_id}',
      tag: TAG,
      summary: 'Update a Link rule; the built-in one keeps its name and scope',
      needs: 'link-rules:write',
      ids: RULE_ID,
      ifMatch: 'required',
      body: LinkRuleInput,
      answers: { 200: OF_RULE },
      refusals: [BUILTIN_REFUSAL, NAME_REFUSAL],
      handle: (call) => update(deps, call),
    }),

    operation({
      id: 'deleteLinkRule',
      method: 'DELETE',
      path: '/link-rules/{link_rule_id}',
      tag: TAG,
      summary: 'Delete a Link rule; the built-in one stays',
      needs: 'link-rules:write',
      ids: RULE_ID,
      ifMatch: 'optional',
      answers: { 204: { description: 'Deleted' } },
      refusals: [BUILTIN_REFUSAL],
      async handle(call) {
        const { ifMatch } = call;
        const isCurrent = ifMatch && ((version: number) => ifMatch.matches(version));
        const removal = await store.remove(ruleId(call), isCurrent, authorOf(call));
        switch (removal) {
          case 'unknown':
            return notFound();
          case 'stale':
            return preconditionFailed();
          case 'builtin':
            return BUILTIN_IMMUTABLE;
          case 'removed':
            await links.reload();
            return { status: 204 };
        }
      },
    }),
  ];
}

async function create(
  { store, checkTemplate, links }: LinkRuleOperationsDeps,
  call: Call<unknown, LinkRuleInput>,
): Promise<Answer> {
  const read = linkRuleFields(call.body);
  if ('errors' in read) return invalid(read.errors);
  const { fields } = read;
  const obstacle = await store.obstacleTo(fields.name, null);
  if (obstacle) return OBSTACLES[obstacle];
  const checked = await checkTemplate(fields, call);
  if (!checked.ok) return templateRefusal(checked);
  const saving = await store.create(fields, checked.reads, authorOf(call));
  switch (saving.outcome) {
    case 'name_taken':
    case 'too_many':
      return OBSTACLES[saving.outcome];
    case 'no_table':
      return noTable(checked, saving.table);
    case 'saved':
      await links.reload();
      return { ...ruleAnswer(201, saving.rule), location: `/api/v1/link-rules/${saving.rule.id}` };
  }
}

/** Trying the template takes a while, so that the version is judged before it and again when it is saved. */
async function update(
  { store, checkTemplate, links }: LinkRuleOperationsDeps,
  call: Call<unknown, LinkRuleInput>,
): Promise<Answer> {
  const id = ruleId(call);
  const isCurrent = (version: number) => call.ifMatch?.matches(version) ?? false;
  const current = await store.read(id);
  if (!current) return notFound();
  if (!isCurrent(current.version)) return preconditionFailed();
  const read = linkRuleFields(call.body);
  if ('errors' in read) return invalid(read.errors);
  const { fields } = read;
  if (current.builtin && !isStillItself(current.fields, fields)) return BUILTIN_IMMUTABLE;
  const obstacle = await store.obstacleTo(fields.name, id);
  if (obstacle) return OBSTACLES[obstacle];
  const checked = await checkTemplate(fields, call);
  if (!checked.ok) return templateRefusal(checked);
  const saving = await store.update(id, isCurrent, fields, checked.reads, authorOf(call));
  switch (saving.outcome) {
    case 'unknown':
      return notFound();
    case 'stale':
      return preconditionFailed();
    case 'name_taken':
    case 'too_many':
      return OBSTACLES[saving.outcome];
    case 'no_table':
      return noTable(checked, saving.table);
    case 'saved':
      await links.reload();
      return ruleAnswer(200, saving.rule);
    case 'unchanged':
      return ruleAnswer(200, saving.rule);
  }
}

function isStillItself(current: LinkRuleFields, fields: LinkRuleFields): boolean {
  return (
    current.name === fields.name &&
    current.scope.type === fields.scope.type &&
    current.scope.label === fields.scope.label
  );
}

function ruleId(call: Pick<Call, 'params'>): PublicId {
  return call.params.link_rule_id as PublicId;
}

function ruleAnswer(status: number, rule: StoredLinkRule) {
  return { status, body: linkRuleBody(rule), etag: rule.version };
}

async function list(store: LinkRuleStore, { query }: Call<v.InferOutput<typeof ListQuery>>): Promise<Answer> {
  const { cursor, limit = DEFAULT_LIMIT } = query;
  const after = cursor === undefined ? null : readCursor(cursor);
  if (after === 'invalid') return INVALID_CURSOR;
  const { items, more } = await store.page(after, limit);
  const last = more ? items.at(-1) : undefined;
  return {
    status: 200,
    body: {
      items: items.map(linkRuleBody),
      next_cursor: last ? encodeCursor(LIST, {}, [last.createdAt, last.id]) : null,
    },
  };
}

function readCursor(cursor: string): readonly [number, string] | 'invalid' {
  const [createdAt, id] = decodeCursor(LIST, {}, cursor) ?? [];
  return typeof createdAt === 'number' && typeof id === 'string' ? [createdAt, id] : 'invalid';
}

const BUILTIN_IMMUTABLE = conflict(
  'builtin_immutable',
  'This Link rule is built in: only its Matchers and its template can be changed.',
);

const OBSTACLES = {
  name_taken: conflict('name_taken', 'Another Link rule has this name. Choose a different one.'),
  too_many: invalid([
    { pointer: '', code: 'too_long', detail: `There can be at most ${MOST_LINK_RULES} Link rules.` },
  ]),
} as const;

function templateRefusal({ error }: Extract<CheckedTemplate, { ok: false }>): Answer {
  return invalid([templateError('/url_template', error)]);
}

function noTable({ placeOf }: Extract<CheckedTemplate, { ok: true }>, table: string): Answer {
  const message = 'The template reads a Lookup table that does not exist.';
  return invalid([templateError('/url_template', { code: 'template_syntax', message, ...placeOf(table) })]);
}
