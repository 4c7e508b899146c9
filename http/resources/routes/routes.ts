/** Routes: list, create, read, update, delete, reorder, profiles (routes §7, api §11). */
import type { RouteTemplateCheck } from '../../../actors/previews/template-checks.ts';
import { ROUTE_PROFILES } from '../../../actors/route/policy.ts';
import type { RouteList, RouteStore, StoredRoute } from '../../../actors/route/ports.ts';
import { type Answer, authorOf, type Call, type Operation, operation } from '../../operation.ts';
import { type FieldError, invalid, preconditionFailed, refuse } from '../../problem.ts';
import { itemsOf } from '../../schema/shapes.ts';
import { configurationOperations, NAME_REFUSAL } from '../configuration.ts';
import { changedTemplates, routeErrors, routeFields, templateFaultErrors } from './checks.ts';
import {
  announcing,
  DEFAULT_IMMUTABLE,
  IS_DEFAULT,
  type RouteAnnouncement,
  RouteInput,
  RouteOrderInput,
  RouteProfileShape,
  RouteShape,
  routeBody,
} from './shapes.ts';

export interface RouteOperationsDeps extends RouteAnnouncement {
  readonly store: RouteStore;
  /** Parses templates and tries them on what the Route took lately. */
  readonly checkTemplates: RouteTemplateCheck;
  /** Makes the engine look into the inbox: a change may concern the Route's actor. */
  readonly poke: () => void;
}

const OF_LIST = {
  description: 'The Routes in order',
  schema: itemsOf(RouteShape),
  etag: true,
} as const;

export function routeOperations(deps: RouteOperationsDeps): readonly Operation[] {
  const { store } = deps;
  const announce = announcing(deps);

  return [
    operation({
      id: 'listRoutes',
      method: 'GET',
      path: '/routes',
      tag: 'Routes',
      summary: 'List Routes in evaluation order',
      description:
        'The first that matches takes an Alert; the Default route comes last. The `ETag` is that of the order.',
      needs: 'routes:read',
      answers: { 200: OF_LIST },
      handle: async () => listAnswer(await store.list()),
    }),

    ...configurationOperations({
      names: ['Route', 'Routes'],
      tag: 'Routes',
      path: '/routes',
      id: ['route_id', 'RT'],
      noun: 'Route',
      words: {
        create: [
          'Create a Route directly before the Default route',
          'Open Alert Groups stay with their Route.',
        ],
        get: ['Read a Route', 'With its Destinations and what is wrong.'],
        update: ['Update a Route', 'All fields are replaced. The Default route takes no Matchers.'],
        delete: [
          'Delete a Route that has no open Alert Groups',
          'Move its open Alert Groups first. The Default route cannot be deleted.',
        ],
      },
      shape: RouteShape,
      input: RouteInput,
      refusals: {
        create: [NAME_REFUSAL],
        update: [NAME_REFUSAL],
        delete: [DEFAULT_IMMUTABLE, [409, 'route-has-open-alert-groups', 'route-has-open-alert-groups']],
      },
      body: routeBody,
      read: (id) => store.read(id),
      async create(call) {
        const faults = await templateFaults(deps, call, null);
        const errors = [...routeErrors(call.body, null, call.directory), ...faults];
        if (errors.length > 0) return { refuse: invalid(errors) };
        const created = await store.create(routeFields(call.body, null), authorOf(call));
        if (created === 'name_taken') return created;
        await announce(created.id);
        return { saved: created };
      },
      async update(call, id) {
        const faults = await templateFaults(deps, call, await store.read(id));
        const update = await store.update(id, (current) => decide(call, current, faults), authorOf(call));
        if (update.outcome === 'refused') return { refuse: update.refusal };
        if (update.outcome === 'saved') {
          await announce(id);
          deps.poke();
        }
        return 'route' in update ? { saved: update.route } : update.outcome;
      },
      async remove(call, id, isCurrent) {
        const removal = await store.remove(id, isCurrent, authorOf(call));
        switch (removal.outcome) {
          case 'default_route':
            return { refuse: IS_DEFAULT };
          case 'has_open_alert_groups':
            return { refuse: hasOpenAlertGroups(removal.count) };
          case 'removed':
            await announce(id);
            deps.poke();
            return removal.outcome;
          default:
            return removal.outcome;
        }
      },
    }),

    operation({
      id: 'reorderRoutes',
      method: 'PUT',
      path: '/route-order',
      tag: 'Routes',
      summary: 'Put all Routes but the Default into a new order',
      description: 'Needs the `ETag` of the list.',
      needs: 'routes:write',
      ifMatch: 'required',
      body: RouteOrderInput,
      answers: { 200: OF_LIST },
      refusals: [DEFAULT_IMMUTABLE],
      async handle(call) {
        const isCurrent = (version: number) => call.ifMatch?.matches(version) ?? false;
        const reordering = await store.reorder(call.body.route_ids, isCurrent, authorOf(call));
        switch (reordering.outcome) {
          case 'default_route':
            return IS_DEFAULT;
          case 'stale':
            return preconditionFailed();
          case 'set_mismatch':
            return SET_MISMATCH;
          case 'reordered':
            await announce(null);
            return listAnswer(reordering.list);
          case 'unchanged':
            return listAnswer(reordering.list);
        }
      },
    }),

    operation({
      id: 'listRouteProfiles',
      method: 'GET',
      path: '/route-profiles',
      tag: 'Routes',
      summary: 'List the starting sets for a new Route',
      description: 'Values to begin a new Route with; nothing refers to them later.',
      needs: 'routes:read',
      answers: { 200: { description: 'On-call and Informational', schema: itemsOf(RouteProfileShape) } },
      handle: async () => ({ status: 200, body: { items: ROUTE_PROFILES } }),
    }),
  ];
}

function listAnswer({ version, routes }: RouteList) {
  return { status: 200, body: { items: routes.map(routeBody) }, etag: version };
}

/** What is wrong with templates that a save would change: tried before the Route is locked, since it takes a while. */
async function templateFaults(
  { checkTemplates }: Pick<RouteOperationsDeps, 'checkTemplates'>,
  call: Call<unknown, RouteInput>,
  current: StoredRoute | null,
): Promise<readonly FieldError[]> {
  const changed = changedTemplates(call.body.policy, current?.fields.policy ?? null);
  if (Object.keys(changed).length === 0) return [];
  return templateFaultErrors(await checkTemplates(changed, current?.id ?? null, call));
}

/** Stale before meaning (routes §7). */
function decide(call: Call<unknown, RouteInput>, current: StoredRoute, faults: readonly FieldError[]) {
  if (!call.ifMatch?.matches(current.version)) return { refuse: preconditionFailed() };
  const errors = [...routeErrors(call.body, current, call.directory), ...faults];
  return errors.length > 0 ? { refuse: invalid(errors) } : { save: routeFields(call.body, current) };
}

const SET_MISMATCH = invalid([
  {
    pointer: '/route_ids',
    code: 'route_set_mismatch',
    detail: 'Name every Route except the Default route, each once.',
  },
]);

function hasOpenAlertGroups(count: number): Answer {
  return refuse({
    status: 409,
    type: 'route-has-open-alert-groups',
    detail: 'Resolve its open Alert Groups, or move them to the Default route, and try again.',
    openAlertGroupCount: count,
  });
}
