/** One budget for the bodies that are held at a time: memory is spent before anybody has shown who they are. */

export interface BodyBudget {
  /** Takes bytes when they fit. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

/** @param limit bytes */
export function createBodyBudget(limit: number): BodyBudget {
  let left = limit;
  return {
    take(bytes) {
      if (bytes > left) return false;
      left -= bytes;
      return true;
    },
    give(bytes) {
      left += bytes;
    },
  };
}
