import { expect, it } from 'vitest';
import { fromDraft, NEW_RULE, toDraft } from './link-rule-input.ts';

it('sends what was read when nothing was changed', () => {
  const rule = {
    ...NEW_RULE,
    name: 'Pods',
    matchers: [{ label: 'pod', op: '=~', value: '.+' }],
    scope: { type: 'label_value', label: 'pod' },
  } as const;
  expect(fromDraft(toDraft(rule))).toEqual(rule);
  expect(fromDraft(toDraft(NEW_RULE))).toEqual(NEW_RULE);
});

it('sends no label with a scope that has none, and no empty Matchers', () => {
  const draft = {
    ...toDraft(NEW_RULE),
    label: 'pod',
    matchers: [{ label: '', op: '=', value: '' } as const],
  };
  expect(fromDraft(draft)).toMatchObject({ scope: { type: 'alert_group', label: null }, matchers: [] });
});
