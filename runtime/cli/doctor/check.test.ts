import { expect, test } from 'vitest';
import { createManualClock } from '../../../test/fakes/manual-clock.ts';
import { SECOND } from '../../clock.ts';
import { createMask } from '../../secrets/masking.ts';
import {
  type Check,
  type CheckResult,
  fail,
  isWell,
  jsonOf,
  lineOf,
  ok,
  presentable,
  runChecks,
  unlessWrong,
  warn,
} from './check.ts';

const clock = createManualClock();

function check(name: string, run: Check['run'], more: Partial<Check> = {}): Check {
  return { name, needs: [], atWorst: 'FAIL', within: SECOND, run, ...more };
}

async function resultsOf(...checks: readonly Check[]): Promise<readonly string[]> {
  const lines: string[] = [];
  await runChecks(checks, clock, (result) => lines.push(lineOf(result)));
  return lines;
}

const never = () => new Promise<never>(() => undefined);
const refused = () => Promise.reject(new Error('refused'));

test('every check says one line, in order', async () => {
  const lines = await resultsOf(
    check('one', async () => ok('fine')),
    check('two', async () => warn('look')),
    check('three', async () => fail('broken')),
  );
  expect(lines).toEqual(['OK one: fine', 'WARN two: look', 'FAIL three: broken']);
});

test('a check that looks at several things names each', async () => {
  const lines = await resultsOf(
    check('destination', async () => [
      { ...ok('fine'), subject: 'DS1' },
      { ...warn('Broken'), subject: 'DS2' },
    ]),
  );
  expect(lines).toEqual(['OK destination DS1: fine', 'WARN destination DS2: Broken']);
});

test('what needs a failed check is not made, and what needs that one is', async () => {
  const lines = await resultsOf(
    check('database', refused),
    check('schema', never, { needs: ['database'] }),
    check('keyring', never, { needs: ['schema'] }),
    check('redis', async () => ok('fine')),
  );
  expect(lines.slice(1)).toEqual([
    'WARN schema: not checked, because database failed',
    'WARN keyring: not checked, because database failed',
    'OK redis: fine',
  ]);
});

test('a check that cannot be made is as bad as it can be', async () => {
  const lines = await resultsOf(
    check('database', refused),
    check('public_url', refused, { atWorst: 'WARN' }),
  );
  expect(lines).toEqual(['FAIL database: refused', 'WARN public_url: refused']);
});

test('a check ends with its time', async () => {
  const lines = resultsOf(
    check('slow', never, { within: 3 * SECOND }),
    check('next', async () => ok('fine')),
  );
  clock.advance(3 * SECOND);
  expect(await lines).toEqual(['FAIL slow: no answer within 3 s', 'OK next: fine']);
});

test('errors that only have a code are told by it', async () => {
  const unreachable = Object.assign(new Error(''), { code: 'ECONNREFUSED' });
  const both = new AggregateError([unreachable, unreachable], '');
  expect(await resultsOf(check('redis', () => Promise.reject(both)))).toEqual(['FAIL redis: ECONNREFUSED']);
});

test('everything that is wrong is told, or that nothing is', () => {
  expect(unlessWrong(['One.', 'Two.'], 'well')).toEqual(warn('One. Two.'));
  expect(unlessWrong([], 'well')).toEqual(ok('well'));
});

test('a line stays one line and holds no secret', () => {
  const result: CheckResult = {
    name: 'database',
    verdict: 'FAIL',
    detail: 'first\n\u001b second postgres://ann:hunter22@db/x hunter22',
  };
  expect(lineOf(presentable(result, createMask(['hunter22'])))).toBe(
    'FAIL database: first second postgres://[redacted]@db/x [redacted]',
  );
});

test('JSON says whether all is well, which warnings do not change', () => {
  const results: CheckResult[] = [{ name: 'tls_main', verdict: 'WARN', detail: 'not encrypted' }];
  expect(JSON.parse(jsonOf(results))).toEqual({
    ok: true,
    checks: [{ name: 'tls_main', status: 'WARN', detail: 'not encrypted' }],
  });
  expect(isWell([...results, { name: 'schema', verdict: 'FAIL', detail: 'old' }])).toBe(false);
});
