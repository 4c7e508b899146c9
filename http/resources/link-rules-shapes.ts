/** A Link rule as it arrives and as it is answered (messages §9.2, api §16). */
import * as v from 'valibot';
import { LINK_RULE_TEMPLATE_LIMIT } from '../../actors/links/check-template.ts';
import type { LinkRuleFields, LinkRuleScope, StoredLinkRule } from '../../actors/links/ports.ts';
import { codePoints } from '../../actors/text.ts';
import { formatInstant } from '../../runtime/clock.ts';
import { name, nameErrors } from '../fields.ts';
import type { FieldError } from '../problem.ts';
import { MatcherShape } from '../shapes.ts';
import { matchersErrors } from './routes-checks.ts';
import { MatchersInput } from './routes-shapes.ts';

const SCOPE_TYPES = ['alert_group', 'label_value'] as const;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

export const LinkRuleInput = v.object({
  name,
  matchers: MatchersInput,
  scope: v.object({
    type: v.picklist(SCOPE_TYPES),
    label: v.optional(v.nullable(v.pipe(v.string(), v.regex(LABEL_NAME, 'invalid_format')))),
  }),
  url_template: v.string(),
});
export type LinkRuleInput = v.InferOutput<typeof LinkRuleInput>;

export const LinkRuleShape = v.object({
  id: v.string(),
  name: v.string(),
  matchers: v.array(MatcherShape),
  scope: v.object({ type: v.picklist(SCOPE_TYPES), label: v.nullable(v.string()) }),
  url_template: v.string(),
  builtin: v.boolean(),
  created_at: v.string(),
  etag: v.string(),
});

export function linkRuleBody(rule: StoredLinkRule): v.InferOutput<typeof LinkRuleShape> {
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

/** What is stored, or everything about the body that is 422, the template aside. */
export function linkRuleFields(
  input: LinkRuleInput,
): { readonly fields: LinkRuleFields } | { readonly errors: readonly FieldError[] } {
  const scope = scopeOf(input.scope);
  const errors = [
    ...nameErrors(input.name),
    ...matchersErrors(input.matchers, false),
    ...('error' in scope ? [scope.error] : []),
    ...templateLengthErrors(input.url_template),
  ];
  if (errors.length > 0 || 'error' in scope) return { errors };
  const { matchers, url_template } = input;
  return { fields: { name: input.name.trim(), matchers, scope: scope.scope, url_template } };
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

function templateLengthErrors(template: string): readonly FieldError[] {
  const pointer = '/url_template';
  if (template === '') return [{ pointer, code: 'required', detail: 'Write a template that gives a URL.' }];
  if (codePoints(template) <= LINK_RULE_TEMPLATE_LIMIT) return [];
  const detail = `A template of a Link rule has at most ${LINK_RULE_TEMPLATE_LIMIT} characters.`;
  return [{ pointer, code: 'too_long', detail }];
}
