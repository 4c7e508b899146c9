/** The configuration that turns are decided with, kept in memory and read anew after every save. */
import type { Directory, DirectorySource } from '../actors/directory.ts';
import { matcherProblems } from '../actors/route/matcher.ts';
import { type Clock, SECOND, type Timer } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { shareNext } from '../runtime/share-next.ts';
import { readDirectory, type StoredPicture } from './directory-rows.ts';
import type { Sql } from './records.ts';

export interface DirectoryDeps {
  readonly sql: Sql;
  /** For the wait before a failed reload is repeated. */
  readonly clock: Clock;
  readonly log: Log;
}

const RETRY_PAUSE = SECOND;
/** A read without an answer for longer is left behind, as a look at the configuration is. */
const SHARED_FOR = 1.5 * SECOND;

/** The Directory as one process keeps it. */
export interface StoredDirectory extends DirectorySource {
  /** How often the stored configuration had changed when {@link current} was read. */
  version(): number;
  /** Reads again unless {@link current} is of that version or a later one. */
  reach(version: number): Promise<void>;
  /** Repeats nothing any more. */
  stop(): void;
}

/**
 * Reload it once before anything asks for {@link DirectorySource.current}.
 *
 * Callers that come while a read is under way share the next one, so each sees what was stored when it called. A
 * failed reload rejects, keeps the last picture, and is repeated until one succeeds: a change may be stored already
 * that this process does not see yet.
 */
export function createDirectory({ sql, clock, log }: DirectoryDeps): StoredDirectory {
  let present: StoredPicture | null = null;
  let retry: Timer | null = null;
  let isStopped = false;
  const reportBroken = brokenMatcherLog(log);

  const read = async () => {
    try {
      const found = await readDirectory(sql);
      // A read that was left behind may end after a later one.
      if (present !== null && found.version < present.version) return;
      present = found;
      reportBroken(found.directory);
    } catch (error) {
      if (present) repeatLater();
      throw error;
    }
  };
  const reload = shareNext(read, { clock, longest: SHARED_FOR });

  const repeatLater = () => {
    if (isStopped) return;
    retry ??= clock.after(RETRY_PAUSE, () => {
      retry = null;
      // A failure here has arranged for the next repetition, and nobody waits for this one.
      reload().catch(() => undefined);
    });
  };

  const known = (): StoredPicture => {
    if (!present) throw new Error('the Directory was asked before it was first read');
    return present;
  };

  return {
    reload,
    current: () => known().directory,
    version: () => known().version,
    async reach(version) {
      if (known().version < version) await reload();
    },
    stop() {
      isStopped = true;
      retry?.cancel();
    },
  };
}

/** Names each stored expression that no longer compiles, once while it stays as it is (routes §1.1). */
function brokenMatcherLog(log: Log): (directory: Directory) => void {
  let known: ReadonlySet<string> = new Set();
  return ({ routes }) => {
    const broken = new Set<string>();
    for (const route of routes) {
      for (const { index } of matcherProblems(route.matchers)) {
        const key = `${route.id}/${index}/${route.matchers[index]?.value}`;
        broken.add(key);
        if (!known.has(key)) log('route_matcher_invalid', { route: route.id, index });
      }
    }
    known = broken;
  };
}
