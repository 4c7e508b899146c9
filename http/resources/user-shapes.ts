/** Shapes of people and sessions (seed 2 §2.2, §2.3). */
import * as v from 'valibot';
import { SESSION_STATES } from '../../actors/access/session.ts';
import { PERMISSIONS, ROLES } from '../permissions.ts';

export const UserShape = v.object({
  id: v.string(),
  name: v.string(),
  login: v.string(),
  email: v.nullable(v.string()),
  role: v.picklist(ROLES),
  role_locked: v.boolean(),
  source: v.picklist(['local', 'oidc', 'bootstrap']),
  oidc_offline_access: v.boolean(),
  sign_in_method: v.picklist(['local', 'oidc']),
  status: v.picklist(['active', 'disabled', 'deleted']),
  totp_enabled: v.boolean(),
  time_zone: v.nullable(v.string()),
  language: v.nullable(v.picklist(['en', 'ru'])),
  last_sign_in_at: v.nullable(v.string()),
  created_at: v.string(),
  etag: v.string(),
});

export const PermissionShape = v.picklist(PERMISSIONS);

export const SessionShape = v.object({
  user: UserShape,
  state: v.picklist(SESSION_STATES),
  csrf_token: v.string(),
  expires_at: v.string(),
  idle_expires_at: v.string(),
  method: v.picklist(['local', 'oidc']),
  permissions: v.array(PermissionShape),
});
