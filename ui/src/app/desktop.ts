/** How this browser calls somebody: notifications of the desktop, a sound, a dot on its icon (ui §1.12). */
import type { AlertGroup } from '../api/shapes.ts';
import type { I18n } from '../i18n/i18n.svelte.ts';

/** More than these are told in one. */
const MOST_AT_ONCE = 3;
const TONE_HZ = 880;
const TONE_SECONDS = 0.25;
const TONE_LOUDNESS = 0.2;

export type Permission = NotificationPermission | 'unsupported';

export interface Desktop {
  readonly permission: Permission;
  /** Asks the person, where they have not decided yet. */
  ask(): Promise<Permission>;
  /** @param open goes to a page of the app when the person presses what is shown */
  show(news: readonly AlertGroup[], open: (path: string) => void): void;
  beep(): void;
  /** What the icon of the tab says: a dot while something fires, gray while nobody knows. */
  mark(state: 'quiet' | 'firing' | 'stale'): void;
}

export function createDesktop(view: Window & typeof globalThis, i18n: I18n): Desktop {
  const isSupported = 'Notification' in view;

  /** Of several tabs the one tag makes one notification. */
  function notify(title: string, body: string, tag: string, go: () => void): void {
    try {
      const shown = new view.Notification(title, { body, tag, icon: '/tocsin-mark-256.png' });
      shown.onclick = () => {
        view.focus();
        shown.close();
        go();
      };
    } catch {
      // Browsers of phones let only a service worker show one; the sound and the icon remain.
    }
  }

  const permissionNow = (): Permission => (isSupported ? view.Notification.permission : 'unsupported');

  return {
    get permission() {
      return permissionNow();
    },
    ask: async () => (isSupported ? view.Notification.requestPermission() : 'unsupported'),
    show(news, open) {
      if (permissionNow() !== 'granted') return;
      if (news.length > MOST_AT_ONCE) {
        const text = i18n.t('attention.several', { count: news.length });
        notify(text, '', 'tocsin', () => open('/alert-groups'));
        return;
      }
      for (const group of news) {
        const severity = i18n.word('severity', group.severity_level);
        const path = `/alert-groups/${group.id}`;
        notify(`#${group.number} ${group.title}`, `${severity} · ${group.route.name}`, group.id, () =>
          open(path),
        );
      }
    },
    beep() {
      const audio = new view.AudioContext();
      const volume = new view.GainNode(audio, { gain: TONE_LOUDNESS });
      const tone = new view.OscillatorNode(audio, { frequency: TONE_HZ });
      tone.connect(volume).connect(audio.destination);
      tone.onended = () => void audio.close();
      tone.start();
      tone.stop(audio.currentTime + TONE_SECONDS);
    },
    mark(state) {
      const icon = view.document.querySelector<HTMLLinkElement>('link[rel="icon"]');
      if (icon) icon.href = state === 'quiet' ? '/favicon.svg' : `/favicon-${state}.svg`;
    },
  };
}
