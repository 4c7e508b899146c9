/** The templates of Routes, parsed once: a save parses them, too, so that what fails here was broken by another version. */
import type { RoutePolicy } from '../../directory.ts';
import type { MessageSettings } from '../../messages/index.ts';
import { parseTemplate, type Template, type TemplateKind } from '../../templates/index.ts';

/** Sources that are remembered; an older one is parsed anew. */
const REMEMBERED = 1_000;

export type RouteTemplates = (templates: RoutePolicy['templates']) => MessageSettings['templates'];

export function createRouteTemplates(): RouteTemplates {
  const parsed = new Map<string, Template | null>();
  const read = (kind: TemplateKind, source: string | null): Template | null => {
    if (source === null) return null;
    const key = `${kind} ${source}`;
    const known = parsed.get(key);
    if (known !== undefined) return known;
    const result = parseTemplate(kind, source);
    const template = result.ok ? result.template : null;
    parsed.set(key, template);
    const [oldest] = parsed.keys();
    if (parsed.size > REMEMBERED && oldest !== undefined) parsed.delete(oldest);
    return template;
  };
  return (templates) => ({
    rootMessage: read('root_message', templates.root_message),
    line: read('line', templates.line),
    ackTimeoutNotice: read('ack_timeout_notice', templates.ack_timeout_notice),
  });
}
