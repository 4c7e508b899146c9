/** A whole `alertmanager.yml` and Prometheus rules from the snippets of a new token (ingestion §2.4). */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { parseAllDocuments, stringify } from 'yaml';
import {
  alertmanagerSnippet,
  heartbeatSnippet,
  type SnippetFor,
  withoutUnprintable,
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

/** Without what its head says to whoever takes it by hand. */
const RULES = readFileSync(
  path.resolve(import.meta.dirname, '../../../deploy/prometheus/rules.yaml'),
  'utf8',
).replace(/^(#.*\n)+/, '');
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
    'alertmanager.yml': HEAD + TAIL + written(config),
    'tocsin-rules.yml': RULES.replaceAll(ANY_TOCSIN, () => publicUrl),
    'tocsin-heartbeat-rule.yml': written(v.parse(Rules, rules)),
  };
}

/** Every text is double-quoted, so that no name can end it. */
function written(value: unknown): string {
  return withoutUnprintable(
    stringify(value, { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN', lineWidth: 0 }),
  );
}

function documentsOf(text: string): readonly unknown[] {
  return parseAllDocuments(text).map((document) => document.toJS() as unknown);
}
