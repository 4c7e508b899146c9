/** Renders templates in tests: the data of the conformance cases, and results as one line. */
import { parseTemplate, renderTemplate } from './template.ts';
import { type OutputFormat, plainFormat, type RenderContext, type TemplateKind } from './types.ts';
import { TemplateList, TemplateMap, TemplateObject, TemplateTime, type TemplateValue } from './values.ts';

export const FIVE_PAST_TWO = Date.UTC(2026, 2, 9, 14, 5) * 1000;

export const CONTEXT: RenderContext = {
  format: plainFormat,
  now: FIVE_PAST_TWO,
  zone: 'UTC',
  lookup: () => '',
  mention: (target) => (target.type === 'everyone' ? `@${target.everyone}` : `@${target.type}`),
};

const labels = (entries: Record<string, string>) => new TemplateMap(entries, 'labels');

export const DATA: TemplateValue = new TemplateObject('Data', {
  AlertGroup: new TemplateObject('AlertGroup', {
    Number: 412n,
    Title: 'Disk full',
    Urgent: true,
    Owner: '',
    ReopenCount: 0n,
    StartedAt: TemplateTime.of(FIVE_PAST_TWO, 'UTC'),
  }),
  Alerts: new TemplateList(
    [
      new TemplateObject('Alert', { Status: 'firing', Labels: labels({ pod: 'a' }) }),
      new TemplateObject('Alert', { Status: 'resolved', Labels: labels({ pod: 'b' }) }),
    ],
    'alerts',
  ),
  CommonLabels: labels({ cluster: 'prod', ns: 'shop' }),
});

/** `Data` with a few values beside it. */
export function dataWith(fields: Readonly<Record<string, TemplateValue>>): TemplateValue {
  return new TemplateObject('Data', fields);
}

export interface Rendering {
  readonly kind?: TemplateKind;
  readonly data?: TemplateValue;
  readonly format?: OutputFormat;
  readonly context?: Partial<RenderContext>;
}

/** The output, or the error as `✗ line:column code message`. */
export function rendered(source: string, options: Rendering = {}): string {
  const parsed = parseTemplate(options.kind ?? 'root_message', source);
  const format = options.format ?? plainFormat;
  const result = parsed.ok
    ? renderTemplate(parsed.template, options.data ?? DATA, { ...CONTEXT, format, ...options.context })
    : parsed;
  if (result.ok) return result.text;
  const { line, column, code, message } = result.error;
  return `✗ ${line}:${column} ${code} ${message}`;
}
