/** The composition root: the one place that knows how the parts of the client belong together. */

import { untrack } from 'svelte';
import { createAlertGroupsApi } from '../api/alert-groups.ts';
import { createApiClient, followed } from '../api/client.ts';
import { createConfigurationApi, createLinksApi } from '../api/configuration.ts';
import { fetchOnceEarly } from '../api/early.ts';
import { createOidcApi, createOrganizationApi } from '../api/organization.ts';
import { createAccessApi, createAccountLinksApi, createPeopleApi, createSessionsApi } from '../api/people.ts';
import { createAuditLogApi, createRequestLogApi } from '../api/records.ts';
import type { Items, Page, Route, SavedView } from '../api/shapes.ts';
import { createSystemApi } from '../api/system.ts';
import { chooseLanguage, createI18n } from '../i18n/i18n.svelte.ts';
import { paced } from '../live/hints.ts';
import { createLive } from '../live/stream.svelte.ts';
import { createBulks } from '../pages/alert-group-list/bulk/bulks.svelte.ts';
import { createGroupList } from '../pages/alert-group-list/group-list.svelte.ts';
import { createRouter } from '../router/router.svelte.ts';
import { createClock } from '../state/clock.svelte.ts';
import { createKept, keepShell } from '../state/kept.ts';
import { forgetLooks } from '../state/last-looks.ts';
import { createPreferences } from '../state/preferences.svelte.ts';
import { createResource } from '../state/resource.svelte.ts';
import { createSessionState } from '../state/session.svelte.ts';
import { createToasts } from '../state/toasts.svelte.ts';
import { createAttention, createFiringCount } from './attention.ts';
import type { App, PageCommand, PageCommands } from './context.ts';
import { createDesktop } from './desktop.ts';
import { createFailures } from './failures.ts';

const COUNT_EVERY_MS = 1_000;
const LOOK_EVERY_MS = 2_000;
const KEEP_EVERY_MS = 10_000;
/** As long as a session that nobody uses. */
const KEPT_MS = 12 * 3_600_000;

export async function createApp(view: Window & typeof globalThis): Promise<App> {
  // Browsers list 250 requests: after many calls of the API the files of the page would be missing (keepShell).
  view.performance.setResourceTimingBufferSize(2_000);
  const preferences = createPreferences(view.localStorage, view.document.documentElement);
  const session = createSessionState();
  const timers = {
    set: (run: () => void, ms: number) => view.setTimeout(run, ms),
    clear: (timer: unknown) => view.clearTimeout(timer as number),
  };
  const kept = createKept(view.caches, Date.now);
  const client = createApiClient({
    fetch: fetchOnceEarly(view),
    kept,
    gotKept: (at) => live.shows(at),
    session: session.port,
    isAway: () => live.isAway(),
    timers,
  });
  const sessions = createSessionsApi(client);
  const alertGroups = createAlertGroupsApi(client);
  const configuration = createConfigurationApi(client);
  const requestLog = createRequestLogApi(client);
  const system = createSystemApi(client);
  const lost = (since: number) => live.unanswered(since);
  const organization = createResource(configuration.organization);
  const notices = createResource(followed(system.notices, lost));
  const firing = createFiringCount({ counts: followed(alertGroups.counts, lost) });
  const routes = createResource<Items<Route> | null>(followed(configuration.routes.list, lost));
  const savedViews = createResource<Page<SavedView> | null>(async () => {
    takingOver = takingOver.then(takeOver);
    await takingOver;
    return configuration.savedViews.list();
  });
  const clock = createClock(view.document);
  const groupList = createGroupList(alertGroups, lost);
  const toasts = createToasts(() => (live.away ? i18n.t('problem.notSent') : null));

  async function checkSession(): Promise<boolean> {
    const answer = await sessions.current();
    if (answer.ok) session.read(answer.value);
    return answer.ok && answer.isKept !== true;
  }

  /** One after the other, so that no view is saved twice. */
  let takingOver = Promise.resolve();
  /** What the version before kept in the browser. What fails is tried again with the next read. */
  async function takeOver(): Promise<void> {
    try {
      if (view.localStorage.getItem('tocsin.views') === null) return;
      const { takeOverViews } = await import('../pages/alert-group-list/saved-views/saved-views.ts');
      const { user } = session.active;
      const ids = await takeOverViews(view.localStorage, configuration.savedViews, user.id);
      const { attentionViews } = preferences.current;
      preferences.change({ attentionViews: attentionViews.map((name) => ids.get(name) ?? name) });
    } catch {
      // Closed storage, or the code did not arrive.
    }
  }

  /** What the list leads to is there when it is needed, also when the line is gone by then. */
  async function loadAhead(): Promise<void> {
    const parts: readonly (() => Promise<unknown>)[] = [
      () => i18n.complete(),
      () => import('../pages/alert-group/AlertGroupPage.svelte'),
      () => import('../pages/alert-group-list/FilterPanel.svelte'),
      () => import('../pages/alert-group-list/FoldRows.svelte'),
      () => import('../pages/alert-group-list/ListEmpty.svelte'),
      () => import('../pages/alert-group-list/saved-views/SavedViewsPanel.svelte'),
      () => import('../pages/commands/dialogs.ts'),
      () => import('../shell/KeyboardHelp.svelte'),
      () => import('../shell/ProfilePanel.svelte'),
    ];
    const loading: Promise<unknown>[] = [];
    for (const load of parts) {
      // What fails is loaded again with the page that needs it.
      loading.push(load().catch(() => undefined));
      // Each in a task of its own: what somebody presses meanwhile is not kept waiting.
      await new Promise<void>((resolve) => timers.set(resolve, 0));
    }
    await Promise.all(loading);
    isLoaded = true;
    await keepShell(view);
  }

  /** Everything that a page needs was loaded. */
  let isLoaded = $state(false);
  /** Keeps the list as it is shown, for a start without a line (ui §1.4). */
  function keepList(): void {
    const { current } = session;
    const { first } = groupList;
    if (current.phase !== 'active' || first === null || live.staleSince !== null) return;
    const at = live.trueUntil;
    const { user, expires_at } = current.session;
    const answers = {
      // Its token is for changes, which need an answer of the service first.
      '/sessions/current': { ...current.session, csrf_token: '' },
      '/organization': organization.value,
      '/routes': routes.value,
      '/saved-views?limit=200': savedViews.value,
      [first.name]: first.page,
    };
    kept.keep(first.name, {
      ...{ userId: user.id, at, until: Math.min(Date.parse(expires_at), at + KEPT_MS) },
      answers: Object.fromEntries(Object.entries(answers).filter(([, body]) => body !== null)),
    });
  }

  function readKept(): void {
    void checkSession();
    void organization.read();
    if (session.may('alert-groups:read')) void savedViews.read();
  }

  const language = () => {
    const context = session.current;
    const profile = 'session' in context ? context.session.user.language : null;
    return chooseLanguage(preferences.current.language, profile, view.navigator.languages);
  };

  const i18n = await createI18n(view.document.documentElement, language());
  const bulks = createBulks({ alertGroups, groupList, session, toasts, i18n });
  const live = createLive({ view, timers, checkSession, readKept, watchReads: client.watchReads });
  const router = createRouter(view);
  const desktop = createDesktop(view, i18n);
  let unwatchedViews = $state.raw<readonly string[]>([]);
  const attention = createAttention({
    api: { list: followed(alertGroups.list, lost) },
    choice: () => preferences.current,
    views: () => savedViews.value?.items ?? [],
    isHidden: () => view.document.visibilityState === 'hidden',
    call(news) {
      desktop.show(news, (path) => void router.navigate(path));
      if (preferences.current.sound) desktop.beep();
    },
    refused: (views) => (unwatchedViews = views),
  });

  $effect.root(() => {
    $effect(() => void i18n.use(language()));
    // What the next steps need comes after the frame that shows the rows.
    const hasRows = $derived(groupList.items !== null);
    $effect(() => {
      if (!hasRows) return;
      const frame = view.requestAnimationFrame(() => timers.set(() => void loadAhead(), 0));
      return () => view.cancelAnimationFrame(frame);
    });

    const signedIn = $derived(session.current.phase === 'active');
    const countsGroups = $derived(session.may('alert-groups:read'));
    // Somebody else signed in in another tab: nothing that was shown or typed here is theirs.
    let shownFor: string | null = null;
    $effect(() => {
      const context = session.current;
      if (context.phase === 'signed_out') {
        shownFor = null;
        kept.forget();
        if (context.byChoice) forgetLooks(view.localStorage);
      }
      if ('session' in context) kept.ownedBy(context.session.user.id);
      if (context.phase !== 'active') return;
      const { id } = context.session.user;
      if (shownFor !== null && shownFor !== id) {
        // Until then nothing of theirs is kept as somebody else's.
        groupList.forget();
        view.location.reload();
      }
      shownFor = id;
    });
    const keep = paced(keepList, KEEP_EVERY_MS);
    // The last moment that a phone leaves.
    view.document.addEventListener('visibilitychange', () => {
      if (isLoaded && view.document.hidden) keepList();
    });
    $effect(() => {
      void [groupList.first, organization.value, routes.value, savedViews.value, live.staleSince];
      if (isLoaded && signedIn) untrack(keep);
    });
    $effect(() => {
      if (signedIn) live.start(session.active.csrf_token);
    });
    $effect(() => {
      if (!signedIn) return;
      void organization.read();
      void notices.read();
      const leave = [
        live.on('organization', null, () => void organization.read()),
        live.on('system-notices', null, () => void notices.read()),
      ];
      return () => {
        for (const stop of leave) stop();
        live.stop();
        groupList.forget();
        routes.put(null);
        bulks.forget();
        toasts.forgetUndos();
      };
    });
    $effect(() => {
      if (!countsGroups) return;
      void savedViews.read();
      // Nothing tells of a change of views; this asks again for what could not be read.
      const read = paced(() => void (savedViews.value === null && savedViews.read()), COUNT_EVERY_MS);
      const leave = live.on('alert-groups', null, read);
      return () => {
        leave();
        savedViews.put(null);
      };
    });
    $effect(() => {
      if (!countsGroups) return;
      const count = paced(() => void firing.read(), COUNT_EVERY_MS);
      count();
      const leave = [live.on('alert-groups', null, count), live.on('alert-group', null, count)];
      return () => {
        for (const stop of leave) stop();
      };
    });
    const isStale = $derived(live.staleSince !== null);
    $effect(() => {
      desktop.mark(isStale ? null : countsGroups ? (firing.value ?? 0) : 0);
      view.document.documentElement.toggleAttribute('data-stale', isStale);
    });

    const hasViews = $derived(savedViews.value !== null);
    const chosen = $derived(preferences.current.attention);
    const chosenViews = $derived(preferences.current.attentionViews);
    const paysAttention = $derived(countsGroups && chosen !== 'off' && (chosen !== 'views' || hasViews));
    $effect(() => {
      if (!paysAttention) return;
      // Another choice begins anew: what fires by then is no news. The other preferences change nothing here.
      void [chosen, chosenViews];
      attention.forget();
      const look = paced(() => void attention.look(), LOOK_EVERY_MS);
      // Not what it reads: saved views that arrive would make what fires by then no news.
      untrack(look);
      const leave = [live.on('alert-groups', null, look), live.on('alert-group', null, look)];
      return () => {
        for (const stop of leave) stop();
      };
    });
  });

  return {
    router,
    live,
    i18n,
    preferences,
    session,
    toasts,
    clock,
    sessions,
    alertGroups,
    configuration,
    access: createAccessApi(client),
    settings: createOrganizationApi(client),
    oidc: createOidcApi(client),
    links: createLinksApi(client),
    people: createPeopleApi(client),
    accountLinks: createAccountLinksApi(client),
    client,
    requestLog,
    auditLog: createAuditLogApi(client),
    system,
    organization,
    notices,
    routes,
    savedViews,
    groupList,
    bulks,
    firing,
    desktop,
    get unwatchedViews() {
      return unwatchedViews;
    },
    failures: createFailures(i18n),
    pageCommands: createPageCommands(),
    get timeZone() {
      const context = session.current;
      const profile = 'session' in context ? context.session.user.time_zone : null;
      return profile ?? clock.timeZone;
    },
  };
}

function createPageCommands(): PageCommands {
  let offered = $state.raw<(() => readonly PageCommand[]) | null>(null);
  return {
    get current() {
      return offered?.() ?? [];
    },
    offer(commands) {
      offered = commands;
      return () => {
        // The next page may have come before this one left.
        if (offered === commands) offered = null;
      };
    },
  };
}
