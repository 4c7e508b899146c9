import { expect, test } from 'vitest';
import { type Group, openApi, table } from './api.ts';

const env = { SVC_API_TOKEN: 'token', HOME: '/nowhere' };

test('an address with a login is refused without repeating it', () => {
  const open = () => openApi({ url: 'http://ada:s3cret@127.0.0.1:8080' }, env);
  expect(open).toThrow('The address of the API holds no login');
  expect(open).not.toThrow(/s3cret/);
});

test.each(['127.0.0.1:8080', 'ftp://127.0.0.1', ''])('%j is no address of the API', (url) => {
  expect(() => openApi({ url }, env)).toThrow(/address|where the API is/);
});

test('the table says what is Urgent and until when a Snooze lasts, to the minute', () => {
  const group = (number: number, change: Partial<Group>): Group => ({
    ...{ id: 'AG', number, title: 'DiskFull', summary: null, status: 'snoozed', severity_level: 'warning' },
    ...{
      owner: null,
      snooze_until: null,
      urgent: false,
      route: { name: 'R' },
      started_at: '2026-10-03T10:00:59.5Z',
    },
    ...{ firing_alert_count: 1, resolved_alert_count: 0, group_labels: {}, links: [], allowed_commands: [] },
    ...change,
  });
  const minute = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d`;
  const [, first, second] = table([
    group(1, { urgent: true, snooze_until: '2026-10-03T12:00:00.123456Z' }),
    group(2, {}),
  ]);
  expect(first).toMatch(
    new RegExp(`^#1 +snoozed until ${minute} +warning +urgent +${minute} +R +- +DiskFull$`),
  );
  expect(second).toMatch(new RegExp(`^#2 +snoozed +warning +- +${minute} +R +- +DiskFull$`));
});
