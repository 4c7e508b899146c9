/**
 * Commands on many Alert Groups, and taking them back (ui §1.5). They are the app's: one goes on when the list is left,
 * and what became of it is told on whatever page the person is by then.
 */
import { SvelteSet } from 'svelte/reactivity';
import type { AlertGroupsApi, BulkCommand } from '../../../api/alert-groups.ts';
import type { Problem } from '../../../api/problem.ts';
import type { AlertGroup, BulkResult } from '../../../api/shapes.ts';
import type { I18n } from '../../../i18n/i18n.svelte.ts';
import type { SessionState } from '../../../state/session.svelte.ts';
import type { Toasts } from '../../../state/toasts.svelte.ts';
import type { GroupList } from '../group-list.svelte.ts';
import { type BulkOutcome, type BulkProgress, isThrough, PORTION, runInPortions } from './bulk-run.ts';
import { type BulkUndo, takeBackOne, undoOfBulk } from './bulk-undo.ts';

/** Alert Groups by their ids, as they were shown when the Command was sent; undefined where they were not loaded. */
export type Shown = ReadonlyMap<string, AlertGroup | undefined>;

/** Of a Command that did not go through for all. */
export interface BulkResults extends BulkOutcome {
  /** Name of the Owner of an Alert Group, as far as it is loaded. */
  readonly ownerOf: (id: string) => string | null;
  /** Its #N, as far as it was loaded. */
  readonly numberOf: (id: string) => number | null;
}

/** Of more than one portion. It goes on beside whatever the person does. */
export interface Work extends BulkProgress {
  /** What is done, or to what: several may go on at once. */
  readonly title: string;
  /** It ends with the portion that is on its way. */
  readonly isStopping: boolean;
  stop(): void;
}

/** Results to show, one after the other. */
interface Waiting {
  readonly results: BulkResults;
  /** Those of a long one wait until somebody asks for them: by then the person does something else. */
  readonly isAsked: boolean;
  /** They were read. */
  readonly closed: () => void;
}

export type Bulks = ReturnType<typeof createBulks>;

export interface BulkDeps {
  readonly alertGroups: AlertGroupsApi;
  readonly groupList: GroupList;
  readonly session: SessionState;
  readonly toasts: Toasts;
  readonly i18n: I18n;
}

export function createBulks({ alertGroups, groupList, session, toasts, i18n }: BulkDeps) {
  const { t } = i18n;
  let works = $state.raw<readonly ReturnType<typeof createWork>[]>([]);
  let waiting = $state.raw<readonly Waiting[]>([]);
  /** Counts who was signed in: what somebody else began says nothing to the next. */
  let person = 0;

  /** Only a long one is told and can be stopped. @param ids of the Alert Groups, as far as they are known */
  function begin(title: string, of: number, ids: readonly string[] = []) {
    const work = createWork(title, of, ids);
    if (of > PORTION) works = [...works, work];
    return work;
  }

  function drop(work: Work) {
    works = works.filter((each) => each !== work);
  }

  /** @returns null when the session ended meanwhile */
  async function inPortions(
    title: string,
    ids: readonly string[],
    send: Parameters<typeof runInPortions>[1],
    answered: (results: readonly BulkResult[]) => void,
    size: number,
  ): Promise<BulkOutcome | null> {
    const mine = person;
    const work = begin(title, ids.length, ids);
    const outcome = await runInPortions(
      ids,
      send,
      (results, next) => {
        answered(results);
        for (const result of results) work.ids.delete(result.alert_group_id);
        work.tell(next);
      },
      () => mine === person && !work.isStopping,
      size,
    );
    drop(work);
    return mine === person ? outcome : null;
  }

  const isUnderWay = (id: string) => works.some(({ ids }) => ids.has(id));

  /**
   * @param say is called with how many went through, after the results of those that did not
   * @param read is called once those results were read
   */
  async function finish(
    outcome: BulkOutcome,
    groups: Shown,
    say: (text: string, count: number) => void,
    read = () => {},
  ) {
    const count = outcome.results.filter(isThrough).length;
    const sayDone = () => {
      if (count > 0) say(t('bulk.done', { count }), count);
    };
    const of = outcome.left + outcome.results.length;
    if (of === count) sayDone();
    else {
      const ownerOf = (id: string) =>
        (groupList.items?.find((group) => group.id === id) ?? groups.get(id))?.owner?.name ?? null;
      const closed = () => {
        sayDone();
        read();
      };
      const numberOf = (id: string) => groups.get(id)?.number ?? null;
      waiting = [...waiting, { results: { ...outcome, ownerOf, numberOf }, isAsked: of <= PORTION, closed }];
    }
    // After a long one somebody may be about to press a row by then: nothing moves under them.
    if (of > PORTION) groupList.hinted({ type: 'alert-group', id: null });
    else await groupList.read();
  }

  /**
   * Groups that a long Command still has to reach are left out: the two would overtake each other.
   * @param drop is called with the id of each Alert Group that it went through for; a long one has all at its start
   * @param again is called with those that a long one did not go through for, once its results were read
   * @returns after a single request, why there was no answer; anything else is told here
   */
  async function run(
    command: BulkCommand,
    groups: Shown,
    drop: (id: string) => void,
    again: (ids: readonly string[]) => void,
  ): Promise<Problem | null> {
    const userId = session.active.user.id;
    const ids = [...groups.keys()].filter((id) => !isUnderWay(id));
    const isLong = ids.length > PORTION;
    if (isLong) ids.forEach(drop);
    const end = async () => {
      const outcome = await inPortions(
        t(`command.${command.command}`),
        ids,
        (portion) => alertGroups.bulk(portion, command),
        (results) => {
          if (isLong) return;
          for (const result of results) if (isThrough(result)) drop(result.alert_group_id);
        },
        PORTION,
      );
      if (outcome === null) return null;
      if (outcome.problem !== null && !isLong) {
        // It may have been done all the same.
        void groupList.read();
        return outcome.problem;
      }
      const undo = undoOfBulk(command.command, outcome.results, groups, userId);
      const through = new Set(outcome.results.filter(isThrough).map((result) => result.alert_group_id));
      await finish(
        outcome,
        groups,
        (text, count) => toasts.command(text, null, undo && undoButton(undo, groups, userId, count)),
        () => isLong && again(ids.filter((id) => !through.has(id))),
      );
      return null;
    };
    const ending = end();
    return isLong ? null : ending;
  }

  /** @param count of groups that the Command went through for, of which some may have no way back */
  function undoButton(undo: BulkUndo, groups: Shown, userId: string, count: number) {
    const { size } = undo.numbers;
    const text = size === count ? t('action.undo') : t('action.undoFor', { count: size });
    return { text, run: () => takeBack(undo, groups, userId) };
  }

  async function takeBack(undo: BulkUndo, groups: Shown, userId: string) {
    const outcome = await inPortions(
      t(`command.${undo.back}`),
      [...undo.numbers.keys()],
      ([id = '']) => takeBackOne(alertGroups, id, undo, userId, t('command.overtaken')),
      () => {},
      1,
    );
    // Not awaited: the message with Undo closes when this returns, and must not wait for the list.
    if (outcome !== null) void finish(outcome, groups, (text) => toasts.done(text));
  }

  const firstAsked = () => waiting.find(({ isAsked }) => isAsked);

  function closeResults() {
    const closing = firstAsked() ?? waiting[0];
    waiting = waiting.filter((each) => each !== closing);
    closing?.closed();
  }

  return {
    /** On their way, the oldest first. */
    get works(): readonly Work[] {
      return works;
    },
    /** Whether a long Command, or the Undo of one, still has to reach this Alert Group. */
    isUnderWay,
    /** Whether there are results that nobody asked for yet. */
    get hasUnread() {
      return waiting.some(({ isAsked }) => !isAsked);
    },
    /** Those that are shown. */
    get results(): BulkResults | null {
      return firstAsked()?.results ?? null;
    },
    showResults() {
      waiting = waiting.map((each) => ({ ...each, isAsked: true }));
    },
    run,
    /**
     * Other work on many Alert Groups, with the same progress and Stop.
     * @param step works through some of them; 0 ends it
     * @returns how many were worked through; null when the session ended meanwhile
     */
    async work(title: string, of: number, step: () => Promise<number>): Promise<number | null> {
      const mine = person;
      const work = begin(title, of);
      let done = 0;
      for (let more = 1; more > 0 && !work.isStopping; done += more) {
        work.tell({ done, of: Math.max(done, of) });
        more = await step();
        if (mine !== person) return null;
      }
      drop(work);
      return done;
    },
    closeResults,
    /** Of what cannot be shown. */
    dismiss() {
      for (const work of works) work.stop();
      closeResults();
    },
    /** The session ended: no further portion is sent, and nothing is said any more. */
    forget() {
      person += 1;
      works = [];
      waiting = [];
    },
  };
}

function createWork(title: string, of: number, waiting: readonly string[]) {
  const ids = new SvelteSet(waiting);
  let progress = $state.raw<BulkProgress>({ done: 0, of });
  let isStopping = $state.raw(false);
  return {
    title,
    /** Those that have no answer yet. */
    ids,
    get done() {
      return progress.done;
    },
    get of() {
      return progress.of;
    },
    get isStopping() {
      return isStopping;
    },
    tell(next: BulkProgress) {
      progress = next;
    },
    stop() {
      isStopping = true;
    },
  };
}
