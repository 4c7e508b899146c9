/** Reads single variables and gathers everything that is wrong with them. */
import { type InferOutput, safeParse } from 'valibot';
import { type SETTINGS, type SettingName, settingOf } from './config-settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
/** The text of a file. @throws {Error} with a `code` such as ENOENT */
export type ReadFile = (path: string) => string;

type ValueOf<Name extends SettingName> = InferOutput<(typeof SETTINGS)[Name]['schema']>;

/** Reads settings by name; a refusal is noted, so that all of them can be told at once (operations §1.2 rule 2). */
export class ConfigReader {
  readonly #env: Environment;
  readonly #readFile: ReadFile;
  readonly #errors: string[] = [];

  constructor(env: Environment, readFile: ReadFile) {
    this.#env = env;
    this.#readFile = readFile;
  }

  /** One line each, beginning with the variable; never with a value. */
  get errors(): readonly string[] {
    return this.#errors;
  }

  /** Whether the variable, or its `_FILE` form, is set. */
  has(name: SettingName): boolean {
    return this.#variable(name) !== undefined || this.#fileOf(name) !== undefined;
  }

  /** Null when it is not set, or refused. */
  read<Name extends SettingName>(name: Name): ValueOf<Name> | null {
    const text = this.text(name);
    if (text === null) return null;
    if (text === '') return null;
    const result = safeParse(settingOf(name).schema, text);
    if (result.success) return result.output as ValueOf<Name>;
    this.refuse(this.source(name), result.issues[0].message);
    return null;
  }

  /** As {@link read}; not being set is refused. */
  require<Name extends SettingName>(name: Name): ValueOf<Name> | null {
    if (!this.has(name))
      this.refuse(name, settingOf(name).secret ? `is required (or ${name}_FILE)` : 'is required');
    return this.read(name);
  }

  /** The text as it is set, from the variable or its file; null when neither is. */
  text(name: SettingName): string | null {
    const inline = this.#variable(name);
    const file = this.#fileOf(name);
    if (inline !== undefined && file !== undefined) {
      this.refuse(name, `and ${name}_FILE are both set; remove one`);
      return null;
    }
    if (file === undefined) return inline ?? null;
    return this.readFile(`${name}_FILE`, file);
  }

  /** The variable that {@link text} reads. */
  source(name: SettingName): string {
    return this.#fileOf(name) === undefined ? name : `${name}_FILE`;
  }

  /** A file's text without one newline at its end. */
  readFile(variable: string, path: string): string | null {
    let text: string;
    try {
      text = this.#readFile(path);
    } catch (error) {
      this.refuse(
        variable,
        `names a file that cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`,
      );
      return null;
    }
    const trimmed = text.replace(/\r?\n$/, '');
    if (trimmed === '') this.refuse(variable, 'names an empty file');
    return trimmed;
  }

  refuse(variable: string, reason: string): void {
    this.#errors.push(`${variable}: ${reason}`);
  }

  #variable(name: SettingName): string | undefined {
    const text = this.#env[name];
    return text === '' && !settingOf(name).emptyCounts ? undefined : text;
  }

  #fileOf(name: SettingName): string | undefined {
    if (!settingOf(name).secret) return undefined;
    return this.#env[`${name}_FILE`] || undefined;
  }
}
