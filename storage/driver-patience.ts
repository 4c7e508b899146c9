/** Notices a server that stopped answering: without a bound, a dropped connection is noticed only by TCP, minutes later. */
import { createAnswerCount } from './driver-protocol.ts';

export interface AnswerWatch {
  /** Whole messages to the server, in order. */
  sent(chunk: Buffer): void;
  /** Bytes from the server, in order. */
  received(chunk: Buffer): void;
  /** The connection is gone. */
  end(): void;
}

/**
 * Watches one connection. Only time in which an answer is owed counts, from the request or from the latest sign of the
 * server, whichever came last: an idle connection may be silent for ever.
 * @param patience ms
 * @param onSilence called once when nothing came for that long
 */
export function watchAnswers(patience: number, onSilence: () => void): AnswerWatch {
  const answers = createAnswerCount();
  let timer: NodeJS.Timeout | null = null;
  const rest = () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };
  return {
    sent(chunk) {
      answers.sent(chunk);
      if (answers.owed() > 0) timer ??= setTimeout(onSilence, patience);
    },
    received(chunk) {
      answers.received(chunk);
      if (answers.owed() === 0) rest();
      else timer?.refresh();
    },
    end: rest,
  };
}
