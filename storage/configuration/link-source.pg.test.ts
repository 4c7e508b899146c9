import { beforeEach, describe, expect, test } from 'vitest';
import type { Authorship } from '../../actors/audit.ts';
import { cellOf } from '../../actors/links/configuration.ts';
import type { LinkRuleFields, LookupTableFields } from '../../actors/links/ports.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { firstStart, NOW, recordedAudit, stoppedClock } from '../../test/configuration.ts';
import { useDatabase } from '../../test/postgres.ts';
import { ensureDefaults } from './first-rows.ts';
import { createLinkRuleStore } from './link-rules.ts';
import { createLinkSource } from './link-source.ts';
import { createLookupTableStore } from './lookup-tables.ts';

const database = useDatabase();
const AUTHOR: Authorship = {
  by: {
    kind: 'user',
    id: newPublicId('SR'),
    name: 'Ann',
    login: 'ann',
    tokenName: null,
    transport: 'ui',
  },
  at: NOW,
  address: null,
};

beforeEach(() => firstStart(database.sql()));

function stores() {
  const sql = database.sql();
  const { appendAudit } = recordedAudit();
  return { rules: createLinkRuleStore(sql, appendAudit), tables: createLookupTableStore(sql, appendAudit) };
}

const table = (name: string, cell = 'a'): LookupTableFields => ({
  name,
  description: '',
  columns: ['c'],
  rows: [['k', cell]],
});

const rule = (name: string): LinkRuleFields => ({
  name,
  matchers: [],
  scope: { type: 'alert_group', label: null },
  url_template: 'https://x.example/',
});

async function createdTable(name: string) {
  const created = await stores().tables.create(table(name), AUTHOR);
  if (created === 'name_taken') throw new Error('the name is taken');
  return created;
}

describe('a rule and the table it reads, saved and deleted at once,', () => {
  test.each([1, 2, 3, 4, 5])('never end with a rule whose table is gone (%i)', async () => {
    const { rules, tables } = stores();
    const { id } = await createdTable('t');
    const [saving, removal] = await Promise.all([
      rules.create(rule('R'), ['t'], AUTHOR),
      tables.remove(id, null, AUTHOR),
    ]);
    expect([
      ['saved', 'in_use'],
      ['no_table', 'removed'],
    ]).toContainEqual([saving.outcome, removal.outcome]);
  });
});

test('two rules of one name, saved at once: one is refused', async () => {
  const { rules } = stores();
  const outcomes = await Promise.all([1, 2, 3].map(() => rules.create(rule('R'), [], AUTHOR)));
  expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['name_taken', 'name_taken', 'saved']);
});

test('Explore is created once, and stays as people made it', async () => {
  const sql = database.sql();
  const { rules } = stores();
  const { items } = await rules.page(null, 10);
  const [explore] = items;
  if (!explore) throw new Error('Explore is missing');
  const matchers = [{ label: 'env', op: '=', value: 'prod' }] as const;
  await rules.update(explore.id, () => true, { ...explore.fields, matchers }, ['grafana'], AUTHOR);
  await sql.begin((tx) => ensureDefaults(tx, NOW + 1));
  const after = await rules.page(null, 10);
  expect(after.items.map(({ id, fields }) => [id, fields.matchers])).toEqual([[explore.id, matchers]]);
});

describe('what renders keep in memory', () => {
  test('shows what was saved once it is read again, rules by name', async () => {
    const { rules, tables } = stores();
    const links = createLinkSource(database.sql(), stoppedClock);
    await links.reload();
    const { id } = await createdTable('t');
    for (const name of ['b', 'B', 'a']) await rules.create(rule(name), [], AUTHOR);
    expect(links.current().rules).toEqual([]);
    await links.reload();
    expect(links.current().rules.map(({ name }) => name)).toEqual(['B', 'a', 'b']);
    expect(cellOf(links.current(), 't', 'k', 'c')).toBe('a');
    await tables.update(id, () => ({ save: table('t', 'b') }), AUTHOR);
    await links.reload();
    expect(cellOf(links.current(), 't', 'k', 'c')).toBe('b');
  });

  test('keeps the tables that were not saved', async () => {
    const { tables } = stores();
    const links = createLinkSource(database.sql(), stoppedClock);
    await createdTable('same');
    const { id } = await createdTable('changed');
    await links.reload();
    const before = links.current().tables;
    await tables.update(id, () => ({ save: table('changed', 'b') }), AUTHOR);
    await links.reload();
    const after = links.current().tables;
    expect(after.get('same')).toBe(before.get('same'));
    expect(after.get('changed')).not.toBe(before.get('changed'));
  });

  test('is read again only when a later version is stored', async () => {
    const sql = database.sql();
    const links = createLinkSource(sql, stoppedClock);
    await links.reload();
    const picture = links.current();
    const [row] = await sql<{ links: number }[]>`select links from configuration_versions`;
    await links.reach(row?.links ?? 0);
    expect(links.current()).toBe(picture);
    await createdTable('t');
    await links.reach((row?.links ?? 0) + 1);
    expect(links.current().tables.size).toBe(1);
  });
});

test('texts that JSON writes as escapes are stored and read back', async () => {
  const { tables } = stores();
  const fields: LookupTableFields = {
    name: 'odd "name" \\ я 😀',
    description: '\u0001\n',
    columns: ['"c"', '\\'],
    rows: [['{k}', 'NULL', ',"']],
  };
  const created = await tables.create(fields, AUTHOR);
  if (created === 'name_taken') throw new Error('the name is taken');
  expect((await tables.read(created.id as PublicId))?.fields).toEqual(fields);
  const { rules } = stores();
  const saving = await rules.create(rule('R'), [fields.name], AUTHOR);
  expect(saving.outcome).toBe('saved');
  expect((await tables.remove(created.id, null, AUTHOR)).outcome).toBe('in_use');
});
