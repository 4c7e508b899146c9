/** To the identity provider and back: to sign in, or to link an account (access §6.3 to §6.5). */
import * as v from 'valibot';
import { type Arrival, returnPath, type SingleSignOn } from '../../../actors/access/oidc/sign-in.ts';
import type { Accounts } from '../../../actors/access/ports.ts';
import { formatInstant } from '../../../runtime/clock.ts';
import { UNAVAILABLE } from '../../errors.ts';
import { type Answer, type Call, type Operation, operation } from '../../operation.ts';
import { conflict, refuse } from '../../problem.ts';
import {
  clearedStateCookie,
  readStateCookie,
  sessionBytes,
  sessionCookie,
  stateCookie,
} from '../../request/credentials.ts';
import * as d from '../../schema/described.ts';

export interface OidcSignInDeps {
  readonly singleSignOn: SingleSignOn;
  readonly accounts: Pick<Accounts, 'read'>;
  /** A sign-in through the provider failed. */
  readonly onFailure: () => void;
}

const returned = v.optional(v.string());
const ReturnQuery = v.object({
  code: d.described(returned, 'Code of the provider.'),
  state: d.described(returned, 'What the start gave along.'),
  error: d.described(returned, 'Why the provider refused.'),
  iss: d.described(returned, 'Issuer as the provider names itself.'),
});
type ReturnQuery = v.InferOutput<typeof ReturnQuery>;

const NOT_ENABLED_REFUSAL = [409, 'conflict', 'oidc_not_enabled'] as const;

const LEADS_TO = { Location: 'Where the browser goes next.' };

export function oidcSignInOperations(deps: OidcSignInDeps): readonly Operation[] {
  return [
    operation({
      id: 'startOidcSignIn',
      method: 'GET',
      path: '/sessions/oidc/start',
      tag: 'Sessions',
      summary: 'Sign in through the identity provider',
      description: 'For browsers. Sets a cookie that the return must bring along.',
      needs: 'none',
      query: v.object({
        return_to: d.optionalText('Path of the UI to go to afterwards; else the first page.'),
      }),
      takesAnyQuery: true,
      answers: {
        302: {
          description: 'To the provider, or back to the sign-in page when it is away',
          headers: LEADS_TO,
        },
      },
      refusals: [NOT_ENABLED_REFUSAL],
      handle: (call) => start(deps, call.query.return_to ?? null, call.address),
    }),
    operation({
      id: 'completeOidcSignIn',
      method: 'GET',
      path: '/sessions/oidc/callback',
      tag: 'Sessions',
      summary: 'Return from the identity provider',
      description: 'For browsers. Every failure leads to a page, never to a problem document.',
      needs: 'none',
      query: ReturnQuery,
      takesAnyQuery: true,
      answers: {
        302: {
          description: 'Into the service with a session, or to a page that says what went wrong',
          headers: LEADS_TO,
        },
      },
      handle: (call) => complete(deps, call),
    }),
    operation({
      id: 'startOidcLink',
      method: 'POST',
      path: '/me/oidc-identity',
      tag: 'Profile',
      summary: 'Link your account to the identity provider; its password goes',
      description: 'Send the browser to `authorization_url`; it comes back to the profile page.',
      needs: 'session',
      answers: {
        201: {
          description: 'Where to go on',
          schema: v.object({
            authorization_url: d.url('Where to send the browser.'),
            expires_at: d.time('Until when that can be done.'),
          }),
        },
      },
      refusals: [
        NOT_ENABLED_REFUSAL,
        [409, 'conflict', 'oidc_already_linked'],
        [503, 'coordination-unavailable', ''],
      ],
      handle: (call) => startLink(deps, call),
    }),
  ];
}

async function start(
  { singleSignOn, onFailure }: OidcSignInDeps,
  wanted: string | null,
  address: string,
): Promise<Answer> {
  const departure = await singleSignOn.depart({ link: null, returnTo: returnPath(wanted), address });
  switch (departure.outcome) {
    case 'sent':
      return redirect(departure.url.href, [stateCookie(departure.state)]);
    case 'not_enabled':
      return NOT_ENABLED;
    case 'unreachable':
      onFailure();
      return redirect('/sign-in?error=idp_error', []);
  }
}

async function complete(
  { singleSignOn, onFailure }: OidcSignInDeps,
  { query, header, cookie, address, userAgent, now }: Call<ReturnQuery>,
): Promise<Answer> {
  const arrival = await singleSignOn.arrive({
    code: query.code ?? null,
    state: query.state ?? null,
    error: query.error ?? null,
    iss: query.iss ?? null,
    stateCookie: readStateCookie(header('cookie')),
    session: cookie === null ? null : sessionBytes(cookie),
    address,
    userAgent,
    now,
  });
  if (arrival.outcome === 'failed') onFailure();
  const session =
    arrival.outcome === 'signed_in' ? [sessionCookie(arrival.session.toString('base64url'))] : [];
  return redirect(placeOf(arrival), [clearedStateCookie(), ...session]);
}

function placeOf(arrival: Arrival): string {
  switch (arrival.outcome) {
    case 'signed_in':
      return arrival.returnTo;
    case 'linked':
      return '/profile';
    case 'failed':
      return `/${arrival.of === 'link' ? 'profile' : 'sign-in'}?error=${arrival.error}`;
  }
}

async function startLink(
  { singleSignOn, accounts }: OidcSignInDeps,
  { identity, address }: Call,
): Promise<Answer> {
  const user = identity && (await accounts.read(identity.id));
  if (!user || !identity?.session) throw new Error('a session operation runs with a session');
  if ((await singleSignOn.buttonName()) === null) return NOT_ENABLED;
  if (user.oidc !== null) return ALREADY_LINKED;
  const link = { userId: user.id, sessionId: identity.session.id };
  const departure = await singleSignOn.depart({ link, returnTo: '/profile', address });
  switch (departure.outcome) {
    case 'sent':
      return {
        status: 201,
        body: { authorization_url: departure.url.href, expires_at: formatInstant(departure.expiresAt) },
        cookies: [stateCookie(departure.state)],
      };
    case 'not_enabled':
      return NOT_ENABLED;
    case 'unreachable':
      return refuse(UNAVAILABLE);
  }
}

function redirect(location: string, cookies: readonly string[]): Answer {
  return { status: 302, location, cookies };
}

const NOT_ENABLED = conflict('oidc_not_enabled', 'Signing in through an identity provider is off.');

const ALREADY_LINKED = conflict(
  'oidc_already_linked',
  'This account signs in through the identity provider.',
);
