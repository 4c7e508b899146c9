/** A Root message before it takes a messenger's form: its draft, by Tocsin's own layout, a template or the Fallback. */

import type { SignButton } from './buttons.ts';
import {
  ALERTS_CONSIDERED,
  byPlace,
  type DeliveryNotes,
  type MessageAlert,
  type MessageMention,
  NO_NOTES,
  type TemplateFailure,
} from './input.ts';
import { draftNotices } from './notices.ts';
import { builtInContent, draftFrame, fallbackContent, type RootContent, type RootDraft } from './parts.ts';
import { type RootFrame, rootText } from './root-text.ts';
import type { MessageScene } from './scene.ts';
import { renderLines, renderTemplateText } from './template-text.ts';

/** What differs from one call to the messenger to the next. */
export interface RootCall {
  /** `test` marks the message as one; its buttons are to be signed for a test message. */
  readonly kind: 'root' | 'test';
  readonly notes: DeliveryNotes;
  /** Of a Loud post; null for a Quiet one and for an edit. */
  readonly mentions: readonly MessageMention[] | null;
  /** Null when the messenger has no buttons, and for a final edit. */
  readonly sign: SignButton | null;
}

export interface DraftedRoot {
  readonly draft: RootDraft;
  /** Why the Fallback is shown; null when it is not. */
  readonly failure: TemplateFailure | null;
  /** Whom a root_message template mentions, as far as it names everyone or a group. */
  readonly mentioned: readonly MessageMention[];
}

export function draftRoot(scene: MessageScene, notes: DeliveryNotes): DraftedRoot {
  const alerts = [...scene.group.alerts].sort(byPlace).slice(0, ALERTS_CONSIDERED);
  const { content, failure = null, mentioned = [] } = contentOf(scene, alerts);
  return { draft: { ...draftFrame(scene, notes), content }, failure, mentioned };
}

/** The laid-out text, and the one that identifies the desired state: without notes and Mentions. */
export function rootTexts(
  scene: MessageScene,
  draft: RootDraft,
  notes: DeliveryNotes,
  frame: RootFrame,
): { readonly text: string; readonly desired: string; readonly truncated: boolean } {
  const { text, truncated } = rootText(scene, draft, frame);
  if (!hasNotes(notes) && frame.mentions.length === 0) return { text, desired: text, truncated };
  const notices = draftNotices(scene, NO_NOTES);
  const desired = rootText(scene, { ...draft, notices }, { ...frame, mentions: [] }).text;
  return { text, desired, truncated };
}

function hasNotes({ late, deletedAt, continued, final }: DeliveryNotes): boolean {
  return late !== null || deletedAt !== null || continued || final;
}

interface DraftedContent {
  readonly content: RootContent;
  readonly failure?: TemplateFailure;
  readonly mentioned?: readonly MessageMention[];
}

function contentOf(scene: MessageScene, alerts: readonly MessageAlert[]): DraftedContent {
  const { rootMessage, line } = scene.settings.templates;
  const fallback = (failure: TemplateFailure): DraftedContent => ({
    content: fallbackContent(scene, alerts),
    failure,
  });
  if (rootMessage !== null) {
    const rendered = renderTemplateText(rootMessage, scene);
    if (!rendered.ok) return fallback({ template: 'root_message', error: rendered.error });
    return {
      content: { kind: 'template', printed: rendered.printed },
      mentioned: rendered.mentioned.filter(({ type }) => type !== 'user'),
    };
  }
  if (line === null) return { content: builtInContent(scene, alerts, null) };
  const rendered = renderLines(line, scene, alerts);
  if (!rendered.ok) return fallback({ template: 'line', error: rendered.error });
  return { content: builtInContent(scene, alerts, rendered.lines) };
}
