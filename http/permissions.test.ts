import { describe, expect, test } from 'vitest';
import { otherOperations, pathOf } from '../test/every-operation.ts';
import { startHttp } from '../test/http-server.ts';
import type { Operation } from './operation.ts';
import { inCatalogueOrder, PERMISSIONS, ROLE_PERMISSIONS, ROLES } from './permissions.ts';
import { isPermission } from './request/admission.ts';

/** What a request without a body or If-Match gets once it was let in. */
const LET_IN = [200, 201, 204, 302, 400, 404, 409, 412, 422, 428];

/** Signing out ends the session that the next request needs; the stream never ends. */
function endsTheTest({ id }: Operation): boolean {
  return ['deleteCurrentSession', 'deleteMySessions', 'streamLiveUpdates'].includes(id);
}

describe('what each Role may do', () => {
  test('31 Permissions for admin, 12 for responder, 8 for viewer', () => {
    expect(ROLES.map((role) => ROLE_PERMISSIONS[role].size)).toEqual([31, 12, 8]);
    expect(inCatalogueOrder(ROLE_PERMISSIONS.admin)).toEqual(PERMISSIONS);
  });

  test.each(ROLES)('every operation lets a %s in exactly when the table says so', async (role) => {
    const { http, send, signIn } = await startHttp({ operations: otherOperations() });
    const caller = await signIn(role);
    for (const operation of http.operations.filter((candidate) => !endsTheTest(candidate))) {
      const { status, json } = await send(operation.method, pathOf(operation), { as: caller }).then(
        (answer) => ({ status: answer.status, json: answer.text.startsWith('{') ? answer.json : {} }),
      );
      const { needs, id } = operation;
      const held = !isPermission(needs) || ROLE_PERMISSIONS[role].has(needs);
      if (held) expect([id, LET_IN.includes(status)]).toEqual([id, true]);
      else expect([id, status, json.detail]).toEqual([id, 403, `This needs the permission ${needs}.`]);
    }
  });

  test('without credentials only public operations answer', async () => {
    const { http, send } = await startHttp({ operations: otherOperations() });
    for (const operation of http.operations) {
      const { status, headers } = await send(operation.method, pathOf(operation));
      const open = operation.needs === 'none';
      expect([operation.id, status === 401]).toEqual([operation.id, !open]);
      expect(headers['www-authenticate']).toBeUndefined();
    }
  });

  test('no Bearer token is valid, whatever cookie comes with it', async () => {
    const { http, send, signIn } = await startHttp({ operations: otherOperations() });
    const admin = await signIn('admin');
    for (const operation of http.operations.filter(({ needs }) => needs !== 'none')) {
      const headers = {
        authorization: 'Bearer svc_pat_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
      };
      const answer = await send(operation.method, pathOf(operation), { as: admin, headers });
      expect([operation.id, answer.status, answer.json.code]).toEqual([
        operation.id,
        401,
        'invalid_credentials',
      ]);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    }
  });
});

describe('mutations', () => {
  test('without the CSRF token of the session are refused, public ones aside', async () => {
    const { http, send, signIn } = await startHttp({ operations: otherOperations() });
    const admin = await signIn('admin');
    const mutations = http.operations.filter(({ method, needs }) => method !== 'GET' && needs !== 'none');
    expect(mutations.length).toBeGreaterThan(40);
    for (const operation of mutations) {
      for (const headers of [{ cookie: admin.cookie }, { cookie: admin.cookie, 'x-csrf-token': 'wrong' }]) {
        const answer = await send(operation.method, pathOf(operation), { headers });
        expect([operation.id, answer.status, answer.json.code]).toEqual([operation.id, 403, 'csrf_invalid']);
      }
    }
  });

  test('marked as cross-site are refused, public ones included; reads are not', async () => {
    const { http, send, signIn } = await startHttp({ operations: otherOperations() });
    const admin = await signIn('admin');
    const headers = { 'sec-fetch-site': 'cross-site' };
    for (const operation of http.operations.filter((candidate) => !endsTheTest(candidate))) {
      const { status, text } = await send(operation.method, pathOf(operation), { as: admin, headers });
      const refused = status === 403 && JSON.parse(text).code === 'csrf_invalid';
      expect([operation.id, refused]).toEqual([operation.id, operation.method !== 'GET']);
    }
  });

  test.each(['none', 'same-origin', 'same-site'])('marked %s pass', async (mark) => {
    const { send } = await startHttp({ operations: otherOperations() });
    const answer = await send('POST', '/api/v1/sessions', { body: {}, headers: { 'sec-fetch-site': mark } });
    expect(answer.status).toBe(400);
  });
});

describe('a session that waits for its second factor', () => {
  test.each(['totp_required', 'totp_enrolment_required'] as const)(
    '%s opens only what the table says',
    async (state) => {
      const { http, access, send, signIn } = await startHttp({ operations: otherOperations() });
      const admin = await signIn('admin');
      access.requireTotp('everyone');
      for (const live of access.sessionsOf(admin.userId)) access.changeSession(live.id, { state });
      for (const operation of http.operations.filter(
        (candidate) => candidate.id !== 'deleteCurrentSession',
      )) {
        if (operation.needs === 'none') continue;
        const answer = await send(operation.method, pathOf(operation), { as: admin });
        const open = operation.needs === 'cookie' || operation.alsoIn?.includes(state);
        if (open) expect([operation.id, answer.status === 403]).toEqual([operation.id, false]);
        else expect([operation.id, answer.status, answer.json.code]).toEqual([operation.id, 403, state]);
      }
    },
  );
});
