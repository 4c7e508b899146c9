/** What the rest of the service knows of templates; the language itself is behind `index.ts`. */
import type { Micros, Monotonic } from '../../runtime/clock.ts';
import type { OutputFormat } from './format.ts';

export type TemplateKind = 'root_message' | 'line' | 'ack_timeout_notice' | 'link_rule' | 'webhook_request';

/** The one error of a template (templates §9), both while it is parsed and while it is rendered. */
export interface TemplateError {
  readonly code: 'template_syntax' | 'unknown_function';
  readonly message: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in code points. */
  readonly column: number;
}

/** Whom `mention` was asked for. */
export type MentionTarget =
  | { readonly type: 'everyone'; readonly everyone: 'all' | 'channel' | 'here' }
  | { readonly type: 'owner' }
  | { readonly type: 'group'; readonly name: string }
  /** Only in webhook requests, where `.Mentions` names people. */
  | { readonly type: 'user'; readonly name: string; readonly id: string; readonly login: string };

/** Work of renders, in steps. */
export interface Effort {
  steps: number;
}

/** Everything that a render knows besides the data. The same context and data give the same output. */
export interface RenderContext {
  readonly format: OutputFormat;
  readonly now: Micros;
  /** The Organization's, a name of the IANA database. */
  readonly zone: string;
  /** One cell; an empty string when there is no such table, key or column. */
  lookup(table: string, key: string, column: string): string;
  /**
   * The Mention in the syntax of the messenger, or plain text that is escaped already; it is printed as it is. Null:
   * there is no `mention` here.
   */
  mention(target: MentionTarget): string | null;
  /** Rows that the renders of one message or link set have looked up so far. Absent: this render counts for itself. */
  readonly lookedUp?: Set<string>;
  /** What renders did that are made in one go with this one: together they may do as much as one. */
  readonly effort?: Effort;
  /** Stops a render that takes longer than 2 s. Its steps are counted in any case. */
  readonly monotonic?: Monotonic;
}

export type RenderedTemplate =
  | {
      readonly ok: true;
      readonly text: string;
      /** What `mention` was asked for, in order, each once. */
      readonly mentions: readonly MentionTarget[];
    }
  | { readonly ok: false; readonly error: TemplateError };
