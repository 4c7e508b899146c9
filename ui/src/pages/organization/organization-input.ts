/** The forms of the Organization's settings and what is sent: always all of it, whichever page is open. */
import type { OrganizationInput, OrganizationSettings } from '../../api/organization.ts';
import type { SeverityLevel } from '../../api/shapes.ts';
import { fromProxyDraft, type ProxyDraft, toProxyDraft } from '../../forms/proxy-draft.ts';

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

export interface OrganizationDraft
  extends Mutable<
    Pick<
      OrganizationSettings,
      | 'name'
      | 'time_zone'
      | 'workday_start'
      | 'week_start'
      | 'severity_label'
      | 'critical_is_urgent'
      | 'totp_required'
      | 'oidc_token_grace_seconds'
    >
  > {
  severity_mapping: { value: string; level: SeverityLevel }[];
  severity_styles: { level: SeverityLevel; emoji: string; color: string }[];
  instance_labels: string[];
  retention: Mutable<OrganizationSettings['retention']>;
  /** Empty: what is stored stays. */
  url: string;
  removesUrl: boolean;
  proxy: ProxyDraft;
}

export function toDraft(settings: OrganizationSettings): OrganizationDraft {
  const { id: _id, etag: _etag, outgoing_heartbeat, ...fields } = settings;
  return {
    ...fields,
    severity_mapping: settings.severity_mapping.map((entry) => ({ ...entry })),
    severity_styles: settings.severity_styles.map((style) => ({ ...style })),
    instance_labels: [...settings.instance_labels],
    retention: { ...settings.retention },
    url: '',
    removesUrl: false,
    proxy: toProxyDraft(outgoing_heartbeat.proxy),
  };
}

export function fromDraft({ url, removesUrl, proxy, ...fields }: OrganizationDraft): OrganizationInput {
  const change = removesUrl ? { url: null } : url === '' ? {} : { url };
  return { ...fields, outgoing_heartbeat: { ...change, proxy: fromProxyDraft(proxy) } };
}

const HIDDEN = '•••';

/** The same without secrets: what may be shown beside another version. */
export function shown(draft: OrganizationDraft): OrganizationInput {
  const { url, proxy } = draft;
  return fromDraft({
    ...draft,
    url: url === '' ? '' : HIDDEN,
    proxy: { ...proxy, password: proxy.password === '' ? '' : HIDDEN },
  });
}
