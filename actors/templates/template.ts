/** Parses and renders templates, and finds what they refer to without rendering (templates §9). */
import { Budget } from './evaluate/budget.ts';
import { Expressions } from './evaluate/expressions.ts';
import { Run } from './evaluate/run.ts';
import { positionIn, TemplateFailure } from './failure.ts';
import { isFunction } from './functions/table.ts';
import { parseTree } from './syntax/parser.ts';
import type { Command, Node, Nodes, Operand, Pipeline, Tree } from './syntax/tree.ts';
import type { RenderContext, RenderedTemplate, TemplateError, TemplateKind } from './types.ts';
import { type TemplateValue, textOf } from './values.ts';

/** A template that can be rendered as often as wanted. */
export interface Template {
  readonly kind: TemplateKind;
  readonly source: string;
  readonly tree: Tree;
}

export type ParsedTemplate =
  | { readonly ok: true; readonly template: Template }
  | { readonly ok: false; readonly error: TemplateError };

/**
 * Reads a source of any length that its place allows. The answer is its first syntax error, else the first unknown
 * function.
 * @param without functions of the kind that this place does not have
 */
export function parseTemplate(
  kind: TemplateKind,
  source: string,
  without: readonly string[] = [],
): ParsedTemplate {
  try {
    const tree = parseTree(source, (name) => isFunction(kind, name) && !without.includes(name));
    if (tree.unknown) throw unknownFunction(tree.unknown);
    return { ok: true, template: { kind, source, tree } };
  } catch (error) {
    return { ok: false, error: placed(error, source) };
  }
}

/** Renders with the data of the template's kind (`data.ts`). Ends within the limits whatever the template does. */
export function renderTemplate(
  { kind, source, tree }: Template,
  data: TemplateValue,
  context: RenderContext,
): RenderedTemplate {
  const { monotonic } = context;
  const started = monotonic?.rendered ? monotonic() : 0;
  const budget = new Budget(monotonic ?? null, context.effort ?? { steps: 0 });
  const expressions = new Expressions(context, kind, budget);
  try {
    const output = new Run(tree, expressions, budget).output(data);
    const mentions = [...expressions.mentions.values()];
    if (context.format.name === 'plain') return { ok: true, text: output, mentions };
    return { ok: true, text: context.format.finish(output).trimEnd(), mentions };
  } catch (error) {
    return { ok: false, error: placed(error, source) };
  } finally {
    monotonic?.rendered?.(kind, monotonic() - started);
  }
}

function unknownFunction({ name, at }: NonNullable<Tree['unknown']>): TemplateFailure {
  return new TemplateFailure(`function ${JSON.stringify(name)} is not defined`, at, 'unknown_function');
}

/** @throws whatever is no mistake of the template */
function placed(error: unknown, source: string): TemplateError {
  if (error instanceof TemplateFailure) return error.at(source);
  throw error;
}

/** Names of Lookup tables that stand as string constants in `lookup`, each once. */
export function lookupTablesOf(template: Template): readonly string[] {
  const names = commandsOf(template).flatMap(([first, table]) => {
    const isLookup = first.kind === 'function' && first.name === 'lookup';
    return isLookup && table?.kind === 'constant' ? [textOf(table.value)] : [];
  });
  return [...new Set(names.filter((name) => name !== null))];
}

type Place = Pick<TemplateError, 'line' | 'column'>;

export type NamedReferences =
  | {
      readonly ok: true;
      readonly names: readonly string[];
      /** Where it reads each name first. */
      readonly places: ReadonlyMap<string, Place>;
    }
  /** The first use that is not allowed. */
  | { readonly ok: false; readonly error: Omit<TemplateError, 'code'> };

/**
 * The names that a template reads of `.Secrets` (or another map of that kind), each once. It may read them as
 * `.Secrets.name`, `$.Secrets.name` and `index .Secrets "name"` only, so that they can be told before rendering
 * (webhooks §1.1 rule 4).
 */
export function namedReferences(template: Template, field: string): NamedReferences {
  const allowed = new Set<Operand>();
  const read: { readonly name: string; readonly at: number }[] = [];
  const commands = commandsOf(template);
  for (const command of commands) {
    const name = indexedName(command, field);
    if (name === null || !command[1]) continue;
    allowed.add(command[1]);
    read.push({ name, at: placeOf(command[1]) });
  }
  const touching = commands
    .flatMap((command) => [...command])
    .filter((operand) => firstField(operand) === field);
  for (const operand of touching.sort((left, right) => placeOf(left) - placeOf(right))) {
    if (allowed.has(operand)) continue;
    const name = chainedName(operand);
    if (name === null) return { ok: false, error: notAllowed(template, field, placeOf(operand)) };
    read.push({ name, at: placeOf(operand) });
  }
  const places = new Map<string, Place>();
  for (const { name, at } of read.sort((left, right) => left.at - right.at)) {
    if (!places.has(name)) places.set(name, positionIn(template.source, at));
  }
  return { ok: true, names: [...places.keys()], places };
}

function notAllowed({ source }: Template, field: string, at: number): Omit<TemplateError, 'code'> {
  const forms = `{{ .${field}.name }}, {{ $.${field}.name }} or {{ index .${field} "name" }}`;
  return new TemplateFailure(`read .${field} as ${forms}; no other form is allowed`, at).at(source);
}

/** A piece of a template's text, or null for an action; an action that is only a constant counts as its text. */
export function literalParts({ tree }: Template): readonly (string | null)[] {
  return partsOf(tree.body.nodes);
}

function partsOf(nodes: Nodes): (string | null)[] {
  return nodes.flatMap((node): (string | null)[] => {
    if (node.kind === 'text') return [node.text];
    if (node.kind === 'action') return [constantOf(node.pipeline)];
    return [null, ...innerNodes(node).flatMap((inner) => [...partsOf(inner), null])];
  });
}

function constantOf({ commands, slot }: Pipeline): string | null {
  const [first] = commands[0] ?? [];
  const isAlone = commands.length === 1 && slot === null && first?.kind === 'constant';
  return isAlone ? textOf(first.value) : null;
}

function innerNodes(node: Node): readonly Nodes[] {
  if (node.kind === 'range') return [node.nodes, node.otherwise];
  if (node.kind !== 'if' && node.kind !== 'with') return [];
  return [...node.branches.map(({ nodes }) => nodes), node.otherwise];
}

function pipelinesOf(nodes: Nodes): Pipeline[] {
  return nodes.flatMap((node) => {
    const inner = innerNodes(node).flatMap(pipelinesOf);
    if (node.kind === 'if' || node.kind === 'with') {
      return [...node.branches.map(({ pipeline }) => pipeline), ...inner];
    }
    const own = 'pipeline' in node && node.pipeline ? [node.pipeline] : [];
    return [...own, ...inner];
  });
}

function commandsOf({ tree }: Template): Command[] {
  const bodies = [tree.body, ...tree.definitions.values()];
  return bodies.flatMap(({ nodes }) => pipelinesOf(nodes)).flatMap(withInner);
}

function withInner({ commands }: Pipeline): Command[] {
  return commands.flatMap((command) => [command, ...command.flatMap(groupsIn).flatMap(withInner)]);
}

function groupsIn(operand: Operand): Pipeline[] {
  if (operand.kind === 'group') return [operand.pipeline];
  return operand.kind === 'chain' ? groupsIn(operand.base) : [];
}

function firstField(operand: Operand): string | null {
  return operand.kind === 'chain' ? operand.fields[0].name : null;
}

function placeOf(operand: Operand): number {
  return operand.kind === 'chain' ? operand.fields[0].at : operand.at;
}

/** Whether an operand is read straight from the data: `.Name…` or `$.Name…`. */
function isOfData(operand: Operand): boolean {
  if (operand.kind !== 'chain') return false;
  const { base } = operand;
  return base.kind === 'dot' || (base.kind === 'variable' && base.slot === 0);
}

function chainedName(operand: Operand): string | null {
  if (operand.kind !== 'chain' || !isOfData(operand) || operand.fields.length !== 2) return null;
  return operand.fields[1]?.name ?? null;
}

/** The name in `index .Secrets "name"`. */
function indexedName([first, map, key, ...more]: Command, field: string): string | null {
  if (first.kind !== 'function' || first.name !== 'index' || more.length > 0) return null;
  if (map?.kind !== 'chain' || !isOfData(map) || map.fields.length !== 1) return null;
  if (firstField(map) !== field || key?.kind !== 'constant') return null;
  const name = textOf(key.value);
  return name !== null && SECRET_NAME.test(name) ? name : null;
}

/** A letter or underscore, then letters, digits and underscores (webhooks §1.1 rule 4). */
export const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
