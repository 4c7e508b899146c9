/** A whole `alertmanager.yml` and Prometheus rules from the snippets of a new token (ingestion §2.4). */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { parseAllDocuments, stringify } from 'yaml';
import {
  alertmanagerSnippet,
  heartbeatSnippet,
  type SnippetFor,
} from '../../../actors/integration/snippets.ts';

/** Each is a whole file. */
export interface SenderFiles {
  /** Holds the token. */
  readonly 'alertmanager.yml': string;
  /** About Tocsin itself. */
  readonly 'tocsin-rules.yml': string;
  /** The rule that always fires. */
  readonly 'tocsin-heartbeat-rule.yml': string;
}

const RULES = path.resolve(import.meta.dirname, '../../../deploy/prometheus/rules.yaml');
/** Whose runbooks the rules as delivered link to. */
const ANY_TOCSIN = 'http://localhost:8080';

const Part = v.object({
  receivers: v.pipe(v.array(v.looseObject({ name: v.string() })), v.minLength(1)),
  route: v.object({ routes: v.pipe(v.array(v.looseObject({ receiver: v.string() })), v.minLength(1)) }),
});
const Rules = v.looseObject({ groups: v.pipe(v.array(v.unknown()), v.minLength(1)) });

/** For alerts that no route below takes: they are not sent anywhere else. */
const NOWHERE = 'nowhere';

/** Tocsin limits noise itself: the 30 s and 5 min of Alertmanager only delay news, also that an alert ended, s. */
const GROUP_WAIT = 5;
const GROUP_INTERVAL = 30;

const HEAD = `# Alertmanager, whole: it sends every alert to Tocsin. The token in it is for Alertmanager alone.
# High availability: start every Alertmanager with this same file and with --cluster.peer=<address of each other one>.
# Every one of them sends to this same Integration; Prometheus lists all of them, without a load balancer between.
`;

/** The routes end with `continue`, so that routes which are added below still see the alert. */
const TAIL = '# Add your own routes and receivers below those of Tocsin: keep the order of the routes.\n';

/** What is longer is no address that anybody uses. */
const ADDRESS_LIMIT = 2_000;

/** Whether senders can be told that they reach the ingest listener there. */
export function isSenderAddress(text: string): boolean {
  if (text.length > ADDRESS_LIMIT || !/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { username, password, search, hash } = new URL(text);
  return username + password + search + hash === '';
}

/**
 * Without a Heartbeat its signals are answered and change nothing: the files stay as they are when it is turned on.
 * @param publicUrl the web interface, which has the runbooks
 */
export function senderFiles(snippet: SnippetFor, publicUrl: string): SenderFiles {
  const [alerts] = documentsOf(alertmanagerSnippet(snippet));
  const [rules, beats] = documentsOf(heartbeatSnippet(snippet));
  const parts = [v.parse(Part, beats), v.parse(Part, alerts)];
  const config = {
    route: {
      receiver: NOWHERE,
      group_by: ['alertname'],
      group_wait: `${GROUP_WAIT}s`,
      group_interval: `${GROUP_INTERVAL}s`,
      routes: parts.flatMap(({ route }) => route.routes),
    },
    receivers: [{ name: NOWHERE }, ...parts.flatMap(({ receivers }) => receivers)],
  };
  return {
    'alertmanager.yml': HEAD + TAIL + stringify(config),
    'tocsin-rules.yml': readFileSync(RULES, 'utf8').replaceAll(ANY_TOCSIN, publicUrl),
    'tocsin-heartbeat-rule.yml': stringify(v.parse(Rules, rules)),
  };
}

function documentsOf(text: string): readonly unknown[] {
  return parseAllDocuments(text).map((document) => document.toJS() as unknown);
}
