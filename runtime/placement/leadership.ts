/**
 * Whether this process leads: exactly one of an installation does, or none for a moment (operations §5.3). Whoever
 * leads does what must be done once, such as retention; two may believe it for a moment, and nothing breaks then.
 */
export interface Leadership {
  readonly isLeader: boolean;
  /** Calls back after every change of {@link isLeader}. Returns the way to stop listening. */
  onChange(listener: () => void): () => void;
}
