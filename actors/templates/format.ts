/** What the place that a template is rendered for does to its output (templates §7). */
export interface OutputFormat {
  readonly name: 'markdown' | 'html' | 'commonmark' | 'plain';
  /** An untrusted value that an action prints; it comes capped and without control characters (templates §7.3). */
  escape(value: string): string;
  /** A URL that passed the rules of safe URLs, fit for a link target. */
  link(url: string): string;
  /** What templates §7.4 and §7.5 ask of the whole output. */
  finish(output: string): string;
}

/** URLs, header values and bodies: authors quote with functions such as `toJson` and `urlquery`. */
export const plainFormat: OutputFormat = {
  name: 'plain',
  escape: (value) => value,
  link: (url) => url,
  finish: (output) => output,
};
