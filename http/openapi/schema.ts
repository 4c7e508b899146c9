/** Schemas of the operation table as JSON Schema, with the named and the repeated ones gathered as components. */
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { entriesOf } from '../request/validate.ts';
import type { Documentation, Schema } from '../schema/described.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface SchemaReader {
  /** Every named schema that was met so far, by name. */
  readonly components: ReadonlyMap<string, Json>;
  /** What a request body must look like; rules that JSON Schema cannot say are left to the 400 that names them. */
  body(schema: Schema): Json;
  answer(schema: Schema): Json;
  /** One parameter per field of a query schema. */
  query(schema: Schema): readonly Json[];
}

/** Converts schemas. @throws {Error} when two different schemas have one name */
export function createSchemaReader(): SchemaReader {
  const components = new Map<string, Json>();
  const keep = (name: string, schema: Json) => {
    const known = components.get(name);
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`two schemas are called ${name}: ${JSON.stringify(known)} ${JSON.stringify(schema)}`);
    }
    components.set(name, schema);
    return { $ref: `#/components/schemas/${name}` };
  };
  const convert = (schema: Schema, typeMode: 'input' | 'output'): Json => {
    const kept = (name: string, json: Json, base?: Schema) => {
      if (!base) return keep(name, json);
      const { $ref } = convert(base, typeMode) as { readonly $ref: string };
      const fields = components.get($ref.split('/').at(-1) ?? '') as ObjectSchema;
      return keep(name, extended(name, $ref, fields, json as ObjectSchema));
    };
    const { $schema, ...rest } = toJsonSchema(schema as v.GenericSchema, {
      typeMode,
      target: 'draft-2020-12',
      errorMode: 'ignore',
      overrideAction: ({ valibotAction, jsonSchema }) =>
        valibotAction.type === 'metadata' ? documentedBy(valibotAction, jsonSchema, kept) : undefined,
      overrideSchema: ({ jsonSchema }) => compact(jsonSchema as Json),
    });
    return rest as Json;
  };
  return {
    components,
    body: (schema) => convert(schema, 'input'),
    answer: (schema) => convert(schema, 'output'),
    query: (schema) =>
      Object.entries(entriesOf(schema)).map(([name, field]) => queryParameter(name, field, convert)),
  };
}

function queryParameter(
  name: string,
  field: Schema,
  convert: (schema: Schema, typeMode: 'input') => Json,
): Json {
  const { description, ...schema } = convert(field, 'input');
  return {
    name,
    in: 'query',
    ...(accepts(field) ? {} : { required: true }),
    ...(description === undefined ? {} : { description }),
    schema,
  };
}

function accepts(field: Schema): boolean {
  return field.type === 'optional' || field.type === 'nullish' || v.is(field, undefined);
}

/** Applies the metadata of a schema to what was converted of it so far. */
function documentedBy(
  action: object,
  converted: object,
  keep: (name: string, schema: Json, base?: Schema) => Json,
): Json {
  const { component, base, sentAs, enumDescriptions } = (action as { metadata: Documentation }).metadata;
  const {
    component: _name,
    base: _base,
    sentAs: _sent,
    enumDescriptions: _meanings,
    ...facts
  } = converted as Documentation;
  const schema = sentAs === undefined ? facts : { ...sentAs, ...aboutOf(facts) };
  const explained = enumDescriptions === undefined ? schema : withMeanings(schema, enumDescriptions);
  return component === undefined ? explained : keep(component, explained, base);
}

interface ObjectSchema extends Json {
  readonly properties: Json;
  readonly required?: readonly string[];
}

/** What a schema adds to its base. @throws {Error} when it does not have each field of the base as it is there */
function extended(name: string, $ref: string, base: ObjectSchema, schema: ObjectSchema): Json {
  const { type, properties, required = [], ...about } = schema;
  const isOwn = (key: string) => !Object.hasOwn(base.properties, key);
  const differs = (key: string) =>
    JSON.stringify(base.properties[key]) !== JSON.stringify(properties[key]) ||
    (base.required ?? []).includes(key) !== required.includes(key);
  const differing = Object.keys(base.properties).filter(differs);
  if (differing.length > 0) throw new Error(`${name} has not the ${differing.join(', ')} of its base`);
  const own = Object.fromEntries(Object.entries(properties).filter(([key]) => isOwn(key)));
  return { allOf: [{ $ref }, { type, properties: own, required: required.filter(isOwn) }], ...about };
}

function aboutOf({ description, examples, default: byDefault }: Documentation & { default?: unknown }): Json {
  return {
    ...(description === undefined ? {} : { description }),
    ...(examples === undefined ? {} : { examples }),
    ...(byDefault === undefined ? {} : { default: byDefault }),
  };
}

/** The meaning of each word, as a list in the description. */
function withMeanings(schema: Json, meanings: Readonly<Record<string, string>>): Json {
  const list = Object.entries(meanings).map(([word, meaning]) => `- \`${word}\`: ${meaning}`);
  return { ...schema, description: [schema.description, ...list].join('\n') };
}

/** The same schema in fewer words, and without the strictness that is meant for ourselves only. */
// biome-ignore lint/suspicious/noExplicitAny: the converter's own type of a JSON Schema is not exported for draft 2020-12
function compact(schema: Json): any {
  const {
    additionalProperties,
    propertyNames,
    required,
    anyOf,
    const: constant,
    default: byDefault,
    ...rest
  } = schema;
  return {
    ...rest,
    ...(byDefault === undefined || isEmptyList(byDefault) ? {} : { default: byDefault }),
    ...(constant === undefined ? {} : { type: typeof constant, const: constant }),
    ...(Array.isArray(required) && required.length > 0 ? { required } : {}),
    ...(additionalProperties === undefined || additionalProperties === false ? {} : { additionalProperties }),
    ...(propertyNames === undefined || JSON.stringify(propertyNames) === '{"type":"string"}'
      ? {}
      : { propertyNames }),
    ...(anyOf === undefined ? {} : alternatives(anyOf as readonly Json[])),
  };
}

/** A list that is empty at first is one that is left out. */
function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** `anyOf`, or a list of types where one of two alternatives is null; a description of the other one is of both. */
function alternatives(anyOf: readonly Json[]): Json {
  const [schema = {}, other] = anyOf;
  if (anyOf.length !== 2 || JSON.stringify(other) !== '{"type":"null"}') return { anyOf };
  const { description, examples, ...facts } = schema;
  const about = aboutOf({ description, examples } as Documentation);
  if (Array.isArray(facts.anyOf)) return { ...facts, anyOf: [...facts.anyOf, other], ...about };
  if (typeof facts.type !== 'string') return { anyOf: [facts, other], ...about };
  return {
    ...facts,
    type: [facts.type, 'null'],
    ...(Array.isArray(facts.enum) ? { enum: [...facts.enum, null] } : {}),
    ...about,
  };
}

/** Moves parameters and responses that several operations have in common to `components`. */
type Members<Value> = Readonly<Record<string, Value>>;
type Paths = Members<Members<Json>>;

export interface Shared {
  readonly paths: Paths;
  readonly parameters: Json;
  readonly responses: Json;
}

/** Names that a response proposes for itself as a component, the best first; they are not part of the document. */
export const SHARED_NAMES = 'x-shared-names';

/**
 * A parameter is shared under its own name, a response under a name that it proposes, where more than one operation
 * has it in exactly that form. Of several forms the most frequent one takes a name first; what gets none stays in place.
 */
export function shareRepeated(paths: Paths): Shared {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const parameters = sharing('parameters', operations.flatMap(parametersOf), ({ name }) => [
    name,
    `${name}Optional`,
  ]);
  const responses = sharing(
    'responses',
    operations.flatMap((operation) => Object.values(responsesOf(operation))),
    (response) => response[SHARED_NAMES] ?? [],
  );
  return {
    paths: mapped(paths, (methods) =>
      mapped(methods, (operation) => ({
        ...operation,
        ...('parameters' in operation
          ? { parameters: parametersOf(operation).map(parameters.referred) }
          : undefined),
        responses: mapped(responsesOf(operation), responses.referred),
      })),
    ),
    parameters: parameters.components,
    responses: responses.components,
  };
}

function parametersOf(operation: Json): readonly Json[] {
  return (operation.parameters ?? []) as readonly Json[];
}

function responsesOf(operation: Json): Members<Json> {
  return operation.responses as Members<Json>;
}

function sharing(kind: 'parameters' | 'responses', all: readonly Json[], namesOf: (one: Json) => unknown) {
  const uses = new Map<string, { readonly form: Json; times: number }>();
  for (const form of all) {
    const use = uses.get(JSON.stringify(form)) ?? { form, times: 0 };
    use.times += 1;
    uses.set(JSON.stringify(form), use);
  }
  const chosen = new Map<string, Json>();
  for (const { form, times } of [...uses.values()].sort((a, b) => b.times - a.times)) {
    const name = (namesOf(form) as readonly string[]).find((proposed) => !chosen.has(proposed));
    if (times > 1 && name !== undefined) chosen.set(name, form);
  }
  const names = new Map([...chosen].map(([name, form]) => [JSON.stringify(form), name]));
  return {
    referred(form: Json): Json {
      const name = names.get(JSON.stringify(form));
      return name === undefined ? withoutNames(form) : { $ref: `#/components/${kind}/${name}` };
    },
    components: Object.fromEntries([...chosen].sort().map(([name, form]) => [name, withoutNames(form)])),
  };
}

function withoutNames({ [SHARED_NAMES]: _names, ...form }: Json): Json {
  return form;
}

export function mapped<From, To>(members: Members<From>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(members).map(([key, value]) => [key, change(value)]));
}
