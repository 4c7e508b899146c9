/** Link rules ready to be run: parsed once when the configuration is read, not with every render. */
import { compileMatchers, type LabelTest } from '../route/matcher.ts';
import { parseTemplate, type Template, type TemplateError } from '../templates/index.ts';
import { EXPLORE, EXPLORE_TABLE } from './explore.ts';
import type { LinkRuleScope, StoredLinkRule } from './ports.ts';

export interface LinkRule {
  readonly id: StoredLinkRule['id'];
  readonly version: number;
  readonly name: string;
  readonly scope: LinkRuleScope;
  /** Of the common labels of an Alert Group. */
  readonly takes: LabelTest;
  /** An error only where a stored template is no longer understood. */
  readonly template:
    | { readonly ok: true; readonly template: Template }
    | { readonly ok: false; readonly error: TemplateError };
}

/**
 * The rules that can give a link, in their order. The built-in one as it came gives none without its table, so that an
 * installation that does not use it pays nothing for it.
 */
export function readyRules(
  stored: readonly StoredLinkRule[],
  tables: ReadonlyMap<string, unknown>,
): readonly LinkRule[] {
  const isIdle = ({ builtin, fields }: StoredLinkRule) =>
    builtin && fields.url_template === EXPLORE.url_template && !tables.has(EXPLORE_TABLE);
  return stored.filter((rule) => !isIdle(rule)).map(readyRule);
}

function readyRule({ id, version, fields }: StoredLinkRule): LinkRule {
  return {
    id,
    version,
    name: fields.name,
    scope: fields.scope,
    takes: compileMatchers(fields.matchers),
    template: parseTemplate('link_rule', fields.url_template),
  };
}
