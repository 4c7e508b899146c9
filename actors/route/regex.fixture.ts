/** The engine itself, which shortcuts are compared with. */
import { RE2JS } from 're2js';

/** Matches whole values; null when the expression is refused. */
export function wholeEngine(expression: string): RE2JS | null {
  try {
    RE2JS.compile(expression);
    return RE2JS.compile(`^(?:${expression})$`);
  } catch {
    return null;
  }
}
