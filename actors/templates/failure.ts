/** A mistake at an offset of the source; it never leaves this folder. */
import type { TemplateError } from './types.ts';

export class TemplateFailure extends Error {
  override readonly name = 'TemplateFailure';
  readonly code: TemplateError['code'];
  readonly offset: number;

  constructor(message: string, offset: number, code: TemplateError['code'] = 'template_syntax') {
    super(message);
    this.code = code;
    this.offset = offset;
  }

  at(source: string): TemplateError {
    return { code: this.code, message: this.message, ...positionIn(source, this.offset) };
  }
}

/** 1-based; the column in code points. */
export function positionIn(source: string, offset: number): Pick<TemplateError, 'line' | 'column'> {
  const lines = source.slice(0, offset).split('\n');
  return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 };
}
