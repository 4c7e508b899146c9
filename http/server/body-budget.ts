/**
 * Budgets for the bodies that are held at a time, by kind and by holder: memory is spent before anybody has shown who
 * they are, and nobody may spend what others need (api §1.2 rule 7).
 */

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * What all bodies of a kind may hold together, and those of one holder among them, bytes. Twice: for the unfinished
 * ones and for the complete ones, so that bodies that are never finished leave room for those that arrive at once.
 */
export const BODY_BUDGETS = {
  /** Operations that need no credentials; by client address. */
  anonymous: { total: 4 * MIB, each: 256 * KIB },
  /** Until the credentials of a request are proven; by client address. */
  unproven: { total: 12 * MIB, each: 4 * MIB },
  /** By identity, whatever its address. */
  signed_in: { total: 12 * MIB, each: 6 * MIB },
  /** Callbacks, whose signature is proven with the whole body; by client address. */
  callback: { total: 4 * MIB, each: 2 * MIB },
} as const satisfies Record<string, { readonly total: number; readonly each: number }>;

export type BodyKind = keyof typeof BODY_BUDGETS;

export interface BodyBudgets {
  /** Begins to count what one body holds; it counts as unfinished. */
  open(kind: BodyKind, holder: string): BodyHold;
}

export interface BodyHold {
  /**
   * Takes the bytes of a piece when they fit.
   * @param isLast the body is complete with them and counts among the complete ones from now on
   */
  take(bytes: number, isLast: boolean): boolean;
  /** Counts the body for another kind and holder; false, and nothing changed, when what it holds does not fit there. */
  move(kind: BodyKind, holder: string): boolean;
  /** Gives back everything; nothing can be taken any more. */
  release(): void;
}

/** Where a body is counted. */
interface Place {
  readonly kind: BodyKind;
  readonly holder: string;
  readonly isComplete: boolean;
}

export function createBodyBudgets(): BodyBudgets {
  /** Bytes held, by kind and completeness, and by holder below that. */
  const held = new Map<string, number>();
  const keysOf = ({ kind, holder, isComplete }: Place) => {
    const pool = `${kind}/${isComplete}`;
    return [pool, `${pool}/${holder}`] as const;
  };

  const add = (key: string, bytes: number) => {
    const sum = (held.get(key) ?? 0) + bytes;
    if (sum > 0) held.set(key, sum);
    else held.delete(key);
  };
  const take = (place: Place, bytes: number): boolean => {
    const { total, each } = BODY_BUDGETS[place.kind];
    const [pool, own] = keysOf(place);
    if ((held.get(pool) ?? 0) + bytes > total || (held.get(own) ?? 0) + bytes > each) return false;
    for (const key of [pool, own]) add(key, bytes);
    return true;
  };
  const give = (place: Place, bytes: number): void => {
    for (const key of keysOf(place)) add(key, -bytes);
  };

  return {
    open(kind, holder) {
      let place: Place = { kind, holder, isComplete: false };
      let size = 0;
      let isOver = false;

      const moveTo = (to: Place, more: number): boolean => {
        if (!take(to, size + more)) return false;
        give(place, size);
        place = to;
        size += more;
        return true;
      };
      return {
        take(bytes, isLast) {
          if (isOver) return false;
          if (isLast) return moveTo({ ...place, isComplete: true }, bytes);
          if (!take(place, bytes)) return false;
          size += bytes;
          return true;
        },
        move: (toKind, toHolder) => moveTo({ ...place, kind: toKind, holder: toHolder }, 0),
        release() {
          isOver = true;
          give(place, size);
          size = 0;
        },
      };
    },
  };
}

/** Pieces that fit in this many bytes together are joined: each costs about 100 bytes besides its own. */
const JOINED_BYTES = 1_024;

/**
 * Adds a piece behind the others, joined with the last one while both are small: how many are kept depends on the size of a
 * body, not on how finely its sender cuts it.
 */
export function addPiece(pieces: Buffer[], piece: Buffer): void {
  const last = pieces.at(-1);
  if (last !== undefined && last.length + piece.length <= JOINED_BYTES) {
    pieces[pieces.length - 1] = Buffer.concat([last, piece]);
  } else pieces.push(piece);
}
