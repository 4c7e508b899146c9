/** What an Admin writes for a template-mode webhook (webhooks §4.1). */

/** In the order in which they are checked and shown. */
export const REQUEST_ROLES = ['create', 'update', 'open_thread', 'reply_in_thread'] as const;
export type RequestRole = (typeof REQUEST_ROLES)[number];

/** Roles whose answers values can be taken from. */
export const EXTRACTING_ROLES = ['create', 'open_thread'] as const satisfies readonly RequestRole[];

/** A value that is taken from an answer and read later as `.Response.<name>`. */
export interface ExtractionRule {
  readonly name: string;
  /** JSONPath. */
  readonly path: string;
}

export interface RequestTemplate {
  /** As written: method and URL, headers, a blank line, the body. */
  readonly request: string;
  /** Of create and open_thread. */
  readonly extract: readonly ExtractionRule[];
}

export type TemplateConfig = {
  readonly [Role in RequestRole]: Role extends 'create' | 'update' ? RequestTemplate : RequestTemplate | null;
};

/** The same before anybody looked at it. */
export type TemplateDraft = Readonly<Record<RequestRole, RequestTemplate | null>>;

/** Names of values that a role may read: those of rules whose answers have come before. */
export function readableValues(config: TemplateDraft, role: RequestRole): ReadonlySet<string> {
  const before: Readonly<Record<RequestRole, readonly RequestRole[]>> = {
    create: [],
    update: ['create'],
    open_thread: ['create'],
    reply_in_thread: ['create', 'open_thread'],
  };
  const rules = before[role].flatMap((earlier) => config[earlier]?.extract ?? []);
  return new Set(rules.map(({ name }) => name));
}
