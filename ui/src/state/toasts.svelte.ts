/** Short messages about what just happened; also announced to screen readers (ui §1.5, §1.10). */
import { createStore } from '@xstate/store';
import { mirror } from './resource.svelte.ts';

export interface Toast {
  readonly id: number;
  readonly tone: 'done' | 'refused';
  readonly text: string;
  readonly link: { readonly href: string; readonly text: string } | null;
  /** What it is about, so that a newer message about the same takes its place. */
  readonly about: string | null;
  /** The text of the button that takes back what was done; null without one. */
  readonly undo: string | null;
  /** Whether that is on its way. */
  readonly busy: boolean;
}

export interface Undo {
  readonly text: string;
  /** Takes back what was done, and says what became of it. */
  run(): Promise<void>;
}

const SHOWN_MS = { done: 6_000, refused: 10_000, undo: 10_000 } as const;
/** Messages without an Undo that are shown, the newest. */
const MOST_PLAIN = 4;
const PLAIN = { link: null, about: null, undo: null, busy: false } as const;

export type Toasts = ReturnType<typeof createToasts>;

/** An Undo stays for its time, whatever comes after it. */
function withinBound(items: readonly Toast[]): readonly Toast[] {
  const plain = items.filter(({ undo }) => undo === null).slice(-MOST_PLAIN);
  return items.filter((toast) => toast.undo !== null || plain.includes(toast));
}

/** @param whyNot says why nothing can be sent now; null while it can */
export function createToasts(whyNot: () => string | null) {
  const store = createStore({
    context: { items: [] as readonly Toast[], nextId: 1 },
    on: {
      shown: (context, event: { toast: Omit<Toast, 'id'> }) => ({
        items: withinBound([
          ...context.items.filter(({ about }) => about === null || about !== event.toast.about),
          { ...event.toast, id: context.nextId },
        ]),
        nextId: context.nextId + 1,
      }),
      undoing: (context, event: { id: number }) => ({
        ...context,
        items: context.items.map((toast) => (toast.id === event.id ? { ...toast, busy: true } : toast)),
      }),
      closed: (context, event: { id: number }) => ({
        ...context,
        items: context.items.filter((toast) => toast.id !== event.id),
      }),
    },
  });
  const view = mirror(store);
  const items = () => store.getSnapshot().context.items;
  const timers = new Map<number, ReturnType<typeof setTimeout>>();
  const undos = new Map<number, Undo['run']>();
  /** Messages up to this one are about what was done before something that has no way back. */
  let settled = 0;

  function show(toast: Omit<Toast, 'id'>): number {
    const id = store.getSnapshot().context.nextId;
    store.trigger.shown({ toast });
    release(id);
    return id;
  }

  function close(id: number): void {
    hold(id);
    timers.delete(id);
    undos.delete(id);
    store.trigger.closed({ id });
  }

  /** Keeps a message, because it has the focus or the pointer. */
  function hold(id: number): void {
    clearTimeout(timers.get(id));
  }

  /** Its time begins anew. */
  function release(id: number): void {
    hold(id);
    const toast = items().find((each) => each.id === id);
    if (toast === undefined || toast.busy) return;
    const ms = SHOWN_MS[toast.undo === null ? toast.tone : 'undo'];
    timers.set(
      id,
      setTimeout(() => close(id), ms),
    );
  }

  /** A second press does nothing. While nothing can be sent it says so, and is there for another try. */
  async function undo(id: number): Promise<void> {
    const run = undos.get(id);
    if (run === undefined) return;
    const refusal = whyNot();
    if (refusal !== null) {
      // One for all presses.
      show({ ...PLAIN, tone: 'refused', text: refusal, about: 'not-sent' });
      return;
    }
    undos.delete(id);
    hold(id);
    store.trigger.undoing({ id });
    await run();
    close(id);
  }

  return {
    get items() {
      return view.current.items;
    },
    done: (text: string, about: string | null = null) => void show({ ...PLAIN, tone: 'done', text, about }),
    refused: (text: string, link: Toast['link'] = null) =>
      void show({ ...PLAIN, tone: 'refused', text, link }),
    /**
     * A Command was done, or something else that can be taken back.
     * @param about e.g. the Alert Group, or null for several
     * @param undo null when there is no way back
     */
    command(text: string, about: string | null, undo: Undo | null): void {
      const id = show({ ...PLAIN, tone: 'done', text, about, undo: undo?.text ?? null });
      if (undo === null) settled = id;
      else undos.set(id, undo.run);
    },
    undo,
    /** Takes back the newest Command, unless that has no way back. @returns whether there is one to take back */
    undoNewest(): boolean {
      const newest = items().findLast((toast) => toast.undo !== null && toast.id > settled);
      if (newest !== undefined) void undo(newest.id);
      return newest !== undefined;
    },
    /** Whoever signs in next must not take back, in their own name, what somebody else did. */
    forgetUndos(): void {
      for (const { id, undo } of items()) if (undo !== null) close(id);
    },
    hold,
    release,
    close,
  };
}
