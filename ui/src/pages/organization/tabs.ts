/** Apart from their forms: the palette names them, too. */

/** The pages of the Organization's settings, in order. */
export const TABS = [
  'general',
  'severity-levels',
  'alert-handling',
  'retention',
  'network',
  'security',
  'outgoing-heartbeat',
] as const;
type Tab = (typeof TABS)[number];

export const pathOf = (tab: Tab) => `/admin/organization/${tab}`;

export function tabOf(id: string): Tab | null {
  return TABS.find((tab) => tab === id) ?? null;
}
