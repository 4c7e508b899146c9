/**
 * The bare loop of a burst of new groups: stores bodies and answers on one connection, works off what was stored on
 * another, posts a signed text for each group. It writes the rows that Tocsin wrote for one group of the installation
 * it runs on, multi-row and in grouped transactions; rules, fencing, retries and metrics are left out.
 *
 * `node bench/limit/burst-loop.ts DATA_DIR POST_URL AUTHORIZATION TEMPLATE_GROUP` prints its port, and ends with SIGTERM.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { numberArray, textArray } from '../../storage/postgres/bulk-parameters.ts';
import { connect } from '../../storage/postgres/connection.ts';
import { startEmbeddedPostgres } from '../../storage/postgres/embedded/embedded.ts';
import { dayOf } from '../../storage/postgres/partitions.ts';
import type { Sql, Transaction } from '../../storage/postgres/records.ts';

const MOST_IN_BATCH = 500;
const CALLS_AT_ONCE = 40;

interface Posted {
  readonly id: string;
  readonly body: Buffer;
  readonly answer: () => void;
}

interface Made {
  readonly id: string;
  readonly seq: number;
  readonly name: string;
}

/** Rows of one group by table, and what differs for the next group: SQL over `n(id, seq, name)`. */
interface Copied {
  readonly table: string;
  readonly where: string;
  readonly changes: Readonly<Record<string, string>>;
}

const SEEN: readonly Copied[] = [
  {
    table: 'stored_snapshots',
    where: 'group_key = $2',
    changes: { id: 'n.id', seq: 'n.seq', group_key: 'n.name' },
  },
  { table: 'feeds', where: 'group_key = $2', changes: { key: 'n.id', group_key: 'n.name' } },
  {
    table: 'presences',
    where: 'group_id = $1',
    changes: { feed: 'n.id', fingerprint: 'n.id', group_id: 'n.id' },
  },
  { table: 'slots', where: 'group_id = $1', changes: { key_hash: 'n.id', group_id: 'n.id' } },
  { table: 'actors', where: "kind = 'alert_group' and key = $1", changes: { key: 'n.id' } },
  {
    table: 'actors',
    where: "kind = 'feed' and key in (select key from feeds where group_key = $2)",
    changes: { key: 'n.id' },
  },
  {
    table: 'alert_groups',
    where: 'id = $1',
    changes: { id: 'n.id', number: 'n.seq', title: 'n.name', key_hash: 'n.id' },
  },
  { table: 'group_alerts', where: 'group_id = $1', changes: { group_id: 'n.id', fingerprint: 'n.id' } },
  {
    table: 'timeline_entries',
    where: "group_id = $1 and kind <> 'delivery'",
    changes: { id: "'T' || n.id", group_id: 'n.id' },
  },
  {
    table: 'deliveries',
    where: 'group_id = $1',
    changes: { subject: 'n.id', group_id: 'n.id', number: 'n.seq' },
  },
];
const TOLD: readonly Copied[] = [
  {
    table: 'delivered_messages',
    where: 'group_id = $1',
    changes: { message_id: "'m' || n.id", group_id: 'n.id' },
  },
  {
    // What a channel bot is told of its post in the discussion group.
    table: 'channel_copies',
    where:
      "post_id = (select split_part(message_id, '/', 2) from delivered_messages where group_id = $1 and message_id like '-%/%' limit 1)",
    changes: { post_id: "n.seq::text || '0'", copy_id: "n.seq::text || '0'", about: 'n.id' },
  },
  {
    table: 'request_records',
    where: 'alert_group_id = $1',
    changes: { id: "'R' || n.id", alert_group_id: 'n.id' },
  },
  {
    table: 'timeline_entries',
    where: "group_id = $1 and kind = 'delivery'",
    changes: { id: "'D' || n.id", group_id: 'n.id' },
  },
];

const [dataDir = '', postUrl = '', authorization = '', template = ''] = process.argv.slice(2);
const server = await startEmbeddedPostgres({ dataDir });
const intake = connect(server.settings, { max: 1, applicationName: 'loop-intake' });
const work = connect(server.settings, { max: 1, applicationName: 'loop-work' });
const agent = new Agent({ keepAlive: true, maxSockets: CALLS_AT_ONCE });
const [origin] = await work<{ id: string; number: number }[]>`
  select id, number from alert_groups where title = ${template}`;
if (!origin) throw new Error(`There is no group ${template}.`);
const seen = await prepared(SEEN, 'seen');
const told = await prepared(TOLD, 'told');
const [{ text }] = await work<[{ text: string }]>`
  select request_body as text from request_records where alert_group_id = ${origin.id} and request_body is not null limit 1`;
const [{ integration, last }] = await work<[{ integration: string; last: number }]>`
  select (select integration_id from feeds limit 1) as integration,
    (select max(number) from alert_groups) + 1000 as last`;
const secret = randomBytes(32);
const boot = randomBytes(3).toString('hex');
let number = last;
let made = 0;
const waiting: Posted[] = [];
let isStoring = false;
let isWorking = false;

/** Statements that write the rows of many groups, from rows kept beside. */
async function prepared(copies: readonly Copied[], phase: string): Promise<string[]> {
  const statements: string[] = [];
  for (const [place, { table, where, changes }] of copies.entries()) {
    const kept = `kept_${phase}_${place}`;
    const columns = await work<{ name: string }[]>`
      select attname as name from pg_attribute
      where attrelid = ${table}::text::regclass and attnum > 0 and not attisdropped and attgenerated = ''`;
    const names = columns.map(({ name }) => `"${name}"`).join(', ');
    const condition = where.replaceAll('$1', `'${origin?.id}'`).replaceAll('$2', `'${template}'`);
    await work.unsafe(`create temp table ${kept} as select ${names} from ${table} where ${condition}`);
    await work.unsafe(`analyze ${kept}`);
    const values = columns.map(({ name }) => changes[name] ?? `k."${name}"`).join(', ');
    statements.push(
      `insert into ${table} (${names}) select ${values}
       from ${kept} k, unnest($1::text[], $2::bigint[], $3::text[]) as n(id, seq, name)`,
    );
  }
  return statements;
}

async function write(tx: Transaction, statements: readonly string[], batch: readonly Made[]): Promise<void> {
  const values = [
    textArray(batch.map(({ id }) => id)),
    numberArray(batch.map(({ seq }) => seq)),
    textArray(batch.map(({ name }) => name)),
  ];
  await Promise.all(statements.map((statement) => tx.unsafe(statement, values, { prepare: true })));
}

const inOne = (sql: Sql, run: (tx: Transaction) => Promise<unknown>) =>
  sql.begin((tx) => run(tx as Transaction));

async function store(): Promise<void> {
  if (isStoring) return;
  isStoring = true;
  while (waiting.length > 0) {
    const batch = waiting.splice(0, MOST_IN_BATCH);
    const now = Date.now() * 1000;
    const hashes = batch.map(({ body }) => createHash('sha256').update(body).digest('hex'));
    const bodies = batch.map(({ body }) => body.toString('utf8'));
    await intake`
      with bodies as (
        insert into snapshot_bodies (day, hash, body)
        select ${dayOf(now)}::integer, decode(hash, 'hex'), convert_to(body, 'UTF8')
        from unnest(${textArray(hashes)}::text[], ${textArray(bodies)}::text[]) as one(hash, body)
        on conflict do nothing)
      insert into snapshot_queue (id, integration_id, received_at, body_hash, size_bytes, content_type)
      select id, ${integration}::text, ${now}::bigint, decode(hash, 'hex'), size, 'application/json'
      from unnest(
        ${textArray(batch.map(({ id }) => id))}::text[],
        ${textArray(hashes)}::text[],
        ${numberArray(batch.map(({ body }) => body.length))}::integer[]) as one(id, hash, size)`;
    for (const { answer } of batch) answer();
    void workOff();
  }
  isStoring = false;
}

async function workOff(): Promise<void> {
  if (isWorking) return;
  isWorking = true;
  for (;;) {
    const rows = await work<{ seq: number; id: string; body: Buffer }[]>`
      select seq, id, body from snapshot_queue
      join snapshot_bodies on hash = body_hash and day = received_at / 86400000000
      order by seq limit ${MOST_IN_BATCH}`;
    if (rows.length === 0) break;
    const batch = rows.map(({ id, body }): Made => {
      const { groupKey } = JSON.parse(body.toString('utf8')) as { groupKey: string };
      return { id, seq: ++number, name: groupKey };
    });
    await inOne(work, async (tx) => {
      const deleted = tx`delete from snapshot_queue where seq = any(${numberArray(rows.map(({ seq }) => seq))}::bigint[])`;
      await Promise.all([deleted, write(tx, seen, batch)]);
    });
    await Promise.all(batch.map(post));
    await inOne(work, async (tx) => {
      const ids = textArray(batch.map(({ id }) => id));
      const noted = tx`update deliveries set wanted = false, updated_at = updated_at + 1 where group_id = any(${ids}::text[])`;
      const published = tx`update alert_groups set first_published_at = started_at where id = any(${ids}::text[])`;
      const turned = tx`update actors set version = version + 1 where kind = 'alert_group' and key = any(${ids}::text[])`;
      await Promise.all([noted, published, turned, write(tx, told, batch)]);
    });
  }
  isWorking = false;
}

function post({ id, seq, name }: Made): Promise<void> {
  const body = text
    .replaceAll(`#${origin?.number} ${template}`, `#${seq} ${name}`)
    .replaceAll(origin?.id ?? '', id);
  const signature = createHmac('sha256', secret).update(body).digest('base64');
  const headers = {
    'content-type': 'application/json',
    ...(authorization !== '' && { authorization }),
    'idempotency-key': `root-${id}-1`,
    'content-length': Buffer.byteLength(body),
    'webhook-signature': `v1,${signature}`,
  };
  return new Promise((resolve, reject) => {
    const call = request(postUrl, { method: 'POST', agent, headers }, (answer) => {
      let given = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        given += chunk;
      });
      answer.on('end', () => {
        JSON.parse(given);
        resolve();
      });
    });
    call.on('error', reject);
    call.end(body);
  });
}

const listener = createServer((incoming, outgoing) => {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('end', () => {
    const answer = () => void outgoing.writeHead(202).end();
    waiting.push({ id: `L${boot}${++made}`, body: Buffer.concat(chunks), answer });
    setImmediate(store);
  });
});
listener.listen(0, '127.0.0.1', () => console.log((listener.address() as AddressInfo).port));
process.on('SIGTERM', async () => {
  await Promise.all([intake.end({ timeout: 1 }), work.end({ timeout: 1 })]);
  await server.stop();
  process.exit(0);
});
