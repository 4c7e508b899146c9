/** Where the runbook of an alert about Tocsin itself is (internal-alerts §2.2). */

export interface Runbooks {
  /** Without a slash at the end; null for no links. */
  readonly base: string | null;
  /** Of the running build. */
  readonly version: string;
}

/** Null when alerts carry no link. */
export function runbookUrl({ base, version }: Runbooks, alertname: string): string | null {
  if (base === null || base === '') return null;
  return `${base.replace(/\/+$/, '')}/${editionOf(version)}/operations/runbooks/${alertname}/`;
}

const DEVELOPMENT = '0.0.0';

/** Documentation is published by major and minor version. */
function editionOf(version: string): string {
  const numbers = /^(\d+)\.(\d+)\.\d+/.exec(version);
  if (!numbers || numbers[0] === DEVELOPMENT) return 'latest';
  return `${numbers[1]}.${numbers[2]}`;
}
