/** The template language: what people write for messages, links and webhook requests (templates). */
export { type OutputFormat, plainFormat } from './format.ts';
export type { MentionTarget, RenderContext, RenderedTemplate, TemplateError, TemplateKind } from './types.ts';
export type { TemplateValue } from './values.ts';
