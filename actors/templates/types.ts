/** What the rest of the service knows of templates; the language itself is behind `index.ts`. */
import type { Micros, Monotonic } from '../../runtime/clock.ts';

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

/** A monotonic clock that may also be told how long each render took. */
export interface RenderTimer extends Monotonic {
  readonly rendered?: (kind: TemplateKind, took: Micros) => void;
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
  readonly monotonic?: RenderTimer;
}

export type RenderedTemplate =
  | {
      readonly ok: true;
      readonly text: string;
      /** What `mention` was asked for, in order, each once. */
      readonly mentions: readonly MentionTarget[];
    }
  | { readonly ok: false; readonly error: TemplateError };

/** What the place that a template is rendered for does to its output (templates §7). */
export interface OutputFormat {
  readonly name: 'markdown' | 'html' | 'commonmark' | 'plain';
  /** An untrusted value that an action prints; it comes capped and without control characters (templates §7 rule 3). */
  escape(value: string): string;
  /** A URL that passed the rules of safe URLs, fit for a link target. */
  link(url: string): string;
  /** What templates §7 rule 4 and §7 rule 5 ask of the whole output. */
  finish(output: string): string;
}

/** URLs, header values and bodies: authors quote with functions such as `toJson` and `urlquery`. */
export const plainFormat: OutputFormat = {
  name: 'plain',
  escape: (value) => value,
  link: (url) => url,
  finish: (output) => output,
};

/** How untrusted values are cut and cleaned before they are printed (templates §7 rule 3). */

const MOST_BYTES = 4_096;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
const UNWANTED = /[\0-\x08\x0b-\x1f\x7f-\x9f\uE000-\uE002]/g;

/** At most 4,096 bytes of a value, ending with `…` when something was cut. */
export function capped(value: string): string {
  if (value.length * 3 <= MOST_BYTES || Buffer.byteLength(value) <= MOST_BYTES) return value;
  const bytes = Buffer.from(value);
  let end = MOST_BYTES - Buffer.byteLength('…');
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return `${bytes.toString('utf8', 0, end)}…`;
}

/** Without control characters other than line feed and tab, and without what marks Mentions inside an output. */
export function withoutControls(value: string): string {
  return value.replace(UNWANTED, '');
}
