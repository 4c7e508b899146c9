/** What a person chose for this browser: theme, language, shortcuts (ui §1.8, §1.11). Kept in local storage. */
import { createStore } from '@xstate/store';
import { mirror } from './mirror.svelte.ts';

export type Theme = 'system' | 'light' | 'dark';
export type Language = 'en' | 'ru';

export interface PreferencesContext {
  readonly theme: Theme;
  /** Null: the profile's language, else the browser's. */
  readonly language: Language | null;
  readonly shortcuts: boolean;
}

const KEY = 'tocsin.preferences';

export type Preferences = ReturnType<typeof createPreferences>;

export function createPreferences(storage: Storage, root: HTMLElement) {
  const store = createStore({
    context: read(storage),
    on: {
      changed: (context, event: { change: Partial<PreferencesContext> }) => ({ ...context, ...event.change }),
    },
  });
  const view = mirror(store);

  store.subscribe(({ context }) => {
    showTheme(root, context.theme);
    try {
      storage.setItem(KEY, JSON.stringify(context));
    } catch {
      // A full or closed storage only means that the choice ends with the tab.
    }
  });

  return {
    get current() {
      return view.current;
    },
    change: (change: Partial<PreferencesContext>) => store.trigger.changed({ change }),
  };
}

function showTheme(root: HTMLElement, theme: Theme): void {
  if (theme === 'system') delete root.dataset.theme;
  else root.dataset.theme = theme;
}

function read(storage: Storage): PreferencesContext {
  const stored = readStored(storage);
  return {
    theme: stored.theme === 'light' || stored.theme === 'dark' ? stored.theme : 'system',
    language: stored.language === 'en' || stored.language === 'ru' ? stored.language : null,
    shortcuts: stored.shortcuts !== false,
  };
}

function readStored(storage: Storage): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(storage.getItem(KEY) ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    // Closed storage or foreign content: start from the defaults.
    return {};
  }
}
