/** Thread replies: what can be said under a Root message, once and never edited (messages §7.1). */
import type { Micros } from '../../runtime/clock.ts';
import type { ResolveReason, SeverityLevel } from '../model.ts';
import { ALERTS_LISTED, alertnameFirst, labelsLine } from './alert-lines.ts';
import {
  groupPage,
  type MessageAlert,
  type MessageMention,
  type MessageSettings,
  type TemplateFailure,
} from './input.ts';
import { cutPoints, oneLine } from './neutral.ts';
import { draftFooter, titleText } from './parts.ts';
import { builtWithin, type MessageScene } from './scene.ts';
import { type MessageButton, reminderButtons, type SignButton } from './status.ts';
import { renderTemplateText } from './template-text.ts';
import { counted, fullTime, type PlainKey, text } from './texts/texts.ts';

/** What happened, as far as its reply tells it. Names of people are shown as in the Root message. */
export type ReplyEvent =
  | { readonly event: 'alerts_added'; readonly alerts: readonly MessageAlert[] }
  | { readonly event: 'alert_replaced'; readonly label: string }
  | {
      readonly event: 'urgency_raised';
      readonly level: SeverityLevel;
      /** Whose acknowledgement it removed; null when it ended a Snooze. */
      readonly formerOwner: string | null;
    }
  /** `owner` when the group came back acknowledged. */
  | { readonly event: 'reopened'; readonly owner: string | null }
  /** `joined` during the Snooze and still firing. */
  | { readonly event: 'snooze_ended'; readonly joined: readonly MessageAlert[] }
  | { readonly event: 'takeover'; readonly owner: string; readonly formerOwner: string }
  | { readonly event: 'resolved'; readonly reason: ResolveReason }
  | {
      readonly event: 'unacknowledged';
      readonly reason: 'owner_disabled' | 'owner_deleted';
      readonly formerOwner: string;
    }
  | { readonly event: 'auto_unacknowledged'; readonly formerOwner: string }
  | Notice;

/** What asks for somebody. `last` when no further notice follows. */
type Notice = (
  | { readonly event: 'ack_timeout'; readonly last: boolean }
  | { readonly event: 'reminder'; readonly owner: string }
  | { readonly event: 'notices_missed'; readonly kind: 'ack_timeout'; readonly count: number }
  | {
      readonly event: 'notices_missed';
      readonly kind: 'reminder';
      readonly count: number;
      readonly owner: string;
    }
) & {
  /** When it was due; present only on an overtaken one (messages §7.1). */
  readonly overtaken?: Micros;
};

export function isOvertaken(event: ReplyEvent): event is Notice & { readonly overtaken: Micros } {
  return 'overtaken' in event;
}

/** What differs from one messenger to the next. */
export interface ReplyCall {
  /** Of a Loud reply; empty for a Quiet one. */
  readonly mentions: readonly MessageMention[];
  /** Signs for a Thread reply; null when the messenger has no buttons. */
  readonly sign: SignButton | null;
}

/** Still on it and Unack for what asks an Owner, nothing for every other reply. */
export function replyButtons(
  event: ReplyEvent,
  settings: MessageSettings,
  { sign }: ReplyCall,
): MessageButton[] {
  const asks = event.event === 'reminder' || (event.event === 'notices_missed' && event.kind === 'reminder');
  return asks && !isOvertaken(event) ? reminderButtons(settings, sign) : [];
}

/** The lines of each Thread reply, before Mentions and cuts (messages §7.1). */
export interface ReplyDraft {
  /** What the reply begins with. @param points the most that a name may have @param lines the most that are kept */
  head(points: number, lines: number): string;
  readonly headLines: number;
  readonly bullets: readonly string[];
  /** Alerts that the bullets stand for, listed or not. */
  readonly bulletTotal: number;
  /** Lines at the end. */
  readonly tail: readonly string[];
  /** Whom the text itself mentions already. */
  readonly mentioned: readonly MessageMention[];
  readonly failure: TemplateFailure | null;
}

export function draftReply(event: ReplyEvent, scene: MessageScene): ReplyDraft {
  if (isOvertaken(event)) return overtakenNotice(event, scene);
  const { language } = scene.settings;
  const say = (key: PlainKey) => said(() => text(language, key));
  switch (event.event) {
    case 'alerts_added': {
      const n = event.alerts.length;
      return { ...said(() => counted(language, 'reply.added', { n })), ...bulletsOf(event.alerts, scene) };
    }
    case 'alert_replaced':
      return said(() => text(language, 'reply.replaced', { label: scene.format.value(event.label) }));
    case 'urgency_raised':
      return urgencyRaised(event, scene);
    case 'reopened': {
      const { owner } = event;
      return owner === null
        ? say('reply.reopened')
        : withNames(scene, 'reply.reopened_owner', { user: owner });
    }
    case 'snooze_ended':
      return snoozeEnded(event.joined, scene);
    case 'takeover':
      return withNames(scene, 'reply.takeover', { new: event.owner, old: event.formerOwner });
    case 'resolved': {
      const reason = text(language, `reason.${event.reason}`);
      const key = event.reason === 'resolved' ? 'reply.resolved' : 'reply.closed';
      return said(() => text(language, key, { reason }));
    }
    case 'unacknowledged':
      return withNames(scene, `reply.${event.reason}`, { old: event.formerOwner });
    case 'auto_unacknowledged':
      return withNames(scene, 'reply.auto_unack', { old: event.formerOwner });
    case 'ack_timeout':
      return noticeReply(event.last, scene);
    case 'reminder':
      return withNames(scene, 'reply.reminder', { user: event.owner });
    case 'notices_missed':
      return noticesMissed(event, scene);
  }
}

/** The notice that nobody has acknowledged, in Tocsin's own words. */
export function builtInNotice(last: boolean, scene: MessageScene): ReplyDraft {
  const { group, settings } = scene;
  const sentence = (points: number) => {
    const values = { number: group.number, title: titleText(scene, points) };
    return text(settings.language, 'ack_timeout_notice', values);
  };
  return { ...said(sentence), tail: noticeTail(last, scene) };
}

function noticeReply(last: boolean, scene: MessageScene): ReplyDraft {
  const template = scene.settings.templates.ackTimeoutNotice;
  if (template === null) return builtInNotice(last, scene);
  const rendered = renderTemplateText(template, scene);
  if (!rendered.ok) {
    const failure = { template: 'ack_timeout_notice', error: rendered.error } as const;
    return { ...builtInNotice(last, scene), failure };
  }
  const { printed, mentioned } = rendered;
  if (printed.lines === 0) return builtInNotice(last, scene);
  return {
    ...said((_points, lines) => printed.text(lines)),
    headLines: printed.lines,
    tail: noticeTail(last, scene),
    mentioned,
  };
}

/** What was so when it was due, and below it how it is now (messages §7.1). */
function overtakenNotice(event: Parameters<typeof overtakenText>[0], scene: MessageScene): ReplyDraft {
  const { format, settings } = scene;
  const now = (points: number) => draftFooter(scene, points) ?? text(settings.language, 'reply.no_owner');
  return {
    ...said((points, lines) =>
      format.lines([overtakenText(event, scene, points), now(points)].slice(0, lines)),
    ),
    headLines: 2,
    tail: event.event === 'ack_timeout' ? noticeTail(false, scene) : [],
  };
}

function overtakenText(
  event: Notice & { readonly overtaken: Micros },
  scene: MessageScene,
  points: number,
): string {
  const { format, group, settings } = scene;
  const { language, zone } = settings;
  const { number } = group;
  const time = format.value(fullTime(event.overtaken, zone));
  switch (event.event) {
    case 'ack_timeout':
      return text(language, 'reply.late_notice', { number, title: titleText(scene, points), time });
    case 'reminder': {
      const user = nameOf(scene, event.owner, points);
      return text(language, 'reply.late_reminder', { n: number, user, time });
    }
    case 'notices_missed':
      return noticesMissed(event, scene).head(points, 1);
  }
}

function noticeTail(last: boolean, { format, group, settings }: MessageScene): string[] {
  const { language } = settings;
  const open = format.anchor(text(language, 'link.open'), groupPage(settings, group.id));
  return last ? [text(language, 'reply.last_notice'), open] : [open];
}

function urgencyRaised(
  { level, formerOwner }: Extract<ReplyEvent, { event: 'urgency_raised' }>,
  scene: MessageScene,
): ReplyDraft {
  const { language } = scene.settings;
  const urgent = text(language, 'reply.urgent', { level: text(language, `severity.${level}`) });
  return said((points) => {
    const effect =
      formerOwner === null
        ? text(language, 'reply.urgent_snooze')
        : text(language, 'reply.urgent_ack', { user: nameOf(scene, formerOwner, points) });
    return `${urgent} ${effect}`;
  });
}

function snoozeEnded(joined: readonly MessageAlert[], scene: MessageScene): ReplyDraft {
  const { format, settings } = scene;
  const over = text(settings.language, 'reply.snooze_ended');
  if (joined.length === 0) return said(() => over);
  const came = text(settings.language, 'reply.joined', { n: joined.length });
  return {
    ...said((_points, lines) => format.lines([over, came].slice(0, lines))),
    headLines: 2,
    ...bulletsOf(joined, scene),
  };
}

function noticesMissed(
  event: Extract<ReplyEvent, { event: 'notices_missed' }>,
  scene: MessageScene,
): ReplyDraft {
  const { language } = scene.settings;
  const { count: n } = event;
  if (event.kind === 'ack_timeout') return said(() => counted(language, 'reply.missed_ack', { n }));
  const user = (points: number) => nameOf(scene, event.owner, points);
  return said((points) => counted(language, 'reply.missed_reminder', { n, user: user(points) }));
}

/** Labels that the Alerts do not share with the group, one line an Alert. */
function bulletsOf(
  alerts: readonly MessageAlert[],
  scene: MessageScene,
): Pick<ReplyDraft, 'bullets' | 'bulletTotal'> {
  const { group, settings } = scene;
  const bullets = builtWithin(scene, alerts.slice(0, ALERTS_LISTED), (alert) => {
    const names = Object.keys(alert.labels).filter(
      (name) => name !== settings.severityLabel && !Object.hasOwn(group.commonLabels, name),
    );
    return labelsLine(scene, alert, alertnameFirst(names));
  });
  return { bullets, bulletTotal: alerts.length };
}

function withNames(scene: MessageScene, key: PlainKey, names: Readonly<Record<string, string>>): ReplyDraft {
  const { settings, group } = scene;
  return said((points) => {
    const shown = Object.entries(names).map(([role, name]) => [role, nameOf(scene, name, points)] as const);
    return text(settings.language, key, { n: group.number, ...Object.fromEntries(shown) });
  });
}

function nameOf({ format }: MessageScene, name: string, points: number): string {
  return format.value(cutPoints(oneLine(name), points));
}

function said(head: ReplyDraft['head']): ReplyDraft {
  return { head, headLines: 1, bullets: [], bulletTotal: 0, tail: [], mentioned: [], failure: null };
}
