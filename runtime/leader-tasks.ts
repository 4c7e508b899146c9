/** What one process of the installation does for all of them, at intervals (operations §5.3). */
import type { Clock, Micros, Timer } from './clock.ts';
import type { Log } from './log.ts';
import type { Leadership } from './placement/leadership.ts';

export interface LeaderTask {
  /** For the log; unique. */
  readonly name: string;
  /** From the end of a run to the next one, µs. */
  readonly every: Micros;
  /** The runs after the first one are at full multiples of `every` (UTC), such as at each full hour. */
  readonly isAligned?: true;
  /**
   * Must be harmless when two replicas do it at once. A rejection is logged; the next run tries again.
   * @param goesOn asked between steps of long work: false once the lead is lost or the process stops
   */
  run(goesOn: () => boolean): Promise<void>;
}

export interface LeaderTasksDeps {
  readonly leadership: Leadership;
  readonly clock: Clock;
  readonly log: Log;
  readonly tasks: readonly LeaderTask[];
}

export interface LeaderTasks {
  /** From now on every task runs while this process leads: first right after it took the lead, then at its interval. */
  start(): void;
  /** Begins nothing any more. What is under way ends by itself; nobody waits for it. */
  stop(): void;
}

/** Runs tasks while this process leads. A task never overlaps itself, and none waits for another. */
export function createLeaderTasks({ leadership, clock, log, tasks }: LeaderTasksDeps): LeaderTasks {
  const runners = tasks.map((task) => createRunner(task, clock, log));
  let stopListening: (() => void) | null = null;
  let isStopped = false;

  const follow = () => {
    for (const runner of runners) runner.turn(leadership.isLeader);
  };

  return {
    start() {
      if (isStopped || stopListening !== null) return;
      stopListening = leadership.onChange(follow);
      follow();
    },
    stop() {
      isStopped = true;
      stopListening?.();
      for (const runner of runners) runner.turn(false);
    },
  };
}

/** From now to the next run of a task whose last run is over, µs. */
export function untilNext(
  { every, isAligned }: Pick<LeaderTask, 'every' | 'isAligned'>,
  now: Micros,
): Micros {
  return isAligned ? every - (now % every) : every;
}

interface Runner {
  /** Whether the task shall run from now on. */
  turn(on: boolean): void;
}

function createRunner(task: LeaderTask, clock: Clock, log: Log): Runner {
  let isOn = false;
  let isRunning = false;
  /** Switched on while an earlier run was under way: the next one follows it at once. */
  let isDue = false;
  let timer: Timer | null = null;

  const wait = (delay: Micros) => {
    timer = clock.after(delay, () => void run());
  };

  const run = async () => {
    isRunning = true;
    isDue = false;
    try {
      await task.run(() => isOn);
    } catch (error) {
      // What the end of the process or of the leadership cut is done by the next Leader.
      if (isOn) log('leader_task_failed', { task: task.name, error: String(error) });
    }
    isRunning = false;
    if (isOn) wait(isDue ? 0 : untilNext(task, clock.now()));
  };

  return {
    turn(on) {
      if (on === isOn) return;
      isOn = on;
      timer?.cancel();
      if (!on) return;
      if (isRunning) isDue = true;
      else wait(0);
    },
  };
}
