/** Users, the own profile and second factors, kept while the mock runs. The code 000000 and the password "wrong" are wrong. */
import type { SessionInfo, TotpStatus } from '../src/api/people.ts';
import type { Session, User } from '../src/api/shapes.ts';
import type { MockAnswer, MockRequest } from './mock-api.ts';

type Handler = (request: MockRequest, params: readonly string[]) => MockAnswer;

const daysFromNow = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const bump = (etag: string) => `"${Number(etag.slice(1, -1)) + 1}"`;
const NOTHING: MockAnswer = { status: 204 };

function refused(status: number, type: string, more: Record<string, unknown> = {}): MockAnswer {
  return {
    status,
    body: { type: `https://tocsin.invalid/problems/${type}`, title: type, status, ...more },
  };
}
const invalid = (pointer: string, code: string) =>
  refused(422, 'validation-failed', { errors: [{ pointer, code, detail: `Refused: ${code}.` }] });
const WRONG = refused(401, 'unauthenticated', { code: 'invalid_credentials' });

export function mockUser(id: string, name: string, more: Partial<User> = {}): User {
  return {
    id,
    name,
    login: name.toLowerCase().replaceAll(' ', '.'),
    email: `${name.toLowerCase().replaceAll(' ', '.')}@example.org`,
    role: 'responder',
    role_locked: false,
    source: 'local',
    oidc_offline_access: false,
    sign_in_method: 'local',
    status: 'active',
    totp_enabled: false,
    time_zone: null,
    language: null,
    last_sign_in_at: daysFromNow(-0.2),
    created_at: daysFromNow(-200),
    etag: '"1"',
    ...more,
  };
}

const CODES = Array.from({ length: 10 }, (_, index) => `h7k2${index}-9qm4${index}`);
const CHROME =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36';
const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Safari/604';

export function mockPeople(session: Session): Record<string, Handler> {
  let users: readonly User[] = [
    session.user,
    mockUser('SR000000000002', 'Grace Hopper', { totp_enabled: true }),
    mockUser('SR000000000003', 'Barbara Liskov', {
      ...{ source: 'oidc', sign_in_method: 'oidc', role_locked: true, role: 'viewer' },
    }),
    mockUser('SR000000000004', 'Edsger Dijkstra', { status: 'disabled', last_sign_in_at: null }),
    mockUser('SR000000000005', 'deleted-user-SR000000000005', {
      ...{ status: 'deleted', email: null, login: 'deleted-user-SR000000000005' },
    }),
  ];
  let totp: TotpStatus | null = null;
  const totpNow = (): TotpStatus =>
    totp ?? {
      enrolled: session.user.totp_enabled,
      enrolled_at: session.user.totp_enabled ? daysFromNow(-30) : null,
      enrolment_pending: false,
      recovery_codes_remaining: session.user.totp_enabled ? 2 : 0,
    };
  const sessions: readonly SessionInfo[] = [
    {
      ...{ id: 'SN000000000001', method: 'local', address: '203.0.113.9', user_agent: CHROME, current: true },
      ...{ created_at: daysFromNow(-2), last_used_at: daysFromNow(0) },
    },
    {
      ...{ id: 'SN000000000002', method: 'local', address: '2001:db8::7', user_agent: PHONE, current: false },
      ...{ created_at: daysFromNow(-5), last_used_at: daysFromNow(-0.3) },
    },
  ];
  const link = () => ({
    url: 'https://oncall.example.org/password-setup#token=3q2-7wABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhs',
    expires_at: daysFromNow(1),
  });
  const change = (id: string | undefined, by: Partial<User>): MockAnswer => {
    const user = users.find((each) => each.id === id);
    if (!user) return refused(404, 'not-found');
    const next = { ...user, ...by, etag: bump(user.etag) };
    users = users.map((each) => (each.id === id ? next : each));
    return { status: 200, body: next, etag: next.etag };
  };
  const isLastAdmin = (id: string | undefined) =>
    users.filter((user) => user.role === 'admin' && user.status === 'active').every((user) => user.id === id);
  const LAST_ADMIN = refused(409, 'conflict', { code: 'last_admin' });
  const confirmed = () => {
    totp = {
      ...{ enrolled: true, enrolled_at: daysFromNow(0), enrolment_pending: false },
      recovery_codes_remaining: 10,
    };
    return { status: 200, body: { codes: CODES } };
  };

  return {
    'GET /users': ({ query }) => {
      const q = query.get('q')?.toLowerCase() ?? '';
      const fits = (name: 'role' | 'status' | 'source') => (user: User) =>
        query.get(name) === null || query.get(name) === user[name];
      const items = users
        .filter(({ name, login, email }) => `${name} ${login} ${email}`.toLowerCase().includes(q))
        .filter((user) => (['role', 'status', 'source'] as const).every((name) => fits(name)(user)));
      return { status: 200, body: { items, next_cursor: null } };
    },
    'POST /users': ({ body }) => {
      const input = body as Pick<User, 'name' | 'login' | 'email' | 'role'>;
      if (input.name.trim() === '') return invalid('/name', 'required');
      if (users.some(({ login }) => login === input.login))
        return refused(409, 'conflict', { code: 'name_taken' });
      const user = mockUser('SR000000000009', input.name, { ...input, last_sign_in_at: null });
      users = [...users, user];
      return { status: 201, body: { user, password_setup_link: link() } };
    },
    'GET /users/:id': (_, [id]) => {
      const user = users.find((each) => each.id === id);
      return user ? { status: 200, body: user, etag: user.etag } : refused(404, 'not-found');
    },
    'PUT /users/:id': ({ body }, [id]) => {
      const { name, email, role } = body as User;
      return role !== 'admin' && isLastAdmin(id) ? LAST_ADMIN : change(id, { name, email, role });
    },
    'DELETE /users/:id': (_, [id]) => {
      if (isLastAdmin(id)) return LAST_ADMIN;
      change(id, { status: 'deleted', name: `deleted-user-${id}`, email: null });
      return NOTHING;
    },
    'POST /users/:id/disable': (_, [id]) =>
      isLastAdmin(id) ? LAST_ADMIN : change(id, { status: 'disabled' }),
    'POST /users/:id/enable': (_, [id]) => change(id, { status: 'active' }),
    'POST /users/:id/reset-totp': (_, [id]) => {
      change(id, { totp_enabled: false });
      return NOTHING;
    },
    'POST /users/:id/convert-to-local': (_, [id]) => ({
      status: 200,
      body: { user: change(id, { sign_in_method: 'local' }).body, password_setup_link: link() },
    }),
    'POST /users/:id/password-setup-links': () => ({ status: 201, body: link() }),
    'PUT /me': ({ body }) => {
      const { name, time_zone, language } = body as User;
      if (name.trim() === '') return invalid('/name', 'required');
      if (time_zone?.startsWith('Mars')) return invalid('/time_zone', 'invalid_format');
      return { status: 200, body: { user: change(session.user.id, { name, time_zone, language }).body } };
    },
    'PUT /me/password': ({ body }) => {
      const { current_password, new_password } = body as Record<string, string>;
      if ((new_password?.length ?? 0) < 12) return invalid('/new_password', 'too_short');
      return current_password === 'wrong' ? WRONG : NOTHING;
    },
    'GET /me/sessions': () => ({ status: 200, body: { items: sessions } }),
    'DELETE /me/sessions': () => NOTHING,
    'GET /me/totp': () => ({ status: 200, body: totpNow() }),
    'POST /me/totp': () => ({
      status: 201,
      body: {
        secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
        otpauth_uri: `otpauth://totp/Tocsin:${session.user.login}?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Tocsin`,
      },
    }),
    'POST /me/totp/confirmation': ({ body }) => {
      if ((body as { code: string }).code === '000000') return WRONG;
      Object.assign(session, { state: 'active' });
      return confirmed();
    },
    'POST /me/totp/recovery-codes': ({ body }) =>
      (body as { code: string }).code === '000000' ? WRONG : confirmed(),
    'POST /me/totp/removal': ({ body }) => {
      const given = Object.values(body as Record<string, string>);
      if (given.includes('slow')) return refused(429, 'rate-limited', { retry_after_seconds: 8 });
      if (given.includes('wrong') || given.includes('000000')) return WRONG;
      totp = { enrolled: false, enrolled_at: null, enrolment_pending: false, recovery_codes_remaining: 0 };
      return NOTHING;
    },
    'POST /sessions/current/totp': ({ body }) => {
      if (Object.values(body as Record<string, string>).includes('000000')) return WRONG;
      Object.assign(session, { state: 'active' });
      return { status: 200, body: session };
    },
    'POST /password-setups': ({ body }) => {
      const { token, password } = body as Record<string, string>;
      if (token === 'used') return refused(410, 'gone', { code: 'link_used' });
      if (token === 'expired') return refused(410, 'gone', { code: 'link_expired' });
      return (password?.length ?? 0) < 12 ? invalid('/password', 'too_short') : NOTHING;
    },
  };
}
