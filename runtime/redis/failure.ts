/**
 * Why Redis could not be used: a server that does not answer, or answers with a refusal. Holds words only; what the
 * client library attaches to its errors includes the arguments of the command, passwords among them.
 */
export class RedisFailure extends Error {
  override readonly name = 'RedisFailure';
  /** Whether waiting cannot mend it: somebody has to change the settings or the server. */
  readonly isFinal: boolean;

  constructor(message: string, isFinal = false) {
    super(message);
    this.isFinal = isFinal;
  }
}

/** Refusals of the login or of what the user may do. */
const REFUSALS = /^(WRONGPASS|NOAUTH|NOPERM)\b/;

/** The failure behind whatever was thrown. */
export function failureOf(error: unknown): RedisFailure {
  if (error instanceof RedisFailure) return error;
  if (!(error instanceof Error)) return new RedisFailure(String(error));
  return new RedisFailure(wordsOf(error), REFUSALS.test(error.message));
}

/** A refused connection to a name with several addresses has a code and no message. */
function wordsOf(error: Error): string {
  if (error.message !== '') return error.message;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
