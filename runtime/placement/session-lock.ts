/** The advisory lock by which the only process of an installation knows that it is alone (operations §5.1). */
export interface SessionLock {
  /** Tries once to take the lock, on a session of its own. False while any session holds it, so release before retaking. */
  acquire(): Promise<boolean>;
  /** Resolves when the session that holds the lock has ended, for whatever reason but {@link release}. */
  lost(): Promise<void>;
  /** Gives the lock back. */
  release(): Promise<void>;
}
