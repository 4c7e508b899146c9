/** The template language: what people write for messages, links and webhook requests (templates). */

export {
  literalParts,
  lookupTablesOf,
  namedReferences,
  parseTemplate,
  renderTemplate,
  SECRET_NAME,
  type Template,
} from './template.ts';
export type {
  Effort,
  MentionTarget,
  RenderContext,
  RenderedTemplate,
  RenderTimer,
  TemplateError,
  TemplateKind,
} from './types.ts';
export { capped, type OutputFormat, plainFormat, withoutControls } from './types.ts';
export type { TemplateValue } from './values.ts';
