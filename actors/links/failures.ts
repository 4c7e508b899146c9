/** Failing templates of Link rules: each is counted, and told once a rule and Alert Group (messages §9.2). */
import type { Log } from '../../runtime/log.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { FailedRule } from './evaluate.ts';

/** So many failures are remembered as told; an older one is told again. */
const REMEMBERED = 10_000;

export interface LinkFailures {
  report(groupId: PublicId, failed: readonly FailedRule[]): void;
}

export function createLinkFailures(deps: {
  readonly log: Log;
  /** Counts failing templates, where metrics are kept. */
  readonly count: () => void;
}): LinkFailures {
  const told = new Set<string>();
  return {
    report(groupId, failed) {
      for (const { rule, error } of failed) {
        deps.count();
        // A rule that was changed fails anew.
        const key = `${rule.id}/${rule.version}/${groupId}`;
        if (told.has(key)) continue;
        told.add(key);
        if (told.size > REMEMBERED) for (const oldest of told) if (told.delete(oldest)) break;
        const place = `line ${error.line}, column ${error.column}`;
        deps.log('link_rule_failed', {
          link_rule: rule.id,
          group: groupId,
          error: `${place}: ${error.message}`,
        });
      }
    },
  };
}
