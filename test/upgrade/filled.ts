/** What `fill.ts` made, and what the test of the upgrade reads: the fixture's shape and its constants. */
import type { Post } from '../../runtime/cli/bridge-reference/messenger.ts';

/** Links in messages begin so, before the upgrade and after it. */
export const PUBLIC_URL = 'https://tocsin.example';

export const ADA = { login: 'ada', name: 'Ada Lovelace', password: 'quietly rolling thunder' } as const;

/** What the Destination in template mode sends: `Bank1 firing`, `Storm 3, over`. */
const TICKET =
  '{{ if .Storm }}Storm {{ .Storm.AlertGroupCount }}{{ if .Storm.Final }}, over{{ end }}' +
  '{{ else }}{{ .AlertGroup.Title }} {{ .AlertGroup.Status }}{{ end }}';

export const TEMPLATE = (url: string) => ({
  create: {
    request: `POST ${url}/messages\nAuthorization: Bearer {{ .Secrets.token }}\n\n${TICKET}`,
    extract: [{ name: 'id', path: '$.data.id' }],
  },
  update: {
    request: `PUT ${url}/messages/{{ .Response.id }}\n\n${TICKET}`,
    extract: [],
  },
});

export interface Filled {
  /** When the service was killed, µs. */
  readonly filledAt: number;
  readonly keys: string;
  readonly login: string;
  readonly password: string;
  /** Of Ada, who may read Alert Groups with it. */
  readonly token: string;
  readonly integrationToken: string;
  readonly integrationId: string;
  readonly bridgeToken: string;
  readonly signingSecrets: readonly string[];
  /** Where the fakes were. */
  readonly origins: Readonly<Record<string, string>>;
  /** Ids by name. */
  readonly destinations: Readonly<Record<string, string>>;
  readonly groups: readonly {
    readonly id: string;
    readonly number: number;
    readonly title: string;
    readonly status: string;
    readonly route: string;
  }[];
  /** Events of webhooks that were not delivered, in their order within each Alert Group. */
  readonly events: readonly {
    readonly id: string;
    readonly destination_id: string;
    readonly group_id: string;
    readonly sequence: number;
    readonly event: string;
  }[];
  /** When the Storm ends, by the dump's time, µs. */
  readonly stormEnds: number;
  /** What stands in the messenger. */
  readonly posts: readonly Post[];
  /** Idempotency-Keys that the bridge remembers, with its answers. */
  readonly answered: readonly (readonly [key: string, body: string])[];
}
