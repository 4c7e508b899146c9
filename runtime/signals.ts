/**
 * Short messages between replicas that may get lost (Redis pub/sub). Nothing depends on them but speed: whoever listens
 * also knows where the truth is, and looks there when messages may have been missed.
 */
export interface Signals {
  /** Whether messages can be sent and received now. */
  readonly isUp: boolean;
  /** Calls back when that changed. After a change to up, messages may have been missed. */
  onState(listener: (isUp: boolean) => void): () => void;
  /** Sends to every replica that subscribes, this one included. Never throws; without a connection it does nothing. */
  publish(channel: string, message: string): void;
  /**
   * Channels are named without the installation's prefix. Returns the way to stop.
   * @param onPlaced hears true when messages of this channel begin to arrive, and false when they do no longer. What was
   *   sent before it heard true may have been missed
   */
  subscribe(
    channel: string,
    listener: (message: string) => void,
    onPlaced?: (isPlaced: boolean) => void,
  ): () => void;
}
