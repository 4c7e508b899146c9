/** The form of a Link rule and what is sent. */
import type { LinkRuleInput, LinkScope } from '../../api/configuration.ts';
import type { Matcher } from '../../api/shapes.ts';
import { filledRows } from '../routes/matcher-rows.ts';

export interface LinkRuleDraft {
  name: string;
  matchers: Matcher[];
  scope: LinkScope['type'];
  /** Kept while the scope has none, so that a change of mind loses nothing. */
  label: string;
  template: string;
}

export const NEW_RULE: LinkRuleInput = {
  name: '',
  matchers: [],
  scope: { type: 'alert_group', label: null },
  url_template: '',
};

export function toDraft({ name, matchers, scope, url_template }: LinkRuleInput): LinkRuleDraft {
  return {
    name,
    matchers: [...matchers],
    scope: scope.type,
    label: scope.label ?? '',
    template: url_template,
  };
}

/** Without the Matcher rows that have nothing in them. */
export const settled = (draft: LinkRuleDraft) => ({ ...draft, matchers: filledRows(draft.matchers) });

/** Matcher rows without anything in them are left out. */
export function fromDraft(draft: LinkRuleDraft): LinkRuleInput {
  const { name, matchers, scope, label, template } = draft;
  return {
    name,
    matchers: filledRows(matchers),
    scope: scope === 'label_value' ? { type: scope, label } : { type: scope, label: null },
    url_template: template,
  };
}
