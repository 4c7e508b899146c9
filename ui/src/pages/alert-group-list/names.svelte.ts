/** Names of Routes, Integrations, people and labels for filters: read when they are needed, as far as permitted. */
import { onMount } from 'svelte';
import type { EntityRef, Route, UserRef } from '../../api/shapes.ts';
import type { App } from '../../app/context.ts';
import { follow } from '../../live/stream.svelte.ts';
import { foldQuery, type GroupFilters } from './filters.ts';
import { foldedNames, type LabelNames } from './known-labels.ts';

const MANY = 500;

export interface Names {
  /** Null until they are known. */
  readonly routes: readonly Route[] | null;
  /** They are on their way. */
  readonly awaitsRoutes: boolean;
  readonly integrations: readonly EntityRef[] | null;
  readonly people: readonly UserRef[];
  /** Whether there are more people than are listed: they are found by a part of their name. */
  readonly morePeople: boolean;
  findPeople(q: string): Promise<void>;
  /** Labels of all Alert Groups that the filters last asked for find; none until they are known. */
  readonly labels: LabelNames;
  findLabels(filters: GroupFilters): Promise<void>;
}

/** Call during component initialisation. */
export function createNames(
  app: Pick<App, 'alertGroups' | 'configuration' | 'routes' | 'session' | 'live'>,
): Names {
  let integrations = $state.raw<readonly EntityRef[] | null>(null);
  let people = $state.raw<readonly UserRef[]>([]);
  let morePeople = $state(false);
  let asked = '';
  let labels = $state.raw<LabelNames>(new Map());
  let labelled: GroupFilters | null = null;

  onMount(() => {
    void readRoutes();
    void readIntegrations();
  });
  follow(app.live, 'route', null, () => void readRoutes());

  async function readRoutes() {
    if (app.session.may('routes:read')) await app.routes.read();
  }
  async function readIntegrations() {
    if (!app.session.may('integrations:read')) return;
    const answer = await app.configuration.integrations.list({ cursor: null, limit: MANY });
    if (answer.ok) integrations = answer.value.items;
  }

  return {
    get routes() {
      return app.routes.value?.items ?? null;
    },
    get awaitsRoutes() {
      return app.session.may('routes:read') && app.routes.value === null && app.routes.problem === null;
    },
    get integrations() {
      return integrations;
    },
    get people() {
      return people;
    },
    get morePeople() {
      return morePeople;
    },
    async findPeople(q) {
      asked = q;
      const answer = await app.alertGroups.people(q, { cursor: null, limit: MANY });
      if (!answer.ok || asked !== q) return;
      people = answer.value.items;
      if (q === '') morePeople = answer.value.next_cursor !== null;
    },
    get labels() {
      return labels;
    },
    async findLabels(filters) {
      // Those of other filters may be none of these.
      if (labelled !== filters) labels = new Map();
      labelled = filters;
      const answer = await app.alertGroups.folds(foldQuery(filters, null, [], Date.now()));
      if (answer.ok && labelled === filters) labels = foldedNames(answer.value);
    },
  };
}
