/** Templates of webhook URLs and header values in events mode: of data they see Secrets and nothing else (webhooks §1.1). */
import type { Micros } from '../../runtime/clock.ts';
import { secretsData } from '../templates/data.ts';
import {
  type Effort,
  namedReferences,
  parseTemplate,
  plainFormat,
  type RenderedTemplate,
  renderTemplate,
  type Template,
} from '../templates/index.ts';

export interface SecretTemplateError {
  /** `invalid_format`: a Secret is read in a form that is not allowed. */
  readonly code: 'template_syntax' | 'unknown_function' | 'invalid_format';
  readonly message: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in code points. */
  readonly column: number;
}

export type ParsedSecretTemplate =
  | {
      readonly ok: true;
      readonly template: Template;
      /** Names of the Secrets that it reads. */
      readonly reads: readonly string[];
    }
  | { readonly ok: false; readonly error: SecretTemplateError };

/** Reads a template. The first mistake in it is the answer. */
export function parseSecretTemplate(source: string): ParsedSecretTemplate {
  const parsed = parseTemplate('webhook_request', source, ['mention']);
  if (!parsed.ok) return parsed;
  const references = namedReferences(parsed.template, 'Secrets');
  if (!references.ok) return { ok: false, error: { ...references.error, code: 'invalid_format' } };
  return { ok: true, template: parsed.template, reads: references.names };
}

/**
 * Fills in Secrets. There are no Lookup tables, no Mentions and no zone but UTC here.
 * @param effort of all parts of one request
 */
export function renderSecretTemplate(
  template: Template,
  secrets: Readonly<Record<string, string>>,
  now: Micros,
  effort: Effort,
): RenderedTemplate {
  return renderTemplate(template, secretsData(secrets), {
    format: plainFormat,
    now,
    zone: 'UTC',
    lookup: () => '',
    mention: () => null,
    effort,
  });
}
