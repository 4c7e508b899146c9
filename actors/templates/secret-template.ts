/**
 * Templates of webhook URLs and header values (webhooks §1.1): literal text, quoted constants and references to
 * Destination Secrets. Every other action is an error with its place, so that nothing that looks like a template is
 * ever sent as text.
 */
import { type ActionToken, lexAction, type TemplateError, TemplateFailure } from './action-lexer.ts';

export type { TemplateError } from './action-lexer.ts';

export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  /** An action that is only a quoted constant. */
  | { readonly kind: 'constant'; readonly text: string }
  | { readonly kind: 'secret'; readonly name: string };

export type ParsedTemplate =
  | { readonly ok: true; readonly parts: readonly TemplatePart[] }
  | { readonly ok: false; readonly error: TemplateError };

export type RenderedTemplate =
  | { readonly ok: true; readonly text: string }
  /** The template reads a Secret that the Destination lacks. */
  | { readonly ok: false; readonly missing: string };

/** Seed 3 §2.1 rule 4. */
export const SECRET_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const KEYWORDS = new Set('if else end with range break continue define template block'.split(' '));

/** Reads a template. The first mistake in it is the answer. */
export function parseSecretTemplate(source: string): ParsedTemplate {
  try {
    return { ok: true, parts: parse(source) };
  } catch (error) {
    if (error instanceof TemplateFailure) return { ok: false, error: error.at(source) };
    throw error;
  }
}

/** Fills in Secrets; `secret` answers null for one that does not exist. */
export function renderSecretTemplate(
  parts: readonly TemplatePart[],
  secret: (name: string) => string | null,
): RenderedTemplate {
  let text = '';
  for (const part of parts) {
    const value = part.kind === 'secret' ? secret(part.name) : part.text;
    if (value === null) return { ok: false, missing: part.kind === 'secret' ? part.name : '' };
    text += value;
  }
  return { ok: true, text };
}

/** Names of the Secrets that a template reads. */
export function secretsRead(parts: readonly TemplatePart[]): string[] {
  return parts.flatMap((part) => (part.kind === 'secret' ? [part.name] : []));
}

function parse(source: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let at = 0;
  let trimNext = false;
  for (let open = source.indexOf('{{'); open >= 0; open = source.indexOf('{{', at)) {
    const action = lexAction(source, open);
    let text = source.slice(at, open);
    if (trimNext) text = text.replace(/^[ \t\r\n]+/, '');
    if (action.trimsBefore) text = text.replace(/[ \t\r\n]+$/, '');
    if (text !== '') parts.push({ kind: 'text', text });
    if (action.tokens) parts.push(actionPart(action.tokens, open));
    trimNext = action.trimsAfter;
    at = action.end;
  }
  const rest = trimNext ? source.slice(at).replace(/^[ \t\r\n]+/, '') : source.slice(at);
  if (rest !== '') parts.push({ kind: 'text', text: rest });
  return parts;
}

function actionPart(tokens: readonly ActionToken[], open: number): TemplatePart {
  const [first, second, third] = tokens;
  if (!first) throw new TemplateFailure('template_syntax', 'The action is empty.', open);
  if (tokens.length === 1 && first.kind === 'string') return { kind: 'constant', text: first.text };
  if (tokens.length === 1 && first.kind === 'field' && isSecrets(first, 2)) {
    return { kind: 'secret', name: first.path[1] ?? '' };
  }
  const indexed = tokens.length === 3 && first.kind === 'word' && first.text === 'index';
  if (indexed && second?.kind === 'field' && isSecrets(second, 1) && third?.kind === 'string') {
    if (SECRET_NAME.test(third.text)) return { kind: 'secret', name: third.text };
  }
  throw notUnderstood(tokens, first);
}

function notUnderstood(tokens: readonly ActionToken[], first: ActionToken): TemplateFailure {
  const secrets = tokens.find((token) => token.kind === 'field' && token.path[0] === 'Secrets');
  if (secrets) {
    const forms = '{{ .Secrets.name }}, {{ $.Secrets.name }} or {{ index .Secrets "name" }}';
    return new TemplateFailure(
      'invalid_format',
      `Read a Secret as ${forms}; no other form is allowed.`,
      secrets.at,
    );
  }
  if (first.kind === 'word' && !KEYWORDS.has(first.text) && first.text !== 'index') {
    return new TemplateFailure('unknown_function', `There is no function ${first.text} here.`, first.at);
  }
  const field = tokens.find((token) => token.kind === 'field');
  const place = field ?? first;
  return new TemplateFailure(
    'template_syntax',
    'Only Secrets and quoted constants can be used here.',
    place.at,
  );
}

function isSecrets(token: Extract<ActionToken, { kind: 'field' }>, length: number): boolean {
  return token.path.length === length && token.path[0] === 'Secrets';
}
