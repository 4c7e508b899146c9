/** Renders a Route's own templates for a message (templates §1, §7). */
import { groupData, lineData, type TemplateAlert, type TemplateGroup } from '../templates/data.ts';
import {
  type RenderContext,
  renderTemplate,
  type Template,
  type TemplateError,
  type TemplateValue,
} from '../templates/index.ts';
import { ALERTS_LISTED } from './alert-lines.ts';
import {
  type GroupMessage,
  groupPage,
  type MessageAlert,
  type MessageMention,
  type MessageSettings,
} from './input.ts';
import { mentionOf } from './mentions.ts';
import type { MessageScene } from './scene.ts';

/** What a template printed, by lines, so that it can be cut. */
export interface PrintedText {
  readonly lines: number;
  /** The first lines, all of them or finished anew, so that a tag or a code block left open is closed. */
  text(most: number): string;
}

export type Printed =
  | { readonly ok: true; readonly printed: PrintedText; readonly mentioned: readonly MessageMention[] }
  | { readonly ok: false; readonly error: TemplateError };

export type PrintedLines =
  | { readonly ok: true; readonly lines: ReadonlyMap<MessageAlert, string> }
  | { readonly ok: false; readonly error: TemplateError };

/** A root_message or an ack_timeout_notice template. */
export function renderTemplateText(template: Template, scene: MessageScene): Printed {
  const { group, settings } = scene;
  return print(template, groupData(templateGroup(group, settings), settings.zone), scene, {});
}

/** A line template for the Alerts that get a line; one that prints nothing leaves its Alert out. */
export function renderLines(
  template: Template,
  scene: MessageScene,
  alerts: readonly MessageAlert[],
): PrintedLines {
  const { group, settings } = scene;
  const whole = templateGroup(group, settings);
  const shared = { lookedUp: new Set<string>(), effort: { steps: 0 } };
  const lines = new Map<MessageAlert, string>();
  for (const alert of alerts.length > ALERTS_LISTED ? [] : alerts) {
    const rendered = print(template, lineData(whole, templateAlert(alert), settings.zone), scene, shared);
    if (!rendered.ok) return rendered;
    const { text, lines: all } = rendered.printed;
    lines.set(
      alert,
      text(all)
        .replace(/\s*\n\s*/g, ' ')
        .trim(),
    );
  }
  return { ok: true, lines };
}

/**
 * Mentions stand in an output as marks until it is finished, since finishing takes the meaning of every other `@`. No
 * value can hold the characters of a mark.
 */
const MARK = /\uE000(\d+)\uE001/g;
const STRAY = /[\uE000-\uE002]/g;

function print(
  template: Template,
  data: TemplateValue,
  { format, group, settings, write }: MessageScene,
  shared: Pick<RenderContext, 'lookedUp' | 'effort'>,
): Printed {
  const written: string[] = [];
  const rendered = renderTemplate(template, data, {
    format,
    now: settings.now,
    zone: settings.zone,
    lookup: settings.lookup,
    mention: (target) => `\uE000${written.push(write(target)) - 1}\uE001`,
    ...shared,
    ...(settings.monotonic && { monotonic: settings.monotonic }),
  });
  if (!rendered.ok) return rendered;
  const lines = rendered.text === '' ? [] : rendered.text.split('\n');
  const cut = (most: number) => format.finish(lines.slice(0, most).join('\n')).trimEnd();
  const filled = (output: string) =>
    output.replace(MARK, (_mark, index) => written[Number(index)] ?? '').replace(STRAY, '');
  return {
    ok: true,
    mentioned: rendered.mentions.map((target) => mentionOf(target, group.owner)),
    printed: {
      lines: lines.length,
      text: (most) => filled(most >= lines.length ? rendered.text : cut(most)),
    },
  };
}

function templateGroup(group: GroupMessage, settings: MessageSettings): TemplateGroup {
  const { number, title, summary, status, severityLevel, urgent, startedAt, reopenCount, owner } = group;
  const { groupLabels, commonLabels, commonAnnotations } = group;
  return {
    number,
    title,
    summary,
    status,
    route: group.routeName,
    severityLevel,
    urgent,
    startedAt,
    url: groupPage(settings, group.id),
    reopenCount,
    owner,
    alerts: group.alerts.map(templateAlert),
    groupLabels,
    commonLabels,
    commonAnnotations,
    externalUrl: settings.publicUrl,
  };
}

function templateAlert(alert: MessageAlert): TemplateAlert {
  const { fingerprint, state, labels, annotations, startsAt, resolvedAt, generatorUrl } = alert;
  return { fingerprint, status: state, labels, annotations, startsAt, endsAt: resolvedAt, generatorUrl };
}
