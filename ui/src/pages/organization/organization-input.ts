/** The forms of the Organization's settings and what is sent: always all of it, whichever page is open. */
import type { OrganizationInput, OrganizationSettings, OutboundPolicyInput } from '../../api/organization.ts';
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

/** How well a colour is seen (WCAG 2.2: 3 to 1 for what is no text). */

const BACKGROUNDS = { light: '#ffffff', dark: '#16181d' } as const;
const ENOUGH = 3;

/** The themes on whose background a colour is hard to see. */
export function hardToSee(color: string): readonly (keyof typeof BACKGROUNDS)[] {
  const themes = Object.keys(BACKGROUNDS) as (keyof typeof BACKGROUNDS)[];
  return themes.filter((theme) => contrast(color, BACKGROUNDS[theme]) < ENOUGH);
}

/** @param one,other `#rrggbb` */
function contrast(one: string, other: string): number {
  const [bright = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (bright + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
    linear(Number.parseInt(color.slice(at, at + 2), 16)),
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function linear(channel: number): number {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

/** The outbound policy as a form changes it. */
export function toPolicyDraft({ policy, allowed, denied }: OutboundPolicyInput) {
  return { policy, allowed: [...allowed], denied: [...denied] };
}
