/**
 * Checks that every citation of the contract leads to a section, and to a numbered rule, that its chapter has. Part of
 * `npm run lint`; prints every citation that does not. The form is `CHAPTER §N[.M][ rule K]` (docs/contract/README.md).
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const CONTRACT = 'docs/contract/';
/** Files whose `§` are no citations: this check, and its test. */
const OWN = /^scripts\/citations\.(test\.)?ts$/;
const TEXT = /\.(ts|svelte|js|css|html|md|sql|yml|yaml|tpl|txt|Dockerfile)$|(^|\/)Dockerfile$/;

/** What follows one `§`: a section, and the rules of it. A place for a number, as in `§N`, is no citation. */
const SECTION = /^(?:[NKM]\b|(\d+(?:\.\d+)*)((?: rules? \d+(?:(?:, | to | and )\d+\b(?!\.\d))*)?))/;
/** What stands before it: the name of a chapter or of an RFC. */
const NAME = /(?:^|[^\w.-])(RFC \d+|[A-Za-z][\w-]*) $/;
/** The next section of the citation before it. */
const CONTINUED = /^(?:,? (?:to|and|or|of)|,|;)? $/;
/** A line break inside a comment or a wrapped paragraph reads as one space. */
const BREAK = /[ \t]*\r?\n[ \t]*(?:(?:\*(?!\/)|\/\/|#|--|>)[ \t]*)?/g;

export interface UnresolvedCitation {
  readonly file: string;
  readonly line: number;
  /** The citation as it is read: `delivery §3.9`. */
  readonly citation: string;
  readonly reason: string;
}

/** Numbers of the rules that each section of a chapter has in lists of its own. */
type Sections = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Finds the citations that lead nowhere.
 *
 * @param files text by path from the root of the repository; a `§` without a name, in a chapter, is of that chapter
 * @param chapters text of each chapter by its name (`delivery`)
 */
export function unresolvedCitations(
  files: ReadonlyMap<string, string>,
  chapters: ReadonlyMap<string, string>,
): readonly UnresolvedCitation[] {
  const contract = new Map([...chapters].map(([name, text]) => [name, sectionsOf(text)]));
  return [...files].flatMap(([file, text]) => unresolvedIn(file, text, contract));
}

function sectionsOf(chapter: string): Sections {
  const sections = new Map<string, Set<string>>();
  let rules = new Set<string>();
  for (const line of chapter.split('\n')) {
    const heading = /^#+ (?:(\d+(?:\.\d+)*)\.? )?/.exec(line);
    if (heading) {
      rules = new Set();
      if (heading[1] !== undefined) sections.set(heading[1], rules);
    }
    const rule = /^(\d+)\. /.exec(line)?.[1];
    if (rule !== undefined) rules.add(rule);
  }
  return sections;
}

function unresolvedIn(
  file: string,
  text: string,
  contract: ReadonlyMap<string, Sections>,
): UnresolvedCitation[] {
  const found: UnresolvedCitation[] = [];
  const own = file.startsWith(CONTRACT) ? path.basename(file, '.md') : '';
  const [first = '', ...rest] = text.split('§');
  let line = 1 + newlinesIn(first);
  let before = first.replaceAll(BREAK, ' ');
  let name: string | null = null;
  for (const part of rest) {
    const after = part.replaceAll(BREAK, ' ');
    const [matched = '', section, rules = ''] = SECTION.exec(after) ?? [];
    if (name === null || !CONTINUED.test(before)) name = nameOf(before, own, contract);
    const reason = matched === '' ? unnumbered(before) : reasonOf({ name, section, rules }, contract);
    if (reason !== null) found.push({ file, line, citation: `${name ?? ''} §${matched}`.trim(), reason });
    line += newlinesIn(part);
    before = after.slice(matched.length);
  }
  return found;
}

/** A `§` inside of an expression cites nothing. */
function unnumbered(before: string): string | null {
  return /[ (]$/.test(before) ? 'no number follows' : null;
}

function nameOf(before: string, own: string, contract: ReadonlyMap<string, Sections>): string | null {
  const written = NAME.exec(before)?.[1];
  if (!contract.has(own)) return written ?? null;
  return written !== undefined && (contract.has(written) || written.startsWith('RFC ')) ? written : own;
}

interface Cited {
  readonly name: string | null;
  readonly section: string | undefined;
  readonly rules: string;
}

function reasonOf({ name, section, rules }: Cited, contract: ReadonlyMap<string, Sections>): string | null {
  if (section === undefined || name?.startsWith('RFC ')) return null;
  const sections = name === null ? undefined : contract.get(name);
  if (!sections) return 'names no chapter';
  const known = sections.get(section);
  if (!known) return 'no such section';
  const missing = (rules.match(/\d+/g) ?? []).filter((rule) => !known.has(rule));
  return missing.length === 0 ? null : `no rule ${missing.join(', ')} in that section`;
}

function newlinesIn(text: string): number {
  return text.split('\n').length - 1;
}

/** {@link unresolvedCitations} of all files of the repository. */
export function unresolvedInRepository(): readonly UnresolvedCitation[] {
  const paths = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => TEXT.test(file) && !OWN.test(file) && existsSync(file));
  const files = new Map(paths.map((file) => [file, readFileSync(file, 'utf8')]));
  const chapters = [...files]
    .filter(([file]) => file.startsWith(CONTRACT) && !file.endsWith('/README.md'))
    .map(([file, text]) => [path.basename(file, '.md'), text] as const);
  return unresolvedCitations(files, new Map(chapters));
}

if (import.meta.main) {
  const unresolved = unresolvedInRepository();
  for (const { file, line, citation, reason } of unresolved)
    console.error(`${file}:${line}: ${citation}: ${reason}`);
  if (unresolved.length > 0) process.exitCode = 1;
}
