/** Short messages about what just happened; also announced to screen readers (ui §1.5, §1.10). */
import { createStore } from '@xstate/store';
import { mirror } from './resource.svelte.ts';

export interface Toast {
  readonly id: number;
  readonly tone: 'done' | 'refused';
  readonly text: string;
  readonly link: { readonly href: string; readonly text: string } | null;
}

const SHOWN_MS = { done: 6_000, refused: 10_000 } as const;

export type Toasts = ReturnType<typeof createToasts>;

export function createToasts() {
  const store = createStore({
    context: { items: [] as readonly Toast[], nextId: 1 },
    on: {
      shown: (context, event: { toast: Omit<Toast, 'id'> }) => ({
        items: [...context.items.slice(-3), { ...event.toast, id: context.nextId }],
        nextId: context.nextId + 1,
      }),
      closed: (context, event: { id: number }) => ({
        ...context,
        items: context.items.filter((toast) => toast.id !== event.id),
      }),
    },
  });
  const view = mirror(store);

  function show(toast: Omit<Toast, 'id'>): void {
    const id = store.getSnapshot().context.nextId;
    store.trigger.shown({ toast });
    setTimeout(() => store.trigger.closed({ id }), SHOWN_MS[toast.tone]);
  }

  return {
    get items() {
      return view.current.items;
    },
    done: (text: string, link: Toast['link'] = null) => show({ tone: 'done', text, link }),
    refused: (text: string, link: Toast['link'] = null) => show({ tone: 'refused', text, link }),
    close: (id: number) => store.trigger.closed({ id }),
  };
}
