/** The one timer behind every relative time: it ticks every 30 s and when the tab comes back (ui §1.7). */
export interface Clock {
  /**
   * Milliseconds since the epoch. Whoever reads it reads it again at each tick; between two ticks it goes on all the
   * same, so that what has just happened does not lie ahead.
   */
  readonly now: number;
  /** The zone of the browser, as of the last tick: asking for it makes a date format. */
  readonly timeZone: string;
  /** Ticks out of turn: for pages that show what is seconds old. */
  refresh(): void;
}

const TICK_MS = 30_000;

export function createClock(page: Document): Clock {
  let now = $state(Date.now());
  let timeZone = $state(zoneOfBrowser());
  const tick = () => {
    now = Date.now();
    timeZone = zoneOfBrowser();
  };
  setInterval(tick, TICK_MS);
  page.addEventListener('visibilitychange', tick);
  return {
    get now() {
      return Math.max(now, Date.now());
    },
    get timeZone() {
      return timeZone;
    },
    refresh: tick,
  };
}

const zoneOfBrowser = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
