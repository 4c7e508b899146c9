/** What tools of others make of the description. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished, test } from 'vitest';
import { everyOperation } from '../../test/every-operation.ts';
import { openApiDocument } from './openapi.ts';

const run = promisify(execFile);
const REDOCLY = join(import.meta.dirname, '../../node_modules/.bin/redocly');

test('the description is valid OpenAPI 3.1 and breaks none of the recommended rules of Redocly', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'openapi-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'openapi.json');
  await writeFile(file, JSON.stringify(openApiDocument(everyOperation(), '1.2.3')));
  const { stdout } = await run(REDOCLY, ['lint', file, '--extends=recommended', '--format=json'], {
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  }).catch((failed: { readonly stdout: string; readonly stderr: string }) => {
    throw new Error(`redocly refuses it: ${failed.stdout}${failed.stderr}`);
  });
  const { problems } = JSON.parse(stdout) as { readonly problems: readonly object[] };
  if (problems.length > 0) throw new Error(JSON.stringify(problems, null, 2));
}, 60_000);
