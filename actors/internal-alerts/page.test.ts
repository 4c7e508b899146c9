import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { internalAlertsPage } from './page.fixture.ts';
import { INTERNAL_ALERT_NAMES, INTERNAL_ALERTS } from './registry.ts';

const DOCS = path.resolve(import.meta.dirname, '..', '..', 'docs');

test('docs/internal-alerts.md says what the registry says (write it anew with vitest --update)', async () => {
  await expect(internalAlertsPage()).toMatchFileSnapshot(path.join(DOCS, 'internal-alerts.md'));
});

test.each(INTERNAL_ALERT_NAMES)('%s has a runbook, which the index names with its severity', (name) => {
  expect(readdirSync(path.join(DOCS, 'runbooks'))).toContain(`${name}.md`);
  const index = readFileSync(path.join(DOCS, 'runbooks', 'README.md'), 'utf8');
  expect(index).toContain(`| [${name}](${name}.md) | ${INTERNAL_ALERTS[name].severity} |`);
});
