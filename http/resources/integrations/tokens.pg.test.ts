import { beforeEach, describe, expect, it } from 'vitest';
import { tokenHash } from '../../../actors/integration/snippets.ts';
import { SECOND } from '../../../runtime/clock.ts';
import { NOW } from '../../../test/configuration.ts';
import type { OperationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { createdIn, errorsOf, type IntegrationsStage, startIntegrations } from './integrations.fixture.ts';

const database = useDatabase();
let api: OperationClient;
let audit: IntegrationsStage['audit'];
let hints: IntegrationsStage['hints'];
let tokens: IntegrationsStage['tokens'];

beforeEach(async () => {
  ({ api, audit, hints, tokens } = await startIntegrations(database.sql()));
});

const created = (changes: object = {}) => createdIn(api, changes);

describe('a token', () => {
  it('shows its value and the snippets once, and only its hash is stored', async () => {
    const { id } = await created();
    const { status, body, headers } = await api.post(`/integrations/${id}/tokens`, { name: ' laptop ' });
    expect(status).toBe(201);
    expect([headers.etag, headers.location]).toEqual([undefined, undefined]);
    expect(body.value).toMatch(/^svc_int_[A-Za-z0-9_-]{43}$/);
    expect(body.token).toEqual({
      id: expect.stringMatching(/^NK[0-9A-Z]{12}$/),
      name: 'laptop',
      created_at: '2026-09-21T14:13:20Z',
      last_used_at: null,
    });
    expect(body.alertmanager_snippet).toContain(body.value);
    expect(body.heartbeat_snippet).toBeNull();
    expect((await api.get(`/integrations/${id}/tokens`)).body).toEqual({ items: [body.token] });
    expect(JSON.stringify(audit.entries)).not.toContain(body.value);
    expect(audit.actions()).toEqual(['integration.create', 'integration_token.create']);
    expect(hints.sent).toHaveLength(2);
    const [stored] = await database.sql()<{ hash: Buffer }[]>`select hash from integration_tokens`;
    expect(stored?.hash).toEqual(tokenHash(body.value));
  });

  it('comes with a Heartbeat snippet while the Heartbeat is on, and needs no body', async () => {
    const { id } = await created({ heartbeat: { enabled: true } });
    const { body } = await api.post(`/integrations/${id}/tokens`);
    expect(body.token.name).toBeNull();
    expect(body.heartbeat_snippet).toContain(body.value);
  });

  it('comes with whole files for its sender, which name the address that was given', async () => {
    const { id } = await created();
    const textsOf = (body: { files: { name: string; content: string }[] }) =>
      Object.fromEntries(body.files.map(({ name, content }) => [name, content]));
    const { body } = await api.post(`/integrations/${id}/tokens`, {
      ingest_url: ' https://own.example:8443/in/ ',
    });
    const files = textsOf(body);
    expect(Object.keys(files)).toEqual(['alertmanager.yml', 'tocsin-rules.yml', 'tocsin-heartbeat-rule.yml']);
    expect(files['alertmanager.yml']).toContain('https://own.example:8443/in/api/v1/ingest');
    expect(files['alertmanager.yml']).toContain(body.value);
    expect(body.alertmanager_snippet).toContain('https://own.example:8443/in/api/v1/ingest');
    expect(files['tocsin-rules.yml']).toContain('https://tocsin.example.org/runbooks/SvcDown');
    expect(files['tocsin-rules.yml']).not.toContain('localhost');
    const standard = (await api.post(`/integrations/${id}/tokens`, { ingest_url: null })).body;
    expect(textsOf(standard)['alertmanager.yml']).toContain('https://ingest.example.org/api/v1/ingest');
  });

  it.each([
    '',
    'ftp://x',
    'tocsin:8081',
    'https://a:b@x',
    'https://x?a=1',
    'https://x?',
    'https://x#',
    `https://${'x'.repeat(2_000)}`,
  ])('is refused with the address %s, before anything is made', async (ingest_url) => {
    const { id } = await created();
    const refused = await api.post(`/integrations/${id}/tokens`, { ingest_url });
    expect(errorsOf(refused)).toEqual([422, 'invalid_format /ingest_url']);
    expect((await api.get(`/integrations/${id}/tokens`)).body.items).toEqual([]);
    expect((await api.post('/integrations/NT000000000000/tokens', { ingest_url })).status).toBe(404);
  });

  it('has a name of at most 200 characters', async () => {
    const { id } = await created();
    const name = 'x'.repeat(201);
    expect(errorsOf(await api.post(`/integrations/${id}/tokens`, { name }))).toEqual([422, 'too_long /name']);
    expect((await api.post('/integrations/NT000000000000/tokens', { name })).status).toBe(404);
  });

  it('is found until it is revoked, several at a time', async () => {
    const { id } = await created();
    const first = (await api.post(`/integrations/${id}/tokens`)).body;
    const second = (await api.post(`/integrations/${id}/tokens`)).body;
    const found = { tokenId: first.token.id, integrationId: id };
    for (let times = 0; times < 2; times++) {
      expect(await tokens.find(tokenHash(first.value))).toEqual(found);
      expect(await tokens.find(tokenHash('svc_int_unknown'))).toBeNull();
    }
    const path = `/integrations/${id}/tokens/${first.token.id}`;
    expect((await api.delete(path)).status).toBe(204);
    expect(await tokens.find(tokenHash(first.value))).toBeNull();
    expect(await tokens.find(tokenHash(second.value))).not.toBeNull();
    expect((await api.delete(path)).status).toBe(404);
    expect((await api.delete(`/integrations/NT000000000000/tokens/${second.token.id}`)).status).toBe(404);
    expect(audit.entries.at(-1)).toMatchObject({
      action: 'integration_token.revoke',
      resourceId: first.token.id,
    });
    expect((await api.get(`/integrations/${id}/tokens`)).body.items).toEqual([second.token]);
  });

  it('is not remembered by a look-up that was under way when it was revoked', async () => {
    const { id } = await created();
    const { value, token } = (await api.post(`/integrations/${id}/tokens`)).body;
    const early = tokens.find(tokenHash(value));
    tokens.invalidate();
    await early;
    await database.sql()`update integration_tokens set revoked_at = ${NOW} where id = ${token.id}`;
    expect(await tokens.find(tokenHash(value))).toBeNull();
  });

  it('notes its use at most once a minute', async () => {
    const sql = database.sql();
    const { id } = await created();
    const { token } = (await api.post(`/integrations/${id}/tokens`)).body;
    const usedAt = async () => {
      const [row] = await sql<{ last_used_at: number | null }[]>`select last_used_at from integration_tokens`;
      return row?.last_used_at;
    };
    tokens.used(token.id, NOW);
    await expect.poll(usedAt).toBe(NOW);
    tokens.used(token.id, NOW + 59 * SECOND);
    tokens.used(token.id, NOW + 60 * SECOND);
    await expect.poll(usedAt).toBe(NOW + 60 * SECOND);
    expect((await api.get(`/integrations/${id}/tokens`)).body.items[0].last_used_at).toBe(
      '2026-09-21T14:14:20Z',
    );
  });
});
