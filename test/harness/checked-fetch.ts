/** `fetch` that holds what Tocsin answers to its description; every test with a server sends with it. */
import { type AnswerCheck, answerCheck, machineCheck } from '../answer-check.ts';
import { everyOperation } from '../every-operation.ts';
import { plainFetch } from './plain-fetch.ts';

/** Paths of the listeners for machines. */
const MACHINES = /^\/(?:api\/v1\/(?:ingest|heartbeat|callbacks)(?:\/|$)|health\/|metrics$)/;

/** Without a word about paths that no operation of Tocsin has. @throws {Error} when the description does not allow the answer */
export const checkedFetch: typeof fetch = async (input, init) => {
  const response = await plainFetch(input, init);
  const request = input instanceof Request ? input : { url: String(input), method: 'GET' };
  const { pathname } = new URL(request.url);
  await checkResponse(init?.method ?? request.method, pathname, response);
  return response;
};

async function checkResponse(method: string, path: string, response: Response): Promise<void> {
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  const text = isJson ? await response.clone().text().catch(whatTheTestSees) : '';
  checkAt(path)(method.toUpperCase(), path, {
    status: response.status,
    header: (name) => response.headers.get(name),
    body: text === '' ? undefined : JSON.parse(text),
  });
}

/** The body ends in the middle, by a cut or a signal: the test meets the same when it reads it. */
const whatTheTestSees = () => '';

let app: AnswerCheck | null = null;

/** The check of the listener that a path belongs to. */
export function checkAt(path: string): AnswerCheck {
  if (MACHINES.test(path)) return machineCheck;
  app ??= answerCheck(everyOperation());
  return app;
}

const later: Promise<PromiseSettledResult<void>[]>[] = [];

/** Keeps a check of what a page was answered until the end of the test. */
export function checkLater(check: Promise<void>): void {
  later.push(Promise.allSettled([check]));
}

/** Ends the checks of {@link checkLater}; their faults. */
export async function laterFaults(): Promise<readonly unknown[]> {
  const results = (await Promise.all(later.splice(0))).flat();
  return results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
}
