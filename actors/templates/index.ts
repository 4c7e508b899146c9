/** The template language: what people write for messages, links and webhook requests (templates). */
export { capped, withoutControls } from './caps.ts';
export { type OutputFormat, plainFormat } from './format.ts';
export { literalParts, lookupTablesOf, type NamedReferences, namedReferences } from './references.ts';
export { SECRET_NAME } from './secret-name.ts';
export { type ParsedTemplate, parseTemplate, renderTemplate, type Template } from './template.ts';
export type {
  Effort,
  MentionTarget,
  RenderContext,
  RenderedTemplate,
  TemplateError,
  TemplateKind,
} from './types.ts';
export type { TemplateValue } from './values.ts';
