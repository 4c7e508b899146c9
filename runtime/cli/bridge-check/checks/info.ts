/** I: what the bridge declares of itself (bridge protocol §2.1). */
import { isDeepStrictEqual } from 'node:util';
import { type Check, demand } from '../check.ts';
import { isObject } from '../client.ts';
import { expectStatus } from '../expect.ts';
import { INFO_FAULTS, type InfoCheck } from '../info.ts';
import type { Run } from '../run.ts';

const QUICK_SECONDS = 3;

/** @throws Unmet when there is none */
export async function getInfo({ client }: Pick<Run, 'client'>): Promise<Readonly<Record<string, unknown>>> {
  const answer = await client.call({ method: 'GET', path: '/v1/info' });
  expectStatus(answer, 200);
  const type = answer.headers['content-type'] ?? 'missing';
  demand(/^application\/json\b/i.test(type), `Content-Type is ${type}`);
  demand(isObject(answer.json), 'the body is not a JSON object');
  return answer.json;
}

function looked(id: InfoCheck, level: Check['level'], text: string): Check {
  return {
    ...{ id, needs: [], level, text },
    async run(run) {
      const fault = INFO_FAULTS[id](await getInfo(run));
      demand(fault === null, fault ?? '');
    },
  };
}

export const INFO_CHECKS: readonly Check[] = [
  looked('I1', 'must', 'protocol_version is the string "1"'),
  looked('I2', 'must', 'bridge.name, bridge.version and messenger.name are there'),
  looked('I3', 'must', 'capabilities are true or false; direct_messages is false or has bot_can_start'),
  looked('I4', 'must', 'max_body_length is 500 to 1,000,000; edit_max_age_seconds is null or at least 60'),
  looked('I5', 'must', 'user_lookup is a known kind; event_delivery names poll, push or both'),
  looked(
    'I6',
    'must',
    'link_url_template, where there is one, is http(s) with {token} once and nothing else',
  ),
  looked('I7', 'should', 'private_answers comes with buttons only; limits have their types'),
  {
    ...{ id: 'I8', needs: [], level: 'must', text: 'getInfo answers the same twice, each within 3 s' },
    async run(run) {
      const started = run.clock.now();
      const first = await getInfo(run);
      const between = run.clock.now();
      const second = await getInfo(run);
      const slowest = Math.max(between - started, run.clock.now() - between) / 1_000_000;
      demand(slowest < QUICK_SECONDS, `an answer took ${slowest.toFixed(1)} s`);
      demand(isDeepStrictEqual(first, second), 'the two answers differ');
    },
  },
];
