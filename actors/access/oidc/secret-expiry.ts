/** When the client secret ends, and from when on people are warned (internal-alerts §2.3). */
import { DAY, type Micros, parseInstant } from '../../../runtime/clock.ts';
import type { InternalAlertChange } from '../../internal-alerts/effects.ts';
import type { OidcFields } from './settings.ts';

/** `oidc.secret_expiry_lead`. */
const EXPIRY_LEAD: Micros = 14 * DAY;

/** Whether less than two weeks are left; so it stays once the date has passed. */
export function isSecretExpiring(
  { client_secret_expires_on: date }: Pick<OidcFields, 'client_secret_expires_on'>,
  now: Micros,
): boolean {
  const end = date === null ? null : parseInstant(`${date}T00:00:00Z`);
  return end !== null && end - now < EXPIRY_LEAD;
}

/** How SvcOIDCSecretExpiring stands at `now`. */
export function expiryCondition(fields: OidcFields, now: Micros): InternalAlertChange {
  const { client_secret_expires_on: date } = fields;
  const about = { name: 'SvcOIDCSecretExpiring', entity: null, at: now } as const;
  if (date === null || !fields.enabled || !isSecretExpiring(fields, now)) {
    return { change: 'resolve', ...about };
  }
  return { change: 'raise', date, ...about };
}
