import { expect, test } from 'vitest';
import { alerts, group412, settings } from './messages.fixture.ts';
import { plainFinalNotice, plainReply } from './reply-text.ts';

test('a reply is plain text that mentions nobody and shows where its links lead', () => {
  const told = { event: 'ack_timeout', last: false } as const;
  const group = group412({ title: 'Disk @all' });
  expect(plainReply(told, group, settings()).text).toBe(
    '#412 Disk @\u200Ball is waiting for an owner\nOpen in Tocsin: https://oncall.example.org/alert-groups/AGK7M3QX9P2RTA',
  );
  const added = { event: 'alerts_added', alerts: alerts([{ labels: { pod: 'a_b' } }]) } as const;
  expect(plainReply(added, group412(), settings()).text).toBe('1 new alert\n- pod: a_b');
});

test('the last text says where the state is kept', () => {
  expect(plainFinalNotice('https://x/y', settings())).toBe(
    'Not kept up to date any more. Current state: https://x/y',
  );
});
