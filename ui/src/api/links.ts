/** Link rules, Lookup tables and previews of templates (api §16). */
import type { PageRequest } from './alert-groups.ts';
import type { Answer, ApiClient } from './client.ts';
import type { FieldError } from './problem.ts';
import type { Instant, Labels, Matcher, Page } from './shapes.ts';

export type LinkScope =
  | { readonly type: 'alert_group'; readonly label: null }
  | { readonly type: 'label_value'; readonly label: string };

export interface LinkRuleInput {
  readonly name: string;
  readonly matchers: readonly Matcher[];
  readonly scope: LinkScope;
  readonly url_template: string;
}

export interface LinkRule extends LinkRuleInput {
  readonly id: string;
  readonly builtin: boolean;
  readonly created_at: Instant;
  readonly etag: string;
}

export interface LookupEntry {
  readonly key: string;
  readonly values: Labels;
}

export interface LookupTableInput {
  readonly name: string;
  readonly description: string;
  readonly columns: readonly string[];
  readonly entries: readonly LookupEntry[];
}

export interface LookupTable extends LookupTableInput {
  readonly id: string;
  readonly created_at: Instant;
  readonly etag: string;
}

export type TemplateKind = 'root_message' | 'line' | 'ack_timeout_notice' | 'link_rule' | 'webhook_request';
export type TemplateFormat = 'markdown' | 'html' | 'commonmark';

export interface TemplatePreviewInput {
  readonly kind: TemplateKind;
  /** Empty: the built-in one, whose source the answer holds. */
  readonly template: string;
  readonly format?: TemplateFormat;
  readonly route_id?: string | null;
  readonly stored_snapshot_id?: string | null;
  readonly alert_group_id?: string | null;
  readonly language?: 'en' | 'ru' | null;
  readonly length_limit?: number | null;
}

export interface TemplatePreview {
  readonly valid: boolean;
  readonly output: string | null;
  readonly truncated: boolean;
  readonly format: TemplateFormat | null;
  readonly source: string | null;
  readonly sample: 'stored_snapshot' | 'alert_group' | 'example' | null;
  readonly errors: readonly FieldError[];
}

export type LinksApi = ReturnType<typeof createLinksApi>;

export function createLinksApi(client: ApiClient) {
  return {
    rules: resource<LinkRule, LinkRuleInput>(client, '/link-rules'),
    tables: resource<LookupTable, LookupTableInput>(client, '/lookup-tables'),
    preview: (body: TemplatePreviewInput): Promise<Answer<TemplatePreview>> =>
      client.post('/template-previews', { body }),
  };
}

function resource<Item, Input>(client: ApiClient, path: string) {
  const of = (id: string) => `${path}/${id}`;
  return {
    list: (page: PageRequest): Promise<Answer<Page<Item>>> => client.get(path, { query: { ...page } }),
    create: (body: Input): Promise<Answer<Item>> => client.post(path, { body }),
    read: (id: string): Promise<Answer<Item>> => client.get(of(id)),
    update: (id: string, body: Input, ifMatch: string): Promise<Answer<Item>> =>
      client.put(of(id), { body, ifMatch }),
    delete: (id: string): Promise<Answer<null>> => client.delete(of(id)),
  };
}
