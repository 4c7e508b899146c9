/** What narrows the Request log; all of it is in the address (ui §1.3). Pure. */
import type { Query } from '../../api/client.ts';
import type { RequestDetail } from '../../api/records.ts';

export const DIRECTIONS = ['outbound', 'inbound'] as const;
export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;

/** Empty texts narrow nothing. */
export interface RequestFilters {
  readonly direction: (typeof DIRECTIONS)[number] | '';
  readonly statusClass: (typeof STATUS_CLASSES)[number] | '';
  readonly operation: string;
  readonly alertGroup: string;
  /** Of one check or test. */
  readonly run: string;
}

const OPERATION_LENGTH = 64;
const ALERT_GROUP = /^AG[0-9A-Z]{12}$/;
const RUN = /^RN[0-9A-Z]{12}$/;

/** What the address does not say in a way that can be asked is left out. */
export function parseRequestFilters(search: string): RequestFilters {
  const query = new URLSearchParams(search);
  const group = (query.get('alert_group') ?? '').toUpperCase();
  const run = (query.get('run') ?? '').toUpperCase();
  return {
    direction: DIRECTIONS.find((each) => each === query.get('direction')) ?? '',
    statusClass: STATUS_CLASSES.find((each) => each === query.get('status_class')) ?? '',
    operation: (query.get('operation') ?? '').trim().slice(0, OPERATION_LENGTH),
    alertGroup: ALERT_GROUP.test(group) ? group : '',
    run: RUN.test(run) ? run : '',
  };
}

/** As the API is asked, and as the address says it. */
export function requestQuery({ direction, statusClass, operation, alertGroup, run }: RequestFilters): Query {
  return { direction, status_class: statusClass, operation: operation.trim(), alert_group: alertGroup, run };
}

export function narrows(filters: RequestFilters): boolean {
  return Object.values(filters).some((value) => value !== '');
}

/** A request as a command for a shell. What was masked stays masked, so it holds no secret and may need one. Pure. */
export function curlOf({ method, url, request_headers: headers, request_body: body }: RequestDetail): string {
  const parts = [
    `curl -X ${quoted(method)} ${quoted(url)}`,
    ...headers.map(({ name, value }) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`--data-raw ${quoted(body)}`]),
  ];
  return parts.join(' \\\n  ');
}

/** Nothing in single quotes means anything to a shell, but for the quote itself. */
function quoted(text: string): string {
  return /^[A-Z]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
