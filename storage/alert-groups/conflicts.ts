import { ConflictError } from '../../runtime/actor/index.ts';

const UNIQUE_VIOLATION = '23505';

/** The uniqueness rule that refused a statement; null for every other failure. */
export function violatedRule(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null;
  const { code, constraint_name: rule } = error as { code?: unknown; constraint_name?: unknown };
  return code === UNIQUE_VIOLATION && typeof rule === 'string' ? rule : null;
}

/** Runs a statement; a refusal by a uniqueness rule becomes a {@link ConflictError}, which the engine retries. */
export async function orConflict<Result>(run: () => PromiseLike<Result>, on?: () => void): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    const rule = violatedRule(error);
    if (rule === null) throw error;
    on?.();
    throw new ConflictError(`refused by ${rule}`, { cause: error });
  }
}
