/** Every recipe of docs/routes-cookbook.md, by the evaluation that routes alerts. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { compileRoutes, routeFor, slotFor } from '../../actors/route/evaluate.ts';
import { matcherProblems } from '../../actors/route/matcher.ts';
import { ON_CALL_POLICY } from '../../actors/route/policy.ts';
import { newPublicId } from '../../runtime/public-id.ts';

const Labels = v.record(v.string(), v.string());
const Recipe = v.strictObject({
  matchers: v.array(
    v.strictObject({ label: v.string(), op: v.picklist(['=', '!=', '=~', '!~']), value: v.string() }),
  ),
  group_key: v.array(v.string()),
  takes: v.pipe(v.array(Labels), v.minLength(1)),
  leaves: v.pipe(v.array(Labels), v.minLength(1)),
  groups: v.number(),
});

const page = readFileSync(path.join(import.meta.dirname, '../../docs/routes-cookbook.md'), 'utf8');
const recipes = [...page.matchAll(/^## (.+)\n[^#]*?^```json\n([\s\S]*?)^```/gm)].map(
  ([, title = '', text = '']) => [title, v.parse(Recipe, JSON.parse(text))] as const,
);

test('the cookbook has at least eight recipes, and each block of it is one', () => {
  expect(recipes.length).toBeGreaterThanOrEqual(8);
  expect(recipes.length).toBe(page.split('```json').length - 1);
});

test.each(recipes)('%s: takes what it says, leaves the rest, and forms its Alert Groups', (title, recipe) => {
  const common = { deleted: false, urgent: false, destinationIds: [], policy: ON_CALL_POLICY };
  const { matchers, group_key: groupKey } = recipe;
  const own = { ...common, id: newPublicId('RT'), name: title, isDefault: false, matchers, groupKey };
  const rest = { ...own, id: newPublicId('RT'), name: 'Default', isDefault: true, matchers: [] };
  const table = compileRoutes({ routes: [own, rest] });
  expect(matcherProblems(matchers)).toEqual([]);
  for (const labels of recipe.takes) expect([labels, routeFor(table, labels).name]).toEqual([labels, title]);
  for (const labels of recipe.leaves) {
    expect([labels, routeFor(table, labels).name]).toEqual([labels, 'Default']);
  }
  expect(new Set(recipe.takes.map((labels) => slotFor(own, labels).keyHash)).size).toBe(recipe.groups);
});
