/** The API reference as Markdown, from the description that the service answers itself: a page a tag, and one of the shapes. */
import * as v from 'valibot';
import { openApiDocument } from '../../http/openapi/openapi.ts';
import { readVersion } from '../../runtime/version.ts';
import { everyOperation } from '../../test/every-operation.ts';
import { slugOf } from './markdown.ts';
import { addressOf, MADE } from './navigation.ts';

const Loose = v.record(v.string(), v.unknown());
type Schema = v.InferOutput<typeof Loose>;
const Content = v.optional(v.record(v.string(), v.object({ schema: Loose })), {});
const Parameter = v.object({
  name: v.string(),
  in: v.string(),
  required: v.optional(v.boolean(), false),
  description: v.optional(v.string(), ''),
  schema: v.optional(Loose, {}),
});
const Problem = v.object({ type: v.string(), codes: v.optional(v.array(v.string()), []) });
const Response = v.object({
  description: v.string(),
  content: Content,
  'x-problems': v.optional(v.array(Problem), []),
});
const Ref = v.object({ $ref: v.string() });
const Operation = v.object({
  operationId: v.string(),
  tags: v.array(v.string()),
  summary: v.string(),
  description: v.optional(v.string(), ''),
  'x-permission': v.optional(v.string(), 'none'),
  parameters: v.optional(v.array(v.union([Ref, Parameter])), []),
  requestBody: v.optional(v.object({ content: Content })),
  responses: v.record(v.string(), v.union([Ref, Response])),
});
const Description = v.object({
  info: v.object({ description: v.string() }),
  tags: v.array(v.object({ name: v.string(), description: v.string() })),
  paths: v.record(v.string(), v.record(v.string(), Operation)),
  webhooks: v.record(v.string(), v.record(v.string(), Operation)),
  components: v.object({
    parameters: v.record(v.string(), Parameter),
    responses: v.record(v.string(), Response),
    schemas: v.record(v.string(), Loose),
  }),
});
type Description = v.InferOutput<typeof Description>;
type Operation = v.InferOutput<typeof Operation>;

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

const described = (): Description =>
  v.parse(Description, openApiDocument(everyOperation(), readVersion({}).version));

/** Every operation of the description, and the requests that Tocsin sends. */
export function entriesOf({ paths, webhooks }: Description): readonly Entry[] {
  return [...Object.entries(paths), ...Object.entries(webhooks)].flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

const fileOfTag = (tag: string) => `docs/api-reference/${slugOf(tag)}.md`;

/** Markdown by the file that it stands for. */
export function apiPages(): ReadonlyMap<string, string> {
  const description = described();
  const entries = entriesOf(description);
  const pages = new Map([[MADE.api as string, overview(description, entries)]]);
  for (const { name, description: about } of description.tags) {
    const own = entries.filter(({ operation }) => operation.tags.includes(name));
    const parts = own.map((entry) => operationPart(description, entry));
    pages.set(fileOfTag(name), `# ${name}: operations\n\n${about}\n\n${parts.join('\n')}`);
  }
  const shapes = Object.entries(description.components.schemas).map(
    ([name, schema]) => `## ${name}\n\n${shapeOf(schema)}`,
  );
  pages.set(MADE.shapes, `# API shapes\n\nEvery named shape of the API, by name.\n\n${shapes.join('\n')}`);
  return pages;
}

const called = ({ method, path }: Entry) => (path.startsWith('/') ? `${method} ${path}` : path);

function overview({ info, tags }: Description, entries: readonly Entry[]): string {
  const parts = tags.map(({ name, description }) => {
    const own = entries.filter(({ operation }) => operation.tags.includes(name));
    const rows = own.map(({ operation, ...rest }) => {
      const at = `${addressOf(fileOfTag(name))}#${slugOf(operation.summary)}`;
      return `| [${operation.summary}](${at}) | \`${called({ operation, ...rest })}\` | \`${operation['x-permission']}\` |`;
    });
    return `## ${name}\n\n${description}\n\n| | | Permission |\n|---|---|---|\n${rows.join('\n')}\n`;
  });
  return [
    '# API reference\n',
    `${info.description}\n`,
    `The same description is served at \`/api/v1/openapi.json\` and \`/api/v1/openapi.yaml\`. [HTTP API](${addressOf('docs/api.md')}) explains`,
    'the conventions by examples.\n',
    ...parts,
  ].join('\n');
}

function operationPart(description: Description, entry: Entry): string {
  const { operation } = entry;
  const { components } = description;
  const parameters = operation.parameters.map((parameter) =>
    '$ref' in parameter ? found(components.parameters, parameter.$ref) : parameter,
  );
  const rows = parameters.map(
    (parameter) =>
      `| \`${parameter.name}\`${parameter.required ? ' **required**' : ''} | ${parameter.in} | ${typeOf(parameter.schema)} | ${cell(parameter.description)} |`,
  );
  const body = jsonOf(operation.requestBody?.content);
  const answers = Object.entries(operation.responses).map(([status, response]) => {
    const {
      description: about,
      content,
      'x-problems': problems,
    } = '$ref' in response ? found(components.responses, response.$ref) : response;
    const schema = jsonOf(content);
    const shown = [
      cell(about),
      ...(schema && status.startsWith('2') ? [typeOf(schema)] : []),
      ...problems.map(({ type }) => `\`${type}\``),
    ];
    return `| ${status} | ${shown.join(' · ')} |`;
  });
  return [
    `## ${operation.summary}\n`,
    `\`${called(entry)}\` — Permission: \`${operation['x-permission']}\`, operation \`${operation.operationId}\`\n`,
    ...(operation.description ? [`${operation.description}\n`] : []),
    ...(rows.length > 0
      ? [`| Parameter | In | Type | Meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`]
      : []),
    ...(body ? [`Body: ${shapeOf(body)}`] : []),
    `| Answer | |\n|---|---|\n${answers.join('\n')}\n`,
  ].join('\n');
}

function found<T>(components: Readonly<Record<string, T>>, ref: string): T {
  const component = components[ref.split('/').at(-1) ?? ''];
  if (component === undefined) throw new Error(`The API description has no ${ref}`);
  return component;
}

const jsonOf = (content: v.InferOutput<typeof Content> = {}): Schema | undefined =>
  content['application/json']?.schema;

/** In a cell of a table. */
const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');

const record = (value: unknown): Schema => (v.is(Loose, value) ? value : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Its fields as a table, or its type in a line. */
function shapeOf(schema: Schema): string {
  const about = textIn(schema.description);
  const intro = about === '' ? '' : `${about}\n\n`;
  const properties = Object.entries(record(schema.properties));
  if (properties.length === 0) return `${intro}${typeOf({ ...schema, description: '' })}\n`;
  const required = list(schema.required);
  const rows = properties.map(([name, value]) => {
    const property = record(value);
    const mark = required.includes(name) ? '' : ' *optional*';
    return `| \`${name}\`${mark} | ${typeOf(property)} | ${cell(textIn(property.description))} |`;
  });
  return `${intro}an object:\n\n| Field | Type | Meaning |\n|---|---|---|\n${rows.join('\n')}\n`;
}

/** A type in a line: `array of [AlertGroup](…)`. */
function typeOf(schema: Schema): string {
  const ref = textIn(schema.$ref).split('/').at(-1);
  if (ref) return `[${ref}](${addressOf(MADE.shapes)}#${slugOf(ref)})`;
  const choices = list(schema.anyOf ?? schema.oneOf).map(record);
  if (choices.length > 0) return choices.map(typeOf).join(' or ');
  if ('const' in schema) return `\`${cell(JSON.stringify(schema.const))}\``;
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `\`${cell(String(value))}\``).join(', ');
  const types = [schema.type].flat().filter((type) => typeof type === 'string');
  if (types.includes('array')) return `array of ${typeOf(record(schema.items))}${nullable(types)}`;
  const fields = Object.keys(record(schema.properties));
  if (fields.length > 0)
    return `object of ${fields.map((name) => `\`${name}\``).join(', ')}${nullable(types)}`;
  return `${types.join(' or ') || 'any'}${boundsOf(schema)}`;
}

const nullable = (types: readonly string[]) => (types.includes('null') ? ' or null' : '');

function boundsOf(schema: Schema): string {
  const { format, minimum, maximum, minLength, maxLength, default: fallback } = schema;
  const said = [
    ...(textIn(format) === '' ? [] : [textIn(format)]),
    ...range('', minimum, maximum),
    ...range('length ', minLength, maxLength),
    ...(fallback === undefined ? [] : [`default ${JSON.stringify(fallback)}`]),
  ];
  return said.length === 0 ? '' : ` (${cell(said.join(', '))})`;
}

function range(name: string, least: unknown, most: unknown): readonly string[] {
  const isOpen = most === undefined || most === Number.MAX_SAFE_INTEGER;
  if (least === undefined && isOpen) return [];
  if (isOpen) return [`${name}from ${least}`];
  return [least === undefined ? `${name}up to ${most}` : `${name}${least} to ${most}`];
}
