/** What a preview has to know besides the template. */
export interface PreviewedTemplate {
  /** A saved Route: its recent Snapshots are the samples, and its language is that of the texts. */
  readonly routeId?: string | null;
  readonly language?: 'en' | 'ru';
  /** In the units of the format. */
  readonly lengthLimit?: number;
}
