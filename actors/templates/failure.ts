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
    const lines = source.slice(0, this.offset).split('\n');
    const column = [...(lines.at(-1) ?? '')].length + 1;
    return { code: this.code, message: this.message, line: lines.length, column };
  }
}
