/** How this browser calls somebody: notifications of the desktop, a sound, a dot on its icon (ui §1.12). */
import type { AlertGroup } from '../api/shapes.ts';
import type { I18n } from '../i18n/i18n.svelte.ts';

/** More than these are told in one. */
const MOST_AT_ONCE = 3;
/** Tag of what tells of several: a newer one takes its place, and is told as well. */
const SEVERAL = 'tocsin';
const TONE_HZ = 880;
/** What browsers may take for a press. */
const PRESSES = ['pointerdown', 'pointerup', 'keydown'] as const;
const TONE_SECONDS = 0.25;
const TONE_LOUDNESS = 0.2;
/** Colours of the ground of the icon, as its address has them: as it is, and while nobody knows. */
const GROUND = '%234b44d6';
const STALE_GROUND = '%236b6d7c';

export type Permission = NotificationPermission | 'unsupported';

export interface Desktop {
  readonly permission: Permission;
  /** Address of the mark of Tocsin, which takes no request: the icon that the page came with. */
  readonly icon: string;
  /** Asks the person, where they have not decided yet. */
  ask(): Promise<Permission>;
  /** @param open goes to a page of the app when the person presses what is shown */
  show(news: readonly AlertGroup[], open: (path: string) => void): void;
  beep(): void;
  /** What the icon of the tab says: how many fire, gray while nobody knows. @param firing null: unknown */
  mark(firing: number | null): void;
}

export function createDesktop(view: Window & typeof globalThis, i18n: I18n): Desktop {
  const isSupported = 'Notification' in view;
  const icon = view.document.querySelector('link[rel="icon"]');
  const quiet = icon?.getAttribute('href') ?? '';

  /** Of several tabs the one tag makes one notification. Its sound is ours, for those who chose one. */
  function notify(title: string, body: string, tag: string, go: () => void): void {
    try {
      const options = { body, tag, renotify: tag === SEVERAL, silent: true, icon: '/tocsin-mark-256.png' };
      const shown = new view.Notification(title, options);
      shown.onclick = () => {
        view.focus();
        shown.close();
        go();
      };
    } catch {
      // Browsers of phones let only a service worker show one; the sound and the icon remain.
    }
  }

  /**
   * Of the tone that is on its way. After a reload browsers hold it back until somebody presses something in the page,
   * and want to be asked again then: it sounds late rather than never, and one of them is enough.
   */
  let sounding: AudioContext | null = null;

  const permissionNow = (): Permission => (isSupported ? view.Notification.permission : 'unsupported');

  return {
    icon: quiet,
    get permission() {
      return permissionNow();
    },
    ask: async () => (isSupported ? view.Notification.requestPermission() : 'unsupported'),
    show(news, open) {
      if (permissionNow() !== 'granted') return;
      if (news.length > MOST_AT_ONCE) {
        const text = i18n.t('attention.several', { count: news.length });
        notify(text, '', SEVERAL, () => open('/alert-groups'));
        return;
      }
      for (const group of news) {
        const severity = i18n.word('severity', group.severity_level);
        const path = `/alert-groups/${group.id}`;
        // One of before that still lies there would be replaced without a word: each call changed the group.
        const tag = `${group.id} ${group.last_changed_at}`;
        notify(`#${group.number} ${group.title}`, `${severity} · ${group.route.name}`, tag, () => open(path));
      }
    },
    beep() {
      if (sounding !== null) return void sounding.resume();
      const audio = new view.AudioContext();
      sounding = audio;
      const volume = new view.GainNode(audio, { gain: TONE_LOUDNESS });
      const tone = new view.OscillatorNode(audio, { frequency: TONE_HZ });
      tone.connect(volume).connect(audio.destination);
      const over = new AbortController();
      // Not every press counts (Escape, the beginning of a touch), so they are heard until the tone has sounded.
      for (const press of PRESSES)
        view.addEventListener(press, () => void audio.resume(), { signal: over.signal });
      tone.onended = () => {
        over.abort();
        sounding = null;
        void audio.close();
      };
      tone.start();
      tone.stop(audio.currentTime + TONE_SECONDS);
      void audio.resume();
    },
    mark(firing) {
      icon?.setAttribute('href', iconOf(firing, quiet));
    },
  };
}

/** Height of the digits by their number, for a square of 64. */
const DIGITS_HIGH = [0, 46, 38, 28];

/**
 * A number fills the icon: beside the bell nobody could read it. None of them takes a request, which a bad line is slow
 * to answer and one that is gone never does.
 * @param quiet address of the icon that the page came with
 */
export function iconOf(firing: number | null, quiet: string): string {
  if (firing === null) return quiet.replaceAll(GROUND, STALE_GROUND);
  if (firing === 0) return quiet;
  const text = firing > 99 ? '99+' : String(firing);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">
<rect width="64" height="64" rx="15" fill="#be1860"/>
<text x="32" y="33" fill="#fff" font-family="system-ui,sans-serif" font-weight="700"
 font-size="${DIGITS_HIGH[text.length]}" text-anchor="middle" dominant-baseline="central">${text}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
