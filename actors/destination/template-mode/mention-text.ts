import type { MentionTarget } from '../../templates/index.ts';

/** What `mention` gives in a request: plain text, whatever the receiver makes of it (webhooks §4.3). */
export function mentionText(target: MentionTarget): string {
  switch (target.type) {
    case 'everyone':
      return `@${target.everyone}`;
    case 'group':
      return target.name;
    case 'user':
      return `@${target.login}`;
    case 'owner':
      return '';
  }
}
