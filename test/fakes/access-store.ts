/** An access store in memory, for tests of the HTTP layer. */
import { ORGANIZATION_DEFAULTS, type StoredOrganization } from '../../actors/access/organization.ts';
import type { Passwords } from '../../actors/access/passwords.ts';
import type { AccessStore, Account, Throttle, ThrottleKeys } from '../../actors/access/ports.ts';
import type { Proof, SecondFactor } from '../../actors/access/second-factor.ts';
import { type Session, sessionStanding } from '../../actors/access/session.ts';
import {
  countAttempt,
  evaluated,
  type Failures,
  NO_FAILURES,
  pairKey,
  type Slowdown,
  takeBack,
} from '../../actors/access/throttle.ts';
import { foldLogin, type RoleName, type User } from '../../actors/access/user.ts';
import type { AuditEntry } from '../../actors/effects.ts';
import type { Micros } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';

export interface MemoryAccess extends AccessStore {
  readonly audit: readonly AuditEntry[];
  /** Adds a user whose login is also the name; the password is `password of <login>`. */
  addUser(login: string, role: RoleName): User;
  changeUser(id: PublicId, change: Partial<User>): void;
  changeSession(id: PublicId, change: Partial<Session>): void;
  sessionsOf(id: PublicId): readonly Session[];
  userOf(id: PublicId): User | null;
  /** Gives a user a second factor. */
  enrol(id: PublicId, factor: SecondFactor): void;
  /** What the Organization asks of people. */
  requireTotp(policy: StoredOrganization['totp_required']): void;
}

interface StoredSession {
  session: Session;
  readonly hash: string;
}

export function createMemoryAccess(): MemoryAccess {
  const accounts = new Map<PublicId, Account>();
  const sessions = new Map<PublicId, StoredSession>();
  const audit: AuditEntry[] = [];
  const throttle = createMemoryThrottle(audit);
  const userOf = (id: PublicId) => accounts.get(id)?.user ?? null;
  const keyOf = (hash: Uint8Array) => Buffer.from(hash).toString('hex');
  const byHash = (hash: Uint8Array) => [...sessions.values()].find((stored) => stored.hash === keyOf(hash));
  const patch = (id: PublicId, change: Partial<Session>) => {
    const stored = sessions.get(id);
    if (stored) stored.session = { ...stored.session, ...change };
  };
  const isLive = (id: PublicId, now: Micros) => {
    const session = sessions.get(id)?.session;
    const user = session && userOf(session.userId);
    return Boolean(session && user && sessionStanding({ session, user }, now) === 'live');
  };

  let totpRequired: StoredOrganization['totp_required'] = 'nobody';
  const enrol = (id: PublicId, factor: SecondFactor) => {
    const account = accounts.get(id);
    if (!account) return;
    accounts.set(id, {
      ...account,
      user: { ...account.user, totpEnabled: true },
      secondFactor: () => factor,
    });
  };
  const consume = ({ user, secondFactor }: Account, proof: Proof) => {
    const factor = secondFactor();
    if (!factor) return false;
    if (proof.kind === 'recovery_code') {
      const left = factor.recoveryCodes.filter((hash) => hash !== proof.hash);
      enrol(user.id, { ...factor, recoveryCodes: left });
      return left.length < factor.recoveryCodes.length;
    }
    enrol(user.id, { ...factor, lastStep: proof.step });
    return factor.lastStep === null || factor.lastStep < proof.step;
  };

  return {
    audit,
    userOf,
    addUser(login, role) {
      const user: User = { ...NEW_USER, id: newPublicId('SR'), login, name: login, role };
      accounts.set(user.id, { user, passwordHash: `password of ${login}`, secondFactor: () => null });
      return user;
    },
    changeUser(id, change) {
      const account = accounts.get(id);
      if (account) accounts.set(id, { ...account, user: { ...account.user, ...change } });
    },
    enrol,
    requireTotp: (policy) => {
      totpRequired = policy;
    },
    changeSession: patch,
    sessionsOf: (id) =>
      [...sessions.values()].map((stored) => stored.session).filter((session) => session.userId === id),
    sessions: {
      async find(hash) {
        const session = byHash(hash)?.session;
        const user = session && userOf(session.userId);
        return session && user ? { session, user } : null;
      },
      touch: async (id, at) => patch(id, { lastUsedAt: at }),
      async end(id, reason, at, entry) {
        if (sessions.get(id)?.session.endedAt !== null) return false;
        patch(id, { endedAt: at, endReason: reason });
        if (entry) audit.push(entry);
        return true;
      },
      listOf: async (userId, now) =>
        [...sessions.values()]
          .map(({ session }) => ({ ...session, address: null, userAgent: null }))
          .filter((session) => session.userId === userId && isLive(session.id, now)),
      activate: async (id) => patch(id, { state: 'active' }),
      async endAll(userId, reason, at, entry) {
        for (const { session } of sessions.values()) {
          if (session.userId === userId) patch(session.id, { endedAt: at, endReason: reason });
        }
        audit.push(entry);
      },
      live: async (ids, now) => new Set(ids.filter((id) => isLive(id, now))),
    },
    accounts: {
      findByLogin: async (folded) =>
        [...accounts.values()].find(({ user }) => foldLogin(user.login) === folded) ?? null,
      read: async (id) => userOf(id),
      secondFactor: async (id) => accounts.get(id)?.secondFactor() ?? null,
      async signIn({ session, hash, attempt, proof, replaces, entry }) {
        const account = accounts.get(session.userId);
        if (account?.user.status !== 'active') return { refused: 'inactive' };
        if (proof && !consume(account, proof)) return { refused: 'wrong_code' };
        const replaced = replaces && byHash(replaces);
        if (replaced) patch(replaced.session.id, { endedAt: session.createdAt, endReason: 'sign_out' });
        const user = { ...account.user, lastSignInAt: session.createdAt };
        accounts.set(user.id, { ...account, user });
        sessions.set(session.id, { session, hash: keyOf(hash) });
        if (attempt && session.state === 'active') throttle.clear(attempt);
        else if (attempt) await throttle.release(attempt, session.createdAt);
        audit.push(entry);
        return { user };
      },
      async completeSignIn({ sessionId, userId, proof, attempt, entry }) {
        const account = accounts.get(userId);
        if (sessions.get(sessionId)?.session.state !== 'totp_required') return 'not_pending';
        if (!account || !consume(account, proof)) return 'wrong_code';
        patch(sessionId, { state: 'active' });
        throttle.clear(attempt);
        audit.push(entry);
        return 'active';
      },
    },
    throttle,
    users: {
      async page(_q, connectionId, _after, limit) {
        const isLinked = connectionId === null ? null : false;
        const users = [...accounts.values()].map(({ user }) => ({ ...user, isLinked }));
        return { users: users.slice(0, limit), next: null };
      },
    },
    organization: {
      read: async () => ({
        id: ORGANIZATION_ID,
        version: 3,
        settings: { ...ORGANIZATION_DEFAULTS, totp_required: totpRequired },
      }),
    },
  };
}

const ORGANIZATION_ID = 'RG0000000000AA' as PublicId;

const NEW_USER = {
  version: 1,
  email: null,
  source: 'local',
  status: 'active',
  timeZone: null,
  language: null,
  lastSignInAt: null,
  createdAt: 0,
  hasPassword: true,
  totpEnabled: false,
  oidc: null,
  roleLocked: false,
} as const;

function createMemoryThrottle(audit: AuditEntry[]): Throttle & { clear(keys: ThrottleKeys): void } {
  const known = new Map<string, Failures>();
  const read = (keys: ThrottleKeys): Slowdown => ({
    account: known.get(keys.account) ?? NO_FAILURES,
    pair: known.get(pairKey(keys)) ?? NO_FAILURES,
    source: known.get(keys.source) ?? NO_FAILURES,
  });
  const write = (keys: ThrottleKeys, { account, pair, source }: Slowdown) => {
    known.set(keys.account, account).set(pairKey(keys), pair).set(keys.source, source);
  };

  return {
    clear: (keys) => {
      for (const key of [keys.account, pairKey(keys), keys.source]) known.delete(key);
    },
    async admit(keys, now) {
      const decision = countAttempt(read(keys), now);
      if ('wait' in decision) return { admitted: false, wait: decision.wait };
      write(keys, decision.counted);
      return { admitted: true };
    },
    async failed(keys, startedAt, entry) {
      const { account, ...rest } = read(keys);
      write(keys, { ...rest, account: evaluated(account, startedAt) });
      audit.push(entry);
    },
    release: async (keys, startedAt) => write(keys, takeBack(read(keys), startedAt)),
  };
}

/** Passwords that are their own hashes. */
export const plainPasswords: Passwords = {
  hash: async (password) => password,
  check: async (stored, password) => (stored === password ? 'right' : 'wrong'),
};
