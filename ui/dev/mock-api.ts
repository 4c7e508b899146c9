/** Answers API requests from the mock data, as far as the UI asks today. */

import type { BridgeInput, DestinationInput, TemplatePreviewInput } from '../src/api/configuration.ts';
import type {
  AlertGroup,
  Destination,
  DestinationRef,
  Integration,
  IntegrationInput,
  ProxyConfig,
  RequestTemplate,
  Route,
  RouteInput,
  WebhookInput,
} from '../src/api/shapes.ts';
import { mockAccess } from './mock-access.ts';
import { mockAccountLinks } from './mock-account-links.ts';
import { mockAuditLog } from './mock-audit.ts';
import {
  ADA,
  allowedCommands,
  createMockData,
  type MockData,
  makeGroup,
  makeIntegration,
  makeRoute,
  mockId,
  ON_CALL,
  PEOPLE,
} from './mock-data.ts';
import { MOCK_LINK_RULES, MOCK_LOOKUP_TABLES, mockTemplatePreview } from './mock-links.ts';
import { MOCK_CHANNEL, MOCK_CHECK, MOCK_CONNECTION, MOCK_PREVIEW, MOCK_TEST } from './mock-messengers.ts';
import { mockOidc } from './mock-oidc.ts';
import { mockPeople } from './mock-people.ts';
import { mockRequests } from './mock-requests.ts';
import {
  mockActor,
  mockAlerts,
  mockPreview,
  mockSenderRoutes,
  mockSnapshots,
  mockSuggestions,
} from './mock-sources.ts';
import { mockStatistics } from './mock-statistics.ts';
import { rotatingKeyring } from './mock-status.ts';

export interface MockRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
  readonly csrf: string | null;
  readonly ifMatch: string | null;
}

export interface MockAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly etag?: string;
}

interface Hint {
  readonly type: string;
  readonly id: string | null;
}

type Handler = (request: MockRequest, params: readonly string[]) => MockAnswer;

const ok = (body: unknown, etag?: string): MockAnswer =>
  etag === undefined ? { status: 200, body } : { status: 200, body, etag };
const problem = (status: number, type: string, more: Record<string, unknown> = {}): MockAnswer => ({
  status,
  body: { type: `https://tocsin.invalid/problems/${type}`, title: type, status, ...more },
});
const notFound = () => problem(404, 'not-found');
const oneOf = <Item extends { readonly id: string; readonly etag: string }>(
  items: readonly Item[],
  id: string | undefined,
) => {
  const item = items.find((each) => each.id === id);
  return item === undefined ? notFound() : ok(item, item.etag);
};
const invalid = (pointer: string, code: string, detail = `Refused: ${code}.`) =>
  problem(422, 'validation-failed', { errors: [{ pointer, code, detail }] });

export type MockApi = ReturnType<typeof createMockApi>;

export function createMockApi(data: MockData = createMockData()) {
  const listeners = new Set<(hint: Hint) => void>();
  const failures = new Map<string, MockAnswer>();
  let signedIn = true;
  let suggestions = mockSuggestions();
  const hint = (type: string, id: string | null) => {
    for (const listener of listeners) listener({ type, id });
  };
  const next = () => {
    data.sequence += 1;
    return data.sequence;
  };
  const bump = (etag: string) => `"${Number(etag.slice(1, -1)) + 1}"`;
  const references = (ids: readonly string[]): DestinationRef[] =>
    data.destinations
      .filter((destination) => ids.includes(destination.id))
      .map(({ id, name, type, health }) => ({ id, name, type, health }));

  function page<Item>(items: readonly Item[], query: URLSearchParams): MockAnswer {
    const from = Number(query.get('cursor') ?? 0);
    const limit = Number(query.get('limit') ?? 50);
    const more = from + limit < items.length;
    return ok({ items: items.slice(from, from + limit), next_cursor: more ? String(from + limit) : null });
  }

  function matching(query: URLSearchParams): AlertGroup[] {
    const q = query.get('q')?.toLowerCase() ?? '';
    return data.groups.filter((group) => {
      if (query.has('number')) return group.number === Number(query.get('number'));
      if (q !== '' && !`${group.title} ${group.summary}`.toLowerCase().includes(q)) return false;
      if (query.has('severity') && !query.getAll('severity').includes(group.severity_level)) return false;
      if (query.has('route') && !query.getAll('route').includes(group.route.id)) return false;
      if (query.get('urgent') === 'true' && !group.urgent) return false;
      if (query.get('unclaimed') === 'true' && !group.unclaimed) return false;
      if (query.get('owner') === 'me' && group.owner?.id !== ADA.id) return false;
      if (query.get('owner') === 'none' && group.owner !== null) return false;
      return query.getAll('label').every((text) => {
        const [, name = '', op = '', value = ''] = /^(\w+)(!?=)"(.*)"$/.exec(text) ?? [];
        return (group.common_labels[name] === value) === (op === '=');
      });
    });
  }

  function change(id: string, to: Partial<AlertGroup>): AlertGroup {
    const at = data.groups.findIndex((group) => group.id === id);
    const changed = { ...data.groups[at]!, last_changed_at: new Date().toISOString(), ...to };
    const group = { ...changed, allowed_commands: allowedCommands(changed) };
    data.groups[at] = group;
    hint('alert-group', id);
    return group;
  }

  function run(command: string, group: AlertGroup, body: unknown): MockAnswer | AlertGroup {
    const open = group.status !== 'resolved';
    const refused = (code: string) => problem(409, 'command-refused', { code });
    const awake = { snooze_until: null, snoozed_by: null, next_notice: null };
    const me = { ...ADA, kind: 'user' } as const;
    switch (command) {
      case 'acknowledge':
        return open
          ? change(group.id, { status: 'acknowledged', owner: ADA, unclaimed: false, ...awake })
          : refused('already_resolved');
      case 'still-on-it':
        return group.allowed_commands.includes('still_on_it')
          ? { ...change(group.id, {}), allowed_commands: ['unacknowledge', 'resolve', 'snooze', 'add_note'] }
          : refused('no_reminder_pending');
      case 'unacknowledge':
        return group.status === 'acknowledged'
          ? change(group.id, { status: 'firing', owner: null })
          : refused('not_acknowledged');
      case 'resolve': {
        const resolution = { by: 'user', actor: me, reason: null, reason_text: null } as const;
        const end = {
          status: 'resolved',
          owner: null,
          resolved_at: new Date().toISOString(),
          resolution,
        } as const;
        return open ? change(group.id, { ...awake, ...end }) : refused('already_resolved');
      }
      case 'unresolve':
        return open
          ? refused('not_resolved')
          : change(group.id, { status: 'firing', resolved_at: null, resolution: null });
      case 'snooze': {
        const until = (body as { until?: string }).until ?? null;
        return open
          ? change(group.id, { status: 'snoozed', owner: null, snooze_until: until, snoozed_by: me })
          : refused('already_resolved');
      }
      case 'unsnooze':
        return group.status === 'snoozed'
          ? change(group.id, { status: 'firing', ...awake })
          : refused('not_snoozed');
      default:
        return notFound();
    }
  }

  const groupOf = (id: string | undefined) => data.groups.find((group) => group.id === id);

  const alertGroups: Record<string, Handler> = {
    'GET /alert-groups': ({ query }) => {
      const statuses = query.getAll('status');
      const sort = query.get('sort') ?? '-started_at';
      const key = sort.endsWith('last_changed_at') ? 'last_changed_at' : 'started_at';
      const groups = matching(query)
        .filter((group) => query.has('number') || statuses.includes(group.status))
        .sort((one, other) => one[key].localeCompare(other[key]) * (sort.startsWith('-') ? -1 : 1));
      return page(groups, query);
    },
    'GET /alert-group-counts': ({ query }) => {
      const all = matching(query);
      const count = (status: string) => all.filter((group) => group.status === status).length;
      return ok({
        firing: count('firing'),
        acknowledged: count('acknowledged'),
        snoozed: count('snoozed'),
        resolved: count('resolved'),
        all: all.length,
      });
    },
    'GET /alert-groups/:id': (_, [id]) => {
      const group = groupOf(id);
      return group === undefined ? notFound() : ok(group);
    },
    'GET /alert-groups/:id/alerts': ({ query }, [id]) => page(data.alerts.get(id!) ?? [], query),
    'GET /alert-groups/:id/notes': ({ query }, [id]) => page(data.notes.get(id!) ?? [], query),
    'GET /alert-groups/:id/deliveries': (_, [id]) => ok({ items: data.deliveries.get(id!) ?? [] }),
    'GET /alert-groups/:id/related': ({ query }) =>
      page(
        data.groups
          .filter((group) => group.status === 'resolved')
          .map(({ id, number, status, started_at, resolution }) => ({
            id,
            number,
            status,
            started_at,
            duration_seconds: 4_800,
            resolution,
          })),
        query,
      ),
    'GET /alert-groups/:id/timeline': ({ query }, [id]) => {
      const kinds = query.getAll('kind');
      const entries = (data.timeline.get(id!) ?? []).filter(
        (entry) => kinds.length === 0 || kinds.includes(entry.kind),
      );
      return page(query.get('order') === 'asc' ? entries : [...entries].reverse(), query);
    },
    'GET /alert-group-statistics': ({ query }) => ok(mockStatistics(data, query)),
    'GET /user-directory': ({ query }) =>
      page(
        PEOPLE.filter((each) => each.name.toLowerCase().includes(query.get('q')?.toLowerCase() ?? '')),
        query,
      ),
    'GET /snooze-presets': ({ query }) =>
      ok({
        time_zone: query.get('time_zone'),
        workday_start: '09:00',
        week_start: 'monday',
        items: [
          { preset: 'tomorrow', until: new Date(Date.now() + 9 * 3_600_000).toISOString() },
          { preset: 'week_start', until: new Date(Date.now() + 60 * 3_600_000).toISOString() },
        ],
      }),
    'POST /alert-groups/:id/notes': ({ body }, [id]) => {
      const text = (body as { body: string }).body;
      if (text.trim() === '') return invalid('/body', 'required');
      const note = {
        id: mockId('NE', next()),
        body: text,
        author: { ...ADA, kind: 'user' },
        transport: 'ui',
        created_at: new Date().toISOString(),
      } as const;
      data.notes.set(id!, [note, ...(data.notes.get(id!) ?? [])]);
      hint('alert-group', id!);
      return { status: 201, body: note };
    },
    'POST /alert-groups/bulk-commands': ({ body }) => {
      const { command, alert_group_ids, snooze } = body as {
        command: string;
        alert_group_ids: string[];
        snooze?: unknown;
      };
      const results = alert_group_ids.map((id) => {
        const group = groupOf(id)!;
        const base = { alert_group_id: id, number: group.number };
        if (command === 'acknowledge' && group.owner !== null && group.owner.id !== ADA.id) {
          return {
            ...base,
            outcome: 'skipped',
            code: 'owned_by_other',
            message: `skipped: owned by ${group.owner.name}`,
          };
        }
        const answer = run(command, group, snooze ?? {});
        if ('title' in answer) return { ...base, outcome: 'done', code: null, message: null };
        const code = (answer.body as { code: string }).code;
        return { ...base, outcome: 'refused', code, message: code };
      });
      return ok({ results });
    },
    'POST /alert-groups/:id/:command': ({ body }, [id, command]) => {
      const group = groupOf(id);
      if (group === undefined) return notFound();
      const answer = run(command!, group, body);
      return 'title' in answer ? ok({ outcome: 'done', alert_group: answer }) : answer;
    },
  };

  const sessions: Record<string, Handler> = {
    'GET /sign-in-options': () => ok({ oidc: { enabled: true, display_name: 'Example SSO' } }),
    'GET /sessions/current': () => (signedIn ? ok(data.session) : problem(401, 'unauthenticated')),
    'POST /sessions': ({ body }) => {
      const { password } = body as { password: string };
      if (password === 'slow') return problem(429, 'rate-limited', { retry_after_seconds: 8 });
      if (password !== 'secret') return problem(401, 'unauthenticated', { code: 'invalid_credentials' });
      signedIn = true;
      return { status: 201, body: data.session };
    },
    'DELETE /sessions/current': () => {
      signedIn = false;
      return { status: 204 };
    },
    ...mockAccess(),
    ...mockAccountLinks(),
    ...mockPeople(data.session),
    ...mockOidc(),
    'GET /system-notices': () => ok({ items: data.notices }),
    'GET /system-status': () => ok(data.status),
    'GET /organization/keyring': () => ok(rotatingKeyring()),
    'GET /actors/:kind/:key': (_, [kind, key]) => ok(mockActor(kind!, key!)),
  };

  function named<T extends { id: string; name: string }>(
    list: readonly T[],
    id: string | null,
    name: string,
  ) {
    return list.some((each) => each.name === name && each.id !== id);
  }

  /** The rules that updates share: 428, 404, 412. */
  function update<T extends { id: string; etag: string }>(
    list: T[],
    id: string | undefined,
    ifMatch: string | null,
    put: (old: T) => T | MockAnswer,
  ): MockAnswer {
    if (ifMatch === null) return problem(428, 'precondition-required');
    const at = list.findIndex((each) => each.id === id);
    const old = list[at];
    if (old === undefined) return notFound();
    if (ifMatch !== old.etag) return problem(412, 'precondition-failed');
    const result = put(old);
    if (!('id' in result)) return result;
    list[at] = { ...result, etag: bump(old.etag) };
    return ok(list[at], list[at]!.etag);
  }

  const configuration: Record<string, Handler> = {
    'GET /integrations': ({ query }) => page(data.integrations, query),
    'GET /integrations/:id': (_, [id]) => {
      const found = data.integrations.find((each) => each.id === id);
      return found === undefined ? notFound() : ok(found, found.etag);
    },
    'POST /integrations': ({ body }) => {
      const input = body as IntegrationInput;
      if (input.name.trim() === '') return invalid('/name', 'required');
      if (named(data.integrations, null, input.name)) return problem(409, 'conflict', { code: 'name_taken' });
      const created = withHeartbeat(makeIntegration(next(), input.name), input);
      data.integrations.push(created);
      hint('integration', created.id);
      return { status: 201, body: created, etag: created.etag };
    },
    'PUT /integrations/:id': ({ body, ifMatch }, [id]) =>
      update(data.integrations, id, ifMatch, (old) => {
        const input = body as IntegrationInput;
        const bad = Object.keys(input.static_labels).find((name) => !/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name));
        return bad === undefined
          ? withHeartbeat(old, input)
          : invalid(`/static_labels/${bad}`, 'invalid_format');
      }),
    'DELETE /integrations/:id': (_, [id]) => {
      data.integrations = data.integrations.filter((each) => each.id !== id);
      hint('integration', id!);
      return { status: 204 };
    },
    'GET /integrations/:id/alertmanager-routes': () => ok({ items: mockSenderRoutes() }),
    'GET /integrations/:id/alerts': ({ query }) => page(mockAlerts(data, query), query),
    'GET /link-rules': ({ query }) => page(MOCK_LINK_RULES, query),
    'GET /link-rules/:id': (_, [id]) => oneOf(MOCK_LINK_RULES, id),
    'GET /lookup-tables': ({ query }) => page(MOCK_LOOKUP_TABLES, query),
    'GET /lookup-tables/:id': (_, [id]) => oneOf(MOCK_LOOKUP_TABLES, id),
    'POST /template-previews': ({ body }) => ok(mockTemplatePreview(body as TemplatePreviewInput)),
    'GET /audit-log': ({ query }) => page(mockAuditLog(query), query),
    'GET /request-records': ({ query }) => {
      const owner = data.destinations.find(({ id }) => id === query.get('destination'));
      if (owner === undefined) return notFound();
      const [status, operation] = [query.get('status_class'), query.get('operation')];
      const records = mockRequests({ id: owner.id, name: owner.name })
        .filter((record) => operation === null || record.operation === operation)
        .filter(
          (record) =>
            status === null || (record.status === null ? 'none' : `${String(record.status)[0]}xx`) === status,
        );
      return page(records, query);
    },
    'GET /request-records/:id': (_, [id]) => {
      const { id: owner, name } = data.destinations[0]!;
      const found = mockRequests({ id: owner, name }).find((record) => record.id === id);
      return found === undefined ? notFound() : ok(found);
    },
    'GET /stored-snapshots': ({ query }) => {
      const state = query.get('state');
      const snapshots = mockSnapshots(data, query.get('integration') ?? '');
      return page(
        snapshots.filter((snapshot) => state === null || snapshot.state === state),
        query,
      );
    },
    'GET /stored-snapshots/:id': (_, [id]) => {
      const found = mockSnapshots(data, '').find((snapshot) => snapshot.id === id);
      return found === undefined ? notFound() : ok(found);
    },
    'GET /integrations/:id/tokens': (_, [id]) => ok({ items: data.tokens.get(id!) ?? [] }),
    'POST /integrations/:id/tokens': ({ body }, [id]) => {
      const token = {
        id: mockId('NK', next()),
        name: (body as { name?: string } | null)?.name ?? null,
        created_at: new Date().toISOString(),
        last_used_at: null,
      };
      data.tokens.set(id!, [...(data.tokens.get(id!) ?? []), token]);
      const value = 'svc_int_k3J9xQvT2mZp8RwY5uLc1NbHs7DfGa0EiOoVtXyKqWz';
      const snippet = `receivers:\n  - name: "tocsin"\n    webhook_configs:\n      - url: "https://ingest.example.org/api/v1/ingest"\n        send_resolved: true\n        max_alerts: 0\n        http_config:\n          authorization: { type: Bearer, credentials: "${value}" }\n`;
      return { status: 201, body: { token, value, alertmanager_snippet: snippet, heartbeat_snippet: null } };
    },
    'DELETE /integrations/:id/tokens/:token': (_, [id, token]) => {
      data.tokens.set(
        id!,
        (data.tokens.get(id!) ?? []).filter((each) => each.id !== token),
      );
      return { status: 204 };
    },
    'GET /routes': () => ok({ items: data.routes }, `"${data.orderVersion}"`),
    'GET /route-profiles': () =>
      ok({
        items: [
          {
            id: 'on_call',
            name: 'On-call',
            urgent: false,
            group_key: ['alertname', 'severity', 'cluster'],
            policy: ON_CALL,
          },
          {
            id: 'informational',
            name: 'Informational',
            urgent: false,
            group_key: ['alertname', 'severity', 'cluster'],
            policy: {
              ...ON_CALL,
              snooze_durations_seconds: [86_400, 259_200, 604_800],
              ack_timeout: { enabled: false, first_interval_seconds: 900 },
              reminders: { enabled: false, first_interval_seconds: 14_400, cap_seconds: 86_400 },
            },
          },
        ],
      }),
    'POST /group-key-previews': ({ body }) => {
      const input = body as Parameters<typeof mockPreview>[0];
      const broken = (input.matchers ?? []).findIndex(({ op, value }) => op.includes('~') && value === '(');
      return broken < 0 ? ok(mockPreview(input)) : invalid(`/matchers/${broken}/value`, 'invalid_regex');
    },
    'GET /route-suggestions': () => ok({ items: suggestions }),
    'POST /route-suggestions/:id/dismiss': (_, [id]) => {
      suggestions = suggestions.filter((suggestion) => suggestion.id !== id);
      return { status: 204 };
    },
    'GET /routes/:id': (_, [id]) => {
      const found = data.routes.find((each) => each.id === id);
      return found === undefined ? notFound() : ok(found, found.etag);
    },
    'POST /routes': ({ body }) => {
      const input = body as RouteInput;
      if (named(data.routes, null, input.name)) return problem(409, 'conflict', { code: 'name_taken' });
      const wrong = checkRoute(input);
      if (wrong !== null) return wrong;
      const route = makeRoute(next(), input.name, {
        ...input,
        destinations: references(input.destination_ids),
      });
      data.routes.splice(data.routes.length - 1, 0, route);
      hint('route', route.id);
      return { status: 201, body: route, etag: route.etag };
    },
    'PUT /routes/:id': ({ body, ifMatch }, [id]) =>
      update<Route>(data.routes, id, ifMatch, (old) => {
        const input = body as RouteInput;
        return checkRoute(input) ?? { ...old, ...input, destinations: references(input.destination_ids) };
      }),
    'DELETE /routes/:id': (_, [id]) => {
      const route = data.routes.find((each) => each.id === id);
      if (route === undefined) return notFound();
      if (route.is_default)
        return problem(409, 'default-route-immutable', { code: 'default-route-immutable' });
      if (route.open_alert_group_count > 0) {
        return problem(409, 'route-has-open-alert-groups', {
          code: 'route-has-open-alert-groups',
          open_alert_group_count: route.open_alert_group_count,
        });
      }
      data.routes = data.routes.filter((each) => each !== route);
      hint('route', id!);
      return { status: 204 };
    },
    'POST /routes/:id/move-open-alert-groups': (_, [id]) => {
      const at = data.routes.findIndex((each) => each.id === id);
      const moved = data.routes[at]!.open_alert_group_count;
      data.routes[at] = { ...data.routes[at]!, open_alert_group_count: 0 };
      return ok({ moved });
    },
    'PUT /route-order': ({ body, ifMatch }) => {
      if (ifMatch === null) return problem(428, 'precondition-required');
      if (ifMatch !== `"${data.orderVersion}"`) return problem(412, 'precondition-failed');
      const { route_ids } = body as { route_ids: string[] };
      const byId = new Map(data.routes.map((route) => [route.id, route]));
      const ordered = route_ids.map((id) => byId.get(id)!);
      data.routes = [...ordered, data.routes.at(-1)!].map((route, position) => ({ ...route, position }));
      data.orderVersion += 1;
      hint('route', null);
      return ok({ items: data.routes }, `"${data.orderVersion}"`);
    },
    'GET /connections': () => ok({ items: [MOCK_CONNECTION], next_cursor: null }),
    'GET /connections/:id': (_, [id]) =>
      id === MOCK_CONNECTION.id ? ok(MOCK_CONNECTION, MOCK_CONNECTION.etag) : notFound(),
    'POST /destinations/:id/checks': () => ok(MOCK_CHECK),
    'POST /destinations/:id/tests': () => ok(MOCK_TEST),
    'POST /destinations/:id/previews': () => ok({ items: MOCK_PREVIEW }),
    'GET /destinations': ({ query }) => page(data.destinations, query),
    'GET /destinations/:id': (_, [id]) => {
      const found = data.destinations.find((each) => each.id === id);
      return found === undefined ? notFound() : ok(found, found.etag);
    },
    'POST /destinations': ({ body }) => {
      const input = body as DestinationInput;
      if (input.type === 'bridge') return createChannel(input);
      const wrong = checkWebhook(input);
      if (wrong !== null) return wrong;
      const destination: Destination = {
        ...data.destinations[0]!,
        ...storedWebhook(input),
        id: mockId('DS', next()),
        routes: [],
        warnings: [],
        health: { state: 'healthy', since: null, reason: null },
        failing: null,
        waiting: 0,
        etag: '"1"',
      };
      data.destinations.push(destination);
      const body201 = { destination, signing_secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw8uYbqEoC3Hs=' };
      return { status: 201, body: body201, etag: destination.etag };
    },
    'PUT /destinations/:id': ({ body, ifMatch }, [id]) =>
      update<Destination>(data.destinations, id, ifMatch, (old) => {
        const input = body as DestinationInput;
        if (input.type === 'bridge') return { ...old, ...input };
        return checkWebhook(input) ?? { ...old, ...storedWebhook(input) };
      }),
    'DELETE /destinations/:id': (_, [id]) => {
      data.destinations = data.destinations.filter((each) => each.id !== id);
      hint('destination', id!);
      return { status: 204 };
    },
    'GET /destinations/:id/secrets': (_, [id]) => ok({ items: data.secrets.get(id!) ?? [] }, '"1"'),
    'PUT /destinations/:id/secrets/:name': (_, [id, name]) => {
      const secret = { name: name!, set: true, updated_at: new Date().toISOString() };
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name!)) return invalid('/path/name', 'invalid_format');
      const others = (data.secrets.get(id!) ?? []).filter((each) => each.name !== name);
      data.secrets.set(id!, [...others, secret]);
      return ok(secret, '"2"');
    },
    'DELETE /destinations/:id/secrets/:name': (_, [id, name]) => {
      data.secrets.set(
        id!,
        (data.secrets.get(id!) ?? []).filter((each) => each.name !== name),
      );
      return { status: 204 };
    },
    'POST /destinations/:id/signing-secret': (_, [id]) => {
      const at = data.destinations.findIndex((each) => each.id === id);
      const now = new Date().toISOString();
      const status = { set: true, updated_at: now, previous_active_since: now };
      data.destinations[at] = { ...data.destinations[at]!, signing_secret_status: status };
      return { status: 201, body: { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw8uYbqEoC3Hs=', status } };
    },
    'DELETE /destinations/:id/signing-secret/previous': (_, [id]) => {
      const at = data.destinations.findIndex((each) => each.id === id);
      const old = data.destinations[at]!;
      const status = { ...old.signing_secret_status!, previous_active_since: null };
      data.destinations[at] = { ...old, signing_secret_status: status };
      return { status: 204 };
    },
  };

  /** The bridge knows one channel only. */
  /** A request without extraction rules is answered with none. */
  function storedWebhook({ template, ...input }: WebhookInput) {
    const stored = <Request extends RequestTemplate | null>(request: Request) =>
      request && { ...request, extract: request.extract ?? [] };
    const requests = template && {
      create: stored(template.create),
      update: stored(template.update),
      open_thread: stored(template.open_thread),
      reply_in_thread: stored(template.reply_in_thread),
    };
    return { ...input, ...(requests ? { template: requests } : {}), proxy: storedProxy(input) };
  }

  function createChannel(input: BridgeInput): MockAnswer {
    if (input.channel_id !== MOCK_CHANNEL.channel_id) {
      return invalid('/channel_id', 'destination_check_failed', 'The bot is not subscribed to this stream.');
    }
    const destination = { ...MOCK_CHANNEL, ...input, id: mockId('DS', next()), routes: [] };
    data.destinations.push(destination);
    return { status: 201, body: { destination, signing_secret: null }, etag: destination.etag };
  }

  function withHeartbeat(old: Integration, input: IntegrationInput): Integration {
    return { ...old, ...input, heartbeat: { ...old.heartbeat, ...input.heartbeat } };
  }
  function checkRoute(input: RouteInput): MockAnswer | null {
    const at = input.matchers.findIndex((matcher) => matcher.op.includes('~') && matcher.value.includes('('));
    if (at >= 0) return invalid(`/matchers/${at}/value`, 'invalid_regex');
    return input.policy.reminders.cap_seconds < input.policy.reminders.first_interval_seconds
      ? invalid('/policy/reminders/cap_seconds', 'out_of_range')
      : null;
  }
  function checkWebhook(input: WebhookInput): MockAnswer | null {
    if (input.mode === 'template') {
      return /^POST /.test(input.template?.create.request ?? '')
        ? null
        : invalid('/template/create/request', 'invalid_format');
    }
    const url = input.events?.url ?? '';
    if (url === '') return invalid('/events/url', 'required');
    return url.startsWith('http') ? null : invalid('/events/url', 'invalid_format');
  }

  const operations = Object.entries({ ...sessions, ...alertGroups, ...configuration }).map(
    ([name, handler]) => {
      const [method = '', pattern = ''] = name.split(' ');
      return { method, pattern: new RegExp(`^${pattern.replace(/:[a-z]+/g, '([^/]+)')}$`), handler };
    },
  );

  return {
    data,
    signedIn: () => signedIn,
    signOut: () => {
      signedIn = false;
    },
    hint,
    onHint: (listener: (hint: Hint) => void) => listeners.add(listener),
    /** A new firing group, as if alerts had arrived. */
    raise(title: string) {
      const group = makeGroup(next(), {
        title,
        summary: 'It has just begun',
        status: 'firing',
        severity: 'critical',
        minutes: 0,
        labels: { alertname: title },
      });
      data.groups.unshift(group);
      hint('alert-groups', null);
      hint('alert-group', group.id);
      return group;
    },
    /** Lets an operation (`GET /routes`) answer something else until it is cleared with null. */
    failWith(operation: string, answer: MockAnswer | null) {
      if (answer === null) failures.delete(operation);
      else failures.set(operation, answer);
    },
    problem,
    change,
    answer(request: MockRequest): MockAnswer {
      const failure = failures.get(`${request.method} ${request.path}`);
      if (failure !== undefined) return failure;
      const isPublic = ['/sessions', '/sign-in-options', '/password-setups'].includes(request.path);
      if (!signedIn && !isPublic) return problem(401, 'unauthenticated');
      if (request.method !== 'GET' && !isPublic && request.csrf !== data.session.csrf_token) {
        return problem(403, 'forbidden', { code: 'csrf_invalid' });
      }
      for (const { method, pattern, handler } of operations) {
        const match = method === request.method ? pattern.exec(request.path) : null;
        if (match !== null) return handler(request, match.slice(1).map(decodeURIComponent));
      }
      return notFound();
    },
  };
}

function storedProxy({ proxy: { enabled, type, address, username, password } }: WebhookInput): ProxyConfig {
  const isSet = typeof password === 'string';
  return {
    enabled,
    ...(type === undefined ? {} : { type }),
    ...(address === undefined ? {} : { address }),
    username: username ?? null,
    password_status: { set: isSet, updated_at: isSet ? new Date().toISOString() : null },
  };
}
