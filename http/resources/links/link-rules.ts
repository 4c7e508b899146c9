/** Link rules and their shapes: list, create, read, update, delete (messages §9.2, api §16). */
import * as v from 'valibot';
import {
  type LinkRuleFields,
  type LinkRuleScope,
  type LinkRuleStore,
  MOST_LINK_RULES,
  type StoredLinkRule,
} from '../../../actors/links/ports.ts';
import {
  type CheckedTemplate,
  LINK_RULE_TEMPLATE_LIMIT,
  type LinkTemplateCheck,
} from '../../../actors/previews/template-checks.ts';
import { parseTemplate } from '../../../actors/templates/index.ts';
import { codePoints } from '../../../actors/text.ts';
import { formatInstant } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Answer, authorOf, type Call, type Operation, operation } from '../../operation.ts';
import { conflict, type FieldError, invalid, notFound, preconditionFailed } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { name, nameErrors, templateError } from '../../schema/fields.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../../schema/page.ts';
import { MatcherShape, pageOf } from '../../schema/shapes.ts';
import { LinkScope } from '../../schema/words.ts';
import { matchersErrors } from '../routes/checks.ts';
import { MatchersInput } from '../routes/shapes.ts';

/** A Link rule as it arrives and as it is answered (messages §9.2, api §16). */
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

const LinkRuleInput = d.named(
  'LinkRuleInput',
  v.object({
    name,
    matchers: d.described(
      MatchersInput,
      'All of them must match the labels; at most 50. Without any, the rule always applies.',
    ),
    scope: d.described(
      v.object({
        type: LinkScope,
        label: d.described(
          v.optional(v.nullable(v.pipe(v.string(), v.regex(LABEL_NAME, 'invalid_format')))),
          'The label. Needed with `label_value`.',
        ),
      }),
      'What the link is about.',
    ),
    url_template: d.described(v.string(), 'Template of the address, 1 to 4,096 characters.'),
  }),
  'A Link rule as it is saved.',
);
export type LinkRuleInput = v.InferOutput<typeof LinkRuleInput>;

const LinkRuleShape = d.named(
  'LinkRule',
  v.object({
    id: d.id('KR'),
    name: d.text('Its name, unique. It is the text of the link.'),
    matchers: d.described(v.array(MatcherShape), 'All of them must match the labels.'),
    scope: d.described(
      v.object({
        type: LinkScope,
        label: d.described(v.nullable(v.string()), 'The label, with `label_value`; null otherwise.'),
      }),
      'What the link is about.',
    ),
    url_template: d.text('Template of the address.'),
    builtin: d.flag(
      'Whether it is the built-in rule Explore, whose name and scope stay and which cannot be deleted.',
    ),
    created_at: d.time('When it was created.'),
    etag: d.text('Its version, as in the header `ETag`.'),
  }),
  'A rule that makes links from labels.',
);

function linkRuleBody(rule: StoredLinkRule): v.InferOutput<typeof LinkRuleShape> {
  const { fields } = rule;
  return {
    id: rule.id,
    name: fields.name,
    matchers: [...fields.matchers],
    scope: fields.scope,
    url_template: fields.url_template,
    builtin: rule.builtin,
    created_at: formatInstant(rule.createdAt),
    etag: `"${rule.version}"`,
  };
}

export interface ReadLinkRule {
  /** What would be stored; null when the template cannot be tried: it, the Matchers or the scope are wrong. */
  readonly fields: LinkRuleFields | null;
  /** Everything about the body that is 422, besides what trying the template finds. */
  readonly errors: readonly FieldError[];
}

function linkRuleFields(input: LinkRuleInput): ReadLinkRule {
  const scope = scopeOf(input.scope);
  const ofTrial = [
    ...matchersErrors(input.matchers, false),
    ...('error' in scope ? [scope.error] : []),
    ...templateErrors(input.url_template),
  ];
  const errors = [...nameErrors(input.name), ...ofTrial];
  if (ofTrial.length > 0 || 'error' in scope) return { fields: null, errors };
  const { matchers, url_template } = input;
  return { fields: { name: input.name.trim(), matchers, scope: scope.scope, url_template }, errors };
}

const LABEL = '/scope/label';

function scopeOf({
  type,
  label = null,
}: LinkRuleInput['scope']): { readonly scope: LinkRuleScope } | { readonly error: FieldError } {
  if (type === 'label_value') {
    const detail = 'Name the label whose values get a link each.';
    return label === null
      ? { error: { pointer: LABEL, code: 'required', detail } }
      : { scope: { type, label } };
  }
  const detail = 'A rule for the whole Alert Group has no label.';
  return label === null
    ? { scope: { type, label } }
    : { error: { pointer: LABEL, code: 'invalid_format', detail } };
}

function templateErrors(template: string): readonly FieldError[] {
  const pointer = '/url_template';
  if (template === '') return [{ pointer, code: 'required', detail: 'Write a template that gives a URL.' }];
  if (codePoints(template) <= LINK_RULE_TEMPLATE_LIMIT) {
    const parsed = parseTemplate('link_rule', template);
    return parsed.ok ? [] : [templateError(pointer, parsed.error)];
  }
  const detail = `A template of a Link rule has at most ${LINK_RULE_TEMPLATE_LIMIT} characters.`;
  return [{ pointer, code: 'too_long', detail }];
}

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
      description: 'The built-in rule Explore is one of them.',
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
      description: 'At most 200. The template is tried before it is stored.',
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
      description: 'The built-in rule Explore can be read, too.',
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
      description: 'Name and scope of the built-in rule stay.',
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
      description: 'Links that it made disappear from Alert Groups.',
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
  const judged = await judge(checkTemplate, call);
  if ('refuse' in judged) return judged.refuse;
  const { fields, checked } = judged;
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
  const judged = await judge(checkTemplate, call);
  if ('refuse' in judged) return judged.refuse;
  const { fields, checked } = judged;
  if (current.builtin && !isStillItself(current.fields, fields)) return BUILTIN_IMMUTABLE;
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

type Judged =
  | { readonly refuse: Answer }
  | { readonly fields: LinkRuleFields; readonly checked: Extract<CheckedTemplate, { ok: true }> };

/** Everything that is 422 about a body, what trying its template finds included. */
async function judge(
  checkTemplate: LinkRuleOperationsDeps['checkTemplate'],
  call: Call<unknown, LinkRuleInput>,
): Promise<Judged> {
  const { fields, errors } = linkRuleFields(call.body);
  if (fields === null) return { refuse: invalid(errors) };
  const checked = await checkTemplate(fields, call);
  if (!checked.ok) return { refuse: invalid([...errors, templateError('/url_template', checked.error)]) };
  return errors.length > 0 ? { refuse: invalid(errors) } : { fields, checked };
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

function noTable({ placeOf }: Extract<CheckedTemplate, { ok: true }>, table: string): Answer {
  const message = 'The template reads a Lookup table that does not exist.';
  return invalid([templateError('/url_template', { code: 'template_syntax', message, ...placeOf(table) })]);
}
