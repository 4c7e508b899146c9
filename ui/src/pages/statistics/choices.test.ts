import { describe, expect, it } from 'vitest';
import { type Choices, choicesToQuery, daysOf, flowQuery, parseChoices, statisticsQuery } from './choices.ts';

const NOW = Date.parse('2026-11-22T23:30:00Z');
const choose = (search: string): Choices => parseChoices(search).choices;

describe('the address of the statistics page', () => {
  it('is plain for the defaults', () => {
    expect(choicesToQuery(choose('')).toString()).toBe('');
  });

  it.each([
    'by=integration&period=30d&integration=NT1&integration=NT2',
    'period=custom&from=2026-03-01&to=2026-03-31&zone=Europe%2FBerlin',
    'route=RT1&sort=-ack_p95&open=RT1&open=RT2',
  ])('%s comes back as it was', (query) => {
    expect(choicesToQuery(choose(query)).toString()).toBe(query);
    expect(parseChoices(query).dropped).toEqual([]);
  });

  it('leaves out what says nothing and names it', () => {
    const { choices, dropped } = parseChoices('by=colour&period=week&zone=Mars%2FBase&sort=luck&from=soon');
    expect(choices).toEqual(choose(''));
    expect(dropped).toEqual(['by', 'period', 'from', 'zone', 'sort']);
  });

  it.each([
    ['without an end', 'period=custom&from=2026-03-01'],
    ['turned round', 'period=custom&from=2026-03-02&to=2026-03-01'],
    ['longer than a year', 'period=custom&from=2024-01-01&to=2026-01-01'],
  ])('a custom period %s becomes the default', (_, query) => {
    const { choices, dropped } = parseChoices(query);
    expect(choices).toMatchObject({ period: '7d', from: null, to: null });
    expect(dropped).toEqual(['period']);
  });

  it('keeps only the filter of what it is grouped by', () => {
    expect(choose('by=integration&route=RT1').subjects).toEqual([]);
  });
});

describe('what is asked', () => {
  it('is whole days of the zone, today included', () => {
    expect(daysOf(choose(''), 'UTC', NOW)).toEqual({ first: '2026-11-16', last: '2026-11-22' });
    expect(daysOf(choose(''), 'Europe/Berlin', NOW)).toEqual({ first: '2026-11-17', last: '2026-11-23' });
  });

  it('is one day for today, of the table and of the picture', () => {
    const today = choose('period=1d');
    expect(choicesToQuery(today).toString()).toBe('period=1d');
    const day = { from: '2026-11-22T23:00:00.000Z', to: '2026-11-23T23:00:00.000Z' };
    expect(statisticsQuery(today, 'Europe/Berlin', NOW)).toMatchObject(day);
    expect(flowQuery(today, 'Europe/Berlin', NOW)).toEqual(day);
  });

  it('bounds days at the midnights of the zone, over a change of the clocks too', () => {
    const march = choose('period=custom&from=2027-03-28&to=2027-03-28');
    expect(statisticsQuery(march, 'Europe/Berlin', NOW)).toEqual({
      group_by: 'route',
      route: [],
      from: '2027-03-27T23:00:00.000Z',
      to: '2027-03-28T22:00:00.000Z',
      time_zone: 'Europe/Berlin',
    });
  });
});
