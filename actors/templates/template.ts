/** Parsing and rendering: from a source to a text or to one error with its place (templates §9). */
import { Budget } from './evaluate/budget.ts';
import { Expressions } from './evaluate/expressions.ts';
import { Run } from './evaluate/run.ts';
import { TemplateFailure } from './failure.ts';
import { isFunction } from './functions/table.ts';
import { parseTree } from './syntax/parser.ts';
import type { Tree } from './syntax/tree.ts';
import type { RenderContext, RenderedTemplate, TemplateError, TemplateKind } from './types.ts';
import type { TemplateValue } from './values.ts';

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
  const budget = new Budget(context.monotonic ?? null, context.effort ?? { steps: 0 });
  const expressions = new Expressions(context, kind, budget);
  try {
    const output = new Run(tree, expressions, budget).output(data);
    const mentions = [...expressions.mentions.values()];
    if (context.format.name === 'plain') return { ok: true, text: output, mentions };
    return { ok: true, text: context.format.finish(output).trimEnd(), mentions };
  } catch (error) {
    return { ok: false, error: placed(error, source) };
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
