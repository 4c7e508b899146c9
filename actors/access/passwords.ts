/** Password hashes: argon2id, few at a time, the same cost for accounts that do not exist (access §4). */
import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { type Clock, DAY, HOUR, type Micros, SECOND } from '../../runtime/clock.ts';
import { codePoints } from '../text.ts';

/** m 19,456 KiB, t 2, p 1, 32-byte key; 2 is argon2id. */
const PARAMETERS = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 } as const;
const PREFIX = '$argon2id$v=19$m=19456,t=2,p=1$';
const MAX_STORED_MEMORY = 262_144;
const MAX_STORED_TIME = 16;

const MOST_AT_ONCE = 2;
const LONGEST_QUEUE: Micros = 5 * SECOND;

/** The hashes of too many others are waiting. */
export class HashQueueFullError extends Error {
  override readonly name = 'HashQueueFullError';
}

/** `source` is whoever asked: where many wait, sources take turns. Left out, the process itself asked. */
export interface Passwords {
  /** @throws {HashQueueFullError} */
  hash(password: string, source?: string): Promise<string>;
  /**
   * Compares a password with what is stored. Without a usable hash (no account, no password) the same time is spent
   * and the answer is `wrong`.
   * @throws {HashQueueFullError}
   */
  check(
    stored: string | null,
    password: string,
    source?: string,
  ): Promise<'right' | 'right_but_rehash' | 'wrong'>;
}

/** The same, all of it asked for by one source. */
export function inTurnOf(source: string, { hash, check }: Passwords): Passwords {
  return {
    hash: (password) => hash(password, source),
    check: (stored, password) => check(stored, password, source),
  };
}

const ITSELF = '';

/**
 * @param clock bounds the wait for a turn; business time does not matter here
 * @param atOnce hashes that run at once: one processor is left to everything else where there are two
 */
export function createPasswords(clock: Clock, atOnce = hashesBeside(availableParallelism())): Passwords {
  const turns = createTurns(clock, atOnce);

  return {
    hash: (password, source = ITSELF) => turns(source, () => hash(password, PARAMETERS)),
    async check(stored, password, source = ITSELF) {
      if (stored === null || !usable(stored)) {
        await turns(source, () => hash(password, PARAMETERS));
        return 'wrong';
      }
      const right = await turns(source, () => verify(stored, password));
      if (!right) return 'wrong';
      return stored.startsWith(PREFIX) ? 'right' : 'right_but_rehash';
    },
  };
}

export function hashesBeside(processors: number): number {
  return Math.max(1, Math.min(MOST_AT_ONCE, processors - 1));
}

/** Whether a stored hash is argon2id within the bounds that this process is ready to spend. */
function usable(stored: string): boolean {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=\d+\$/.exec(stored);
  if (!match) return false;
  return Number(match[1]) <= MAX_STORED_MEMORY && Number(match[2]) <= MAX_STORED_TIME;
}

/**
 * Runs at most `atOnce` pieces of work at once. Those that wait go in order within a source, and sources one after the
 * other: whoever sends hundreds waits behind their own.
 */
function createTurns(clock: Clock, atOnce: number) {
  let running = 0;
  /** By source, the one whose turn it is next first. None of them is empty. */
  const waiting = new Map<string, (() => void)[]>();

  const finished = () => {
    running--;
    const [next] = waiting;
    if (!next) return;
    const [source, own] = next;
    const enter = own.shift();
    waiting.delete(source);
    if (own.length > 0) waiting.set(source, own);
    enter?.();
  };

  const leave = (source: string, enter: () => void) => {
    const own = waiting.get(source) ?? [];
    own.splice(own.indexOf(enter), 1);
    if (own.length === 0) waiting.delete(source);
  };

  const turn = (source: string) =>
    new Promise<void>((resolve, reject) => {
      if (running < atOnce) {
        running++;
        resolve();
        return;
      }
      const timer = clock.after(LONGEST_QUEUE, () => {
        leave(source, enter);
        reject(new HashQueueFullError('too many password hashes are waiting'));
      });
      const enter = () => {
        timer.cancel();
        running++;
        resolve();
      };
      const own = waiting.get(source);
      if (own) own.push(enter);
      else waiting.set(source, [enter]);
    });

  return async <Result>(source: string, work: () => Promise<Result>): Promise<Result> => {
    await turn(source);
    try {
      return await work();
    } finally {
      finished();
    }
  };
}

/** `auth.password_min_length`, in code points. */
export const PASSWORD_MIN_LENGTH = 12;
export const PASSWORD_MAX_LENGTH = 1_024;

/** `auth.password_setup_link_ttl`. */
export const SETUP_LINK_LIFETIME: Micros = 24 * HOUR;
/** A link is remembered this long after its end, so that whoever opens it late learns why. */
export const ENDED_LINK_KEPT: Micros = 7 * DAY;

/** Judges a new password by its length in code points; null when it will do. */
export function passwordFault(password: string): 'too_short' | 'too_long' | null {
  const length = codePoints(password);
  if (length < PASSWORD_MIN_LENGTH) return 'too_short';
  return length > PASSWORD_MAX_LENGTH ? 'too_long' : null;
}
