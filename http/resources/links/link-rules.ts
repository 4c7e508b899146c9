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
import { type Answer, authorOf, type Call, type Operation } from '../../operation.ts';
import { conflict, type FieldError, invalid } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { name, nameErrors, templateError } from '../../schema/fields.ts';
import { MatcherShape } from '../../schema/shapes.ts';
import { LinkScope } from '../../schema/words.ts';
import {
  byAge,
  configurationOperations,
  NAME_REFUSAL,
  PLACE_BY_AGE,
  type PlaceByAge,
  PlainQuery,
  type Saving,
} from '../configuration.ts';
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
      'All must match the labels; at most 50. Without any, it always applies.',
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
    matchers: d.described(v.array(MatcherShape), 'All must match the labels.'),
    scope: d.described(
      v.object({
        type: LinkScope,
        label: d.textOrNull('The label, with `label_value`; null otherwise.'),
      }),
      'What the link is about.',
    ),
    url_template: d.text('Template of the address.'),
    builtin: d.flag('Whether it is Explore, whose name and scope stay and which cannot be deleted.'),
    created_at: d.CREATED_AT,
    etag: d.VERSION,
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

const BUILTIN_REFUSAL = [409, 'conflict', 'builtin_immutable'] as const;

export function linkRuleOperations(deps: LinkRuleOperationsDeps): readonly Operation[] {
  const { store, links } = deps;
  return configurationOperations({
    names: ['LinkRule', 'LinkRules'],
    tag: 'Link rules',
    path: '/link-rules',
    id: ['link_rule_id', 'KR'],
    noun: 'Link rule',
    words: {
      create: ['Create a Link rule', 'At most 200. The template is tried before it is stored.'],
      get: ['Read a Link rule', 'The built-in rule Explore can be read, too.'],
      update: [
        'Update a Link rule; the built-in one keeps its name and scope',
        'Name and scope of the built-in rule stay.',
      ],
      delete: [
        'Delete a Link rule; the built-in one stays',
        'Links that it made disappear from Alert Groups.',
      ],
    },
    shape: LinkRuleShape,
    input: LinkRuleInput,
    refusals: { create: [NAME_REFUSAL], update: [BUILTIN_REFUSAL, NAME_REFUSAL], delete: [BUILTIN_REFUSAL] },
    list: {
      words: ['List Link rules, oldest first', 'The built-in rule Explore is one of them.'],
      answer: 'Link rules',
      query: PlainQuery,
      place: PLACE_BY_AGE,
      filters: () => ({}),
      page: async (_call, after, limit) => byAge(await store.page(after as PlaceByAge | null, limit)),
    },
    body: linkRuleBody,
    read: (id) => store.read(id),
    create: (call) => create(deps, call),
    update: (call, id) => update(deps, call, id),
    async remove(call, id, isCurrent) {
      const removal = await store.remove(id, isCurrent, authorOf(call));
      if (removal === 'builtin') return { refuse: BUILTIN_IMMUTABLE };
      if (removal === 'removed') await links.reload();
      return removal;
    },
  });
}

async function create(
  { store, checkTemplate, links }: LinkRuleOperationsDeps,
  call: Call<unknown, LinkRuleInput>,
): Promise<Saving<StoredLinkRule>> {
  const judged = await judge(checkTemplate, call);
  if ('refuse' in judged) return judged;
  const { fields, checked } = judged;
  const saving = await store.create(fields, checked.reads, authorOf(call));
  switch (saving.outcome) {
    case 'name_taken':
      return saving.outcome;
    case 'too_many':
      return { refuse: TOO_MANY };
    case 'no_table':
      return { refuse: noTable(checked, saving.table) };
    case 'saved':
      await links.reload();
      return { saved: saving.rule };
  }
}

/** Trying the template takes a while, so that the version is judged before it and again when it is saved. */
async function update(
  { store, checkTemplate, links }: LinkRuleOperationsDeps,
  call: Call<unknown, LinkRuleInput>,
  id: PublicId,
): Promise<Saving<StoredLinkRule>> {
  const isCurrent = (version: number) => call.ifMatch?.matches(version) ?? false;
  const current = await store.read(id);
  if (!current) return 'unknown';
  if (!isCurrent(current.version)) return 'stale';
  const judged = await judge(checkTemplate, call);
  if ('refuse' in judged) return judged;
  const { fields, checked } = judged;
  if (current.builtin && !isStillItself(current.fields, fields)) return { refuse: BUILTIN_IMMUTABLE };
  const saving = await store.update(id, isCurrent, fields, checked.reads, authorOf(call));
  switch (saving.outcome) {
    case 'unknown':
    case 'stale':
    case 'name_taken':
      return saving.outcome;
    case 'too_many':
      return { refuse: TOO_MANY };
    case 'no_table':
      return { refuse: noTable(checked, saving.table) };
    case 'saved':
      await links.reload();
      return { saved: saving.rule };
    case 'unchanged':
      return { saved: saving.rule };
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

const BUILTIN_IMMUTABLE = conflict(
  'builtin_immutable',
  'This Link rule is built in: only its Matchers and its template can be changed.',
);

const TOO_MANY = invalid([
  { pointer: '', code: 'too_long', detail: `There can be at most ${MOST_LINK_RULES} Link rules.` },
]);

function noTable({ placeOf }: Extract<CheckedTemplate, { ok: true }>, table: string): Answer {
  const message = 'The template reads a Lookup table that does not exist.';
  return invalid([templateError('/url_template', { code: 'template_syntax', message, ...placeOf(table) })]);
}
