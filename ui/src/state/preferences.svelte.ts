/** What a person chose for this browser: theme, language, shortcuts, rows, attention (ui §1.8, §1.11, §1.12). Kept in local storage. */
import { createStore } from '@xstate/store';
import { mirror } from './resource.svelte.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];
export type Language = 'en' | 'ru';

/** For which new Alert Groups the browser calls a person who looks elsewhere. */
export const ATTENTIONS = ['off', 'urgent', 'routes', 'views', 'all'] as const;
export type Attention = (typeof ATTENTIONS)[number];

export interface PreferencesContext {
  readonly theme: Theme;
  /** Null: the profile's language, else the browser's. */
  readonly language: Language | null;
  readonly shortcuts: boolean;
  /** Lists with low rows. */
  readonly dense: boolean;
  readonly attention: Attention;
  /** Ids of the Routes that the attention `routes` is for. */
  readonly attentionRoutes: readonly string[];
  /** Ids of the saved views that the attention `views` is for. */
  readonly attentionViews: readonly string[];
  readonly sound: boolean;
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
    showLook(root, context);
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

/** As `start.js` does it before the first paint. */
function showLook(root: HTMLElement, { theme, dense }: PreferencesContext): void {
  if (theme === 'system') delete root.dataset.theme;
  else root.dataset.theme = theme;
  root.toggleAttribute('data-dense', dense);
}

function read(storage: Storage): PreferencesContext {
  const stored = readStored(storage);
  return {
    theme: stored.theme === 'light' || stored.theme === 'dark' ? stored.theme : 'system',
    language: stored.language === 'en' || stored.language === 'ru' ? stored.language : null,
    shortcuts: stored.shortcuts !== false,
    dense: stored.dense === true,
    attention: ATTENTIONS.find((each) => each === stored.attention) ?? 'off',
    attentionRoutes: texts(stored.attentionRoutes),
    attentionViews: texts(stored.attentionViews),
    sound: stored.sound === true,
  };
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
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
