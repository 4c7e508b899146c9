/** What an API description leaves unsaid. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import * as v from 'valibot';
import type { Operation } from '../http/operation.ts';
import { entriesOf } from '../http/request/validate.ts';
import type { Schema } from '../http/schema/described.ts';
import { NAVIGATION, type Section } from '../ui/src/app/pages.ts';

export interface Parameter {
  readonly name: string;
  readonly description?: string;
  readonly $ref?: string;
  readonly schema?: JsonSchema;
}

interface JsonSchema {
  readonly description?: string;
  readonly $ref?: string;
  readonly type?: unknown;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>>;
}

export interface DescribedOperation {
  readonly operationId: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly $ref?: string }>>;
}

type Methods = Readonly<Record<string, DescribedOperation>>;

/** A document as far as these checks read it. */
export interface Whole {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Methods>>;
  readonly webhooks: Readonly<Record<string, Methods>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly responses: Readonly<Record<string, Content>>;
  };
}

export function operationsOf({ paths, webhooks }: Whole): readonly DescribedOperation[] {
  return [...Object.values(paths), ...Object.values(webhooks)].flatMap((methods) => Object.values(methods));
}

/** Places of operations, parameters, schemas and properties without a description; a `$ref` is described where it leads. */
export function undescribed(document: Whole): readonly string[] {
  const { schemas, parameters, responses } = document.components;
  return [
    ...Object.entries(schemas).flatMap(([name, schema]) => [
      ...silent(name, schema),
      ...ofSchema(name, schema),
    ]),
    ...Object.entries(parameters).flatMap(([name, parameter]) => silent(`parameter ${name}`, parameter)),
    ...Object.entries(responses).flatMap(([name, response]) => ofContent(name, response)),
    ...operationsOf(document).flatMap(ofOperation),
  ];
}

function ofOperation(operation: DescribedOperation): readonly string[] {
  const { operationId: id, parameters = [], requestBody, responses } = operation;
  return [
    ...silent(id, operation),
    ...parameters.flatMap((parameter) => silent(`${id} ?${parameter.name}`, parameter)),
    ...ofContent(`${id} body`, requestBody ?? {}),
    ...Object.entries(responses).flatMap(([status, response]) => ofContent(`${id} ${status}`, response)),
  ];
}

function ofContent(at: string, { content = {} }: Content): readonly string[] {
  return Object.values(content).flatMap(({ schema }) => (schema ? ofSchema(at, schema) : []));
}

function ofSchema(at: string, schema: JsonSchema): readonly string[] {
  const { properties = {}, items, additionalProperties, anyOf = [], oneOf = [], allOf = [] } = schema;
  return [
    ...Object.entries(properties).flatMap(([name, property]) => [
      ...silent(`${at}.${name}`, property),
      ...ofSchema(`${at}.${name}`, property),
    ]),
    ...[items, additionalProperties, ...anyOf, ...oneOf, ...allOf].flatMap((part) =>
      part ? ofSchema(at, part) : [],
    ),
  ];
}

function silent(
  at: string,
  { description, $ref }: { readonly description?: string; readonly $ref?: string },
): readonly string[] {
  return $ref === undefined && (description ?? '').trim() === '' ? [at] : [];
}

const TIME_NAME = /(?:_at|\.until)$/;

/** Properties of named schemas that are a time by their name, and do not say so by their format. */
export function timesWithoutFormat({ components }: Whole): readonly string[] {
  return Object.entries(components.schemas)
    .flatMap(([name, schema]) => propertiesOf(name, schema))
    .filter(
      ([at, { type, format }]) => TIME_NAME.test(at) && /string/.test(`${type}`) && format !== 'date-time',
    )
    .map(([at]) => at);
}

/** Operations whose body has no example that its schema takes. */
export function bodiesWithoutExample(document: Whole): readonly string[] {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addFormat('public-id', true);
  ajv.addSchema(document, 'api');
  const shown = ({ $ref = '' }: JsonSchema): boolean => {
    const { examples = [] } = document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {};
    return examples.length > 0 && examples.every((one) => ajv.validate({ $ref: `api${$ref}` }, one));
  };
  return operationsOf(document)
    .filter(({ requestBody, tags }) => requestBody && !tags.includes('Webhooks'))
    .filter(({ requestBody }) => !shown(requestBody?.content?.['application/json']?.schema ?? {}))
    .map(({ operationId }) => operationId);
}

/** Addresses that may be no URI, each with the reason. */
const NO_URI: Readonly<Record<string, string>> = {
  'BridgeInfo.messenger.url': 'as the bridge says it',
  'OidcCheck.jwks_uri': 'as the provider says it',
  'OidcSettingsBase.issuer_url': 'empty until one is set; may stay so while sign-in is off',
  'RequestRecord.url': 'masked',
  'TrialRequest.url': 'what a template made',
  'WebhookEvents.url': 'a template',
};

/** Properties that are an address by their name, and neither say so by their format nor are one of {@link NO_URI}. */
export function addressesWithoutFormat({ components }: Whole): readonly string[] {
  const found = Object.entries(components.schemas)
    .flatMap(([name, schema]) => propertiesOf(name, schema))
    .filter(
      ([at, { type, format }]) => /[._]ur[il]$/.test(at) && /string/.test(`${type}`) && format !== 'uri',
    )
    .map(([at]) => at);
  return [
    ...found.filter((at) => !(at in NO_URI)),
    ...Object.keys(NO_URI).filter((at) => !found.includes(at)),
  ];
}

function propertiesOf(at: string, schema: JsonSchema): readonly (readonly [string, JsonSchema])[] {
  const { properties = {}, items, additionalProperties, anyOf = [], oneOf = [], allOf = [] } = schema;
  return [
    ...Object.entries(properties).flatMap(([name, property]) => [
      [`${at}.${name}`, property] as const,
      ...propertiesOf(`${at}.${name}`, property),
    ]),
    ...[items, additionalProperties, ...anyOf, ...oneOf, ...allOf].flatMap((part) =>
      part ? propertiesOf(at, part) : [],
    ),
  ];
}

/** Query parameters that are read as numbers or booleans, and are described as something else. */
export function textsForNumbers(document: Whole, operations: readonly Operation[]): readonly string[] {
  const described = new Map(operationsOf(document).map((operation) => [operation.operationId, operation]));
  return operations.flatMap(({ id, query }) =>
    Object.entries(query ? entriesOf(query) : {}).flatMap(([name, field]) => {
      const type = readAs(field);
      const parameters = described.get(id)?.parameters?.map((one) => resolvedParameter(document, one)) ?? [];
      const schema = parameters.find((one) => one.name === name)?.schema;
      return type === null || schema?.type === type ? [] : [`${id} ?${name}`];
    }),
  );
}

function readAs(field: Schema): 'integer' | 'boolean' | null {
  const outputs = ['1', '60', 'true']
    .map((text) => v.safeParse(field, text))
    .filter(({ success }) => success);
  if (outputs.some(({ output }) => typeof output === 'number')) return 'integer';
  return outputs.some(({ output }) => typeof output === 'boolean') ? 'boolean' : null;
}

function resolvedParameter({ components }: Whole, parameter: Parameter): Parameter {
  const name = parameter.$ref?.split('/').at(-1);
  return name === undefined ? parameter : (components.parameters[name] ?? parameter);
}

/** The tag of a section of the UI whose name is not that of the section; null for one without operations of its own. */
const TAG_OF_SECTION: Partial<Record<Section, string | null>> = {
  statistics: null,
  roles: null,
  'template-preview': 'Templates',
  'system-status': 'System',
};

/** The tags that the navigation of the UI has, in its order. */
export function tagsOfNavigation({ tags }: Whole): readonly string[] {
  const byWords = new Map(tags.map(({ name }) => [name.toLowerCase().replaceAll(' ', '-'), name]));
  return NAVIGATION.flatMap(({ section }) => TAG_OF_SECTION[section] ?? byWords.get(section) ?? []);
}

/** Places of enumerations, anywhere in the document, with a word that no description there explains. */
export function wordsUnexplained(document: Whole): readonly string[] {
  return unexplainedIn(document, '', '');
}

/** @param about the description that a list, a parameter or alternatives give their values */
function unexplainedIn(value: unknown, at: string, about: string): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { enum: words, description } = value as { readonly enum?: unknown; readonly description?: unknown };
  const text = typeof description === 'string' ? description : about;
  const missing = (Array.isArray(words) ? words : [])
    .filter((word) => word !== null && !text.includes(`\`${lastPart(word)}\``))
    .map((word) => `${at}: ${word}`);
  const inside = Object.entries(value)
    .filter(([key]) => key !== 'examples')
    .flatMap(([key, member]) => unexplainedIn(member, `${at}/${key}`, key === 'properties' ? '' : text));
  return [...missing, ...inside];
}

/** Types of problems are addresses, which are explained by their last part. */
function lastPart(word: unknown): string {
  return /^https:.*\/(.+)$/.exec(`${word}`)?.[1] ?? `${word}`;
}
