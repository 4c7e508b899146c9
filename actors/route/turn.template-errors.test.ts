import { describe, expect, test } from 'vitest';
import type { RecordedEffect } from '../../runtime/actor/index.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { DirectorySource } from '../directory.ts';
import { createRouteActor } from './actor.ts';
import { templateDigest } from './evaluate.ts';
import type { RouteMessage, TemplateRendered } from './messages.ts';
import type { RouteState } from './turn.ts';

const ROUTE = 'RT000000000001' as PublicId;

/** A Route's actor: what each message has it record. */
function started() {
  const templates: Record<TemplateRendered['template'], string | null> = {
    root_message: 'r',
    line: 'l',
    ack_timeout_notice: 'a',
  };
  const route = { name: 'payments', deleted: false, policy: { templates } };
  const directory = {
    current: () => ({ routesById: new Map([[ROUTE, route]]) }),
  } as unknown as DirectorySource;
  const definition = createRouteActor({ directory, held: { page: async () => [] } });
  let state: RouteState = definition.start(ROUTE);
  const give = (message: RouteMessage): readonly RecordedEffect[] => {
    const actor = { self: { kind: 'route', key: ROUTE }, state, rows: null };
    const env = { now: 9, from: null, prepared: undefined, random: (size: number) => new Uint8Array(size) };
    const turn = definition.receive(actor, message, env);
    state = definition.restore(JSON.parse(JSON.stringify(definition.persist(turn.state))));
    return turn.records;
  };
  return { give, route };
}

function rendered(
  template: TemplateRendered['template'],
  at: number,
  error: string | null = null,
): TemplateRendered {
  return { type: 'template_rendered', template, error, at };
}

const alert = (change: 'raise' | 'resolve', labels: object) =>
  expect.objectContaining({ type: 'internal_alert.recorded', change, name: 'SvcTemplateError', labels });

test('the first failure is kept while it lasts, and raises an Internal alert once', () => {
  const { give } = started();
  expect(give(rendered('line', 1))).toEqual([]);
  expect(give(rendered('line', 2, 'line 1: no'))).toEqual([
    { type: 'route.template_errors', routeId: ROUTE, errors: { line: { since: 2, error: 'line 1: no' } } },
    alert('raise', { template: 'line' }),
  ]);
  expect(give(rendered('line', 3, 'line 2: no'))).toEqual([]);
});

test('with several failing templates the alert names the first, then the one that is left, then nobody', () => {
  const { give } = started();
  give(rendered('ack_timeout_notice', 1, 'no'));
  expect(give(rendered('line', 2, 'no'))).toHaveLength(1);
  expect(give(rendered('ack_timeout_notice', 3))[1]).toEqual(alert('raise', { template: 'line' }));
  expect(give(rendered('line', 4))).toEqual([
    { type: 'route.template_errors', routeId: ROUTE, errors: {} },
    alert('resolve', {}),
  ]);
});

test('another version of the templates forgets what failed', () => {
  const { give } = started();
  give(rendered('line', 1, 'no'));
  expect(give({ type: 'templates_saved' })[1]).toEqual(alert('resolve', {}));
  expect(give({ type: 'templates_saved' })).toEqual([]);
});

describe('a message that was under way when the templates were saved', () => {
  const late = (source: string): TemplateRendered => ({
    ...rendered('ack_timeout_notice', 5, 'no'),
    digest: templateDigest(source),
  });

  test('says nothing about the template that took its place', () => {
    const { give, route } = started();
    route.policy.templates.ack_timeout_notice = 'repaired';
    give({ type: 'templates_saved' });
    expect(give(late('a'))).toEqual([]);
    expect(give(late('repaired'))[1]).toEqual(alert('raise', { template: 'ack_timeout_notice' }));
  });

  test('says nothing about one that was taken away: nothing would end that alert', () => {
    const { give, route } = started();
    route.policy.templates.ack_timeout_notice = null;
    give({ type: 'templates_saved' });
    expect(give(late('a'))).toEqual([]);
  });
});

test('nothing is said about a Route that is deleted', () => {
  const { give, route } = started();
  route.deleted = true;
  expect(give(rendered('line', 1, 'no'))).toEqual([]);
});

test('a Route stored before templates were used has none that fails', () => {
  const definition = createRouteActor({ directory: {} as DirectorySource, held: { page: async () => [] } });
  const { templateErrors: _, ...old } = definition.persist(definition.start(ROUTE)) as RouteState;
  expect(definition.restore(definition.migrate(old, 1)).templateErrors).toEqual({});
});
