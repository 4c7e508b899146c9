/** Whether a template-mode configuration may be saved, and what it should rather not hold (webhooks §1.2, §4). */
import * as v from 'valibot';
import {
  type ConfigError,
  callableUrl,
  DRY_RUN_AT,
  EXTRACTING_ROLES,
  type ExtractionRule,
  REQUEST_ROLES,
  type RequestRole,
  type RequestTemplate,
  readableValues,
  type TemplateConfig,
  type TemplateDraft,
  urlHoldsLiteral,
} from '../../destination/webhook-config.ts';
import { parsePath } from '../../json-path/parse.ts';
import { described, named } from '../../schemas.ts';
import { webhookData } from '../../templates/data.ts';
import { plainFormat, type RenderContext, SECRET_NAME } from '../../templates/index.ts';
import type { ChannelType } from '../channel.ts';
import { EXAMPLE_GROUP, exampleTelling, exampleValue, mentionText, standIns } from './request-data.ts';
import { parseRequest, type RequestTemplates, renderRequest } from './request-template.ts';
import type { RequestTextError } from './request-text.ts';

export interface TemplateWarning {
  readonly kind: 'literal_credential';
  readonly field: string;
  readonly line: number;
}

const MOST_RULES = 10;
const NAME_CHARACTERS = 64;
const PATH_BYTES = 4096;

export type CheckedConfiguration =
  | { readonly ok: true; readonly config: TemplateConfig }
  | { readonly ok: false; readonly errors: readonly ConfigError[] };

/** Everything that is wrong, at most one item a field: what is missing, then extraction rules, then the requests. */
export function checkConfiguration(draft: TemplateDraft): CheckedConfiguration {
  const { create, update, open_thread, reply_in_thread } = draft;
  const errors = [...shapeErrors(draft), ...ruleErrors(draft), ...requestErrors(draft)];
  if (errors.length > 0 || !create || !update) return { ok: false, errors };
  return { ok: true, config: { create, update, open_thread, reply_in_thread } };
}

/** Credentials that are written out. Never blocks a save. */
export function templateWarnings(config: TemplateConfig): readonly TemplateWarning[] {
  return REQUEST_ROLES.flatMap((role) => {
    const parsed = parseRequest(config[role]?.request ?? '', null);
    if (!parsed.ok) return [];
    const { url, headers } = parsed.request;
    const literal = headers.filter(
      ({ name, value }) =>
        name.toLowerCase() === 'authorization' && value.template.source !== '' && !value.readsSecret,
    );
    const lines = [
      ...(urlHoldsLiteral(url.template) ? [url.line] : []),
      ...literal.map(({ value }) => value.line),
    ];
    const field = `/template/${role}/request`;
    return lines.map((line) => ({ kind: 'literal_credential', field, line }) as const);
  });
}

function shapeErrors(draft: TemplateDraft): ConfigError[] {
  const missing = (['create', 'update'] as const).filter((role) => draft[role] === null);
  const extracting: readonly RequestRole[] = EXTRACTING_ROLES;
  const misplaced = REQUEST_ROLES.filter(
    (role) => !extracting.includes(role) && draft[role] && draft[role].extract.length > 0,
  );
  return [
    ...missing.map((role) => problem(`/template/${role}`, 'required', `Give the request for ${role}.`)),
    ...misplaced.map((role) =>
      problem(
        `/template/${role}/extract`,
        'invalid_format',
        'Values are taken from the answers of create and open_thread only.',
      ),
    ),
  ];
}

function ruleErrors(draft: TemplateDraft): ConfigError[] {
  const seen = new Set<string>();
  return EXTRACTING_ROLES.flatMap((role) => {
    const rules = draft[role]?.extract ?? [];
    const pointer = `/template/${role}/extract`;
    const many = rules.length > MOST_RULES;
    return [
      ...(many
        ? [problem(pointer, 'too_long', `At most ${MOST_RULES} values are taken from an answer.`)]
        : []),
      ...rules.flatMap((rule, index) => ruleProblems(rule, `${pointer}/${index}`, seen)),
    ];
  });
}

/** @param seen names of the rules before it; its own is put there */
function ruleProblems({ name, path }: ExtractionRule, pointer: string, seen: Set<string>): ConfigError[] {
  const errors: ConfigError[] = [];
  if (!SECRET_NAME.test(name) || name.length > NAME_CHARACTERS) {
    const detail = `A name is a letter or underscore, then letters, digits and underscores; at most ${NAME_CHARACTERS}.`;
    errors.push(problem(`${pointer}/name`, 'invalid_format', detail));
  } else if (seen.has(name)) {
    errors.push(problem(`${pointer}/name`, 'duplicate', 'Another value has this name.'));
  }
  seen.add(name);
  const error = pathError(path);
  return error ? [...errors, problem(`${pointer}/path`, ...error)] : errors;
}

function pathError(path: string): readonly [ConfigError['code'], string] | null {
  if (path === '') return ['required', 'Give the JSONPath of the value, such as $.data.id.'];
  if (Buffer.byteLength(path) > PATH_BYTES) return ['too_long', `At most ${PATH_BYTES} bytes are possible.`];
  const parsed = parsePath(path);
  return parsed.ok ? null : ['invalid_format', parsed.message];
}

function requestErrors(draft: TemplateDraft): ConfigError[] {
  return REQUEST_ROLES.flatMap((role) => {
    const error = draft[role] && requestError(draft[role], role, readableValues(draft, role));
    if (!error) return [];
    const { message: detail, ...rest } = error;
    return [{ pointer: `/template/${role}/request`, detail, ...rest }];
  });
}

function requestError(
  { request: text }: RequestTemplate,
  role: RequestRole,
  readable: ReadonlySet<string>,
): RequestTextError | null {
  const parsed = parseRequest(text, readable);
  return parsed.ok ? dryRunError(parsed.request, role) : parsed.error;
}

/** Renders with examples of everything, whether or not there are such Secrets. */
function dryRunError(request: RequestTemplates, role: RequestRole): RequestTextError | null {
  const telling = { ...exampleTelling(role), ...standIns(request, exampleValue, exampleValue) };
  const context = { ...DRY_RUN, effort: { steps: 0 } };
  const result = renderRequest(request, webhookData(EXAMPLE_GROUP, telling, 'UTC'), context);
  if (!result.ok) return result.error;
  const broken = result.rendered.headers.findIndex(([, value]) => /[\r\n\0]/.test(value));
  const header = request.headers[broken];
  if (header) return placed(header.value, 'A header value has no line breaks.');
  if (callableUrl(result.rendered.url)) return null;
  return placed(request.url, 'This must become an absolute http or https URL.');
}

const DRY_RUN: RenderContext = {
  format: plainFormat,
  now: DRY_RUN_AT,
  zone: 'UTC',
  lookup: () => '',
  mention: mentionText,
};

function placed(
  { line, column }: { readonly line: number; readonly column: number },
  message: string,
): RequestTextError {
  return { code: 'invalid_format', message, line, column };
}

function problem(pointer: string, code: ConfigError['code'], detail: string): ConfigError {
  return { pointer, code, detail };
}

/** `extract` of a request. */
export const ExtractionRulesShape = named(
  'ExtractionRules',
  v.array(
    v.object({
      name: described(v.string(), 'Name of the value.'),
      path: described(v.string(), 'Where it is in the JSON of the answer.'),
    }),
  ),
  'Values of answers that later requests may use.',
);

const request = described(v.string(), 'The template: a request line, headers, an empty line and a body.');

const RequestInput = named(
  'WebhookRequestInput',
  v.object({
    request,
    extract: described(
      v.optional(v.nullable(ExtractionRulesShape)),
      'Values to take from the answer. With `create` and `open_thread` only.',
    ),
  }),
  'A request as a template.',
);
const TemplateInput = named(
  'WebhookTemplateInput',
  v.object({
    create: described(
      v.optional(v.nullable(RequestInput)),
      'Sent when an Alert Group is first delivered. Needed.',
    ),
    update: described(v.optional(v.nullable(RequestInput)), 'Sent when the Alert Group changed. Needed.'),
    open_thread: described(
      v.optional(v.nullable(RequestInput)),
      'Sent before the first reply; null for none.',
    ),
    reply_in_thread: described(
      v.optional(v.nullable(RequestInput)),
      'Sent for what must ring after the first message; null for none.',
    ),
  }),
  'Requests of template mode, as they are saved. One that is left out stays, null clears it where it may be absent.',
);

export const WEBHOOK_TEMPLATE = {
  destination: { type: 'webhook', mode: 'template' },
  settings: { destination: TemplateInput, connection: null, messenger: null },
  unknownOutcome: 'cannot_be_known',
  mentions: { everyone: true, groups: true },
  renderEvent: null,
  callback: null,
} as const satisfies ChannelType;
