/**
 * The figures of the code base and the bounds that they keep: `npm run house`, part of `npm run lint`. Dependencies are
 * judged by dependency-cruiser, with the rules of `dependency-rules.ts`.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { unresolvedInRepository } from './citations.ts';
import { RULES } from './dependency-rules.ts';

/** Folders of product code: what is neither test, bench nor tool. */
const PRODUCT = ['runtime', 'actors', 'http', 'storage', 'ui/src'];
/** Made by `npm run openapi`, not written. */
const GENERATED = 'ui/src/api/openapi.ts';
/** A file of so many lines, or fewer, is small. */
const SMALL_LINES = 30;
/** Characters; what the formatter cannot wrap, texts and comments, is counted when it is longer. */
const WIDE = 120;
const WAY_PAGE = 'docs/life-of-an-alert.md';

/** The most of each figure. */
export const BOUNDS = {
  files: 1_125,
  lines: 160_788,
  smallFiles: 49,
  wideLines: 566,
  linesOfOne: 600,
  filesOfOneFolder: 26,
  /** From the sender's body to the messenger; the page is held to the running service by its test. */
  filesOnTheWay: 199,
} as const;

export interface House {
  readonly files: number;
  readonly lines: number;
  readonly smallFiles: readonly string[];
  readonly longFiles: readonly string[];
  /** Lines of more than {@link WIDE} characters: `file:line`. */
  readonly wideLines: readonly string[];
  /** Files directly in a folder, most first. */
  readonly folders: readonly (readonly [folder: string, files: number])[];
}

/** @param files product files by path with their text */
export function figures(files: ReadonlyMap<string, string>): House {
  const lengths = new Map([...files].map(([file, text]) => [file, text.split('\n').length - 1]));
  const folders = new Map<string, number>();
  for (const file of files.keys()) {
    const folder = path.posix.dirname(file);
    folders.set(folder, (folders.get(folder) ?? 0) + 1);
  }
  const longest = [...lengths].sort(([, one], [, other]) => other - one);
  return {
    files: files.size,
    lines: longest.reduce((sum, [, lines]) => sum + lines, 0),
    smallFiles: longest.filter(([, lines]) => lines <= SMALL_LINES).map(([file]) => file),
    wideLines: [...files].flatMap(([file, text]) =>
      text.split('\n').flatMap((line, index) => (line.length > WIDE ? [`${file}:${index + 1}`] : [])),
    ),
    longFiles: longest.filter(([, lines]) => lines > BOUNDS.linesOfOne).map(([file]) => file),
    folders: [...folders].sort(([, one], [, other]) => other - one),
  };
}

/** What is beyond its bound, a sentence each. */
export function complaints(house: House): readonly string[] {
  const { files, lines, smallFiles, longFiles, wideLines, folders } = house;
  return [
    ...(files > BOUNDS.files ? [`${files} product files; at most ${BOUNDS.files}`] : []),
    ...(lines > BOUNDS.lines ? [`${lines} lines of product code; at most ${BOUNDS.lines}`] : []),
    ...(smallFiles.length > BOUNDS.smallFiles
      ? [`${smallFiles.length} files of ${SMALL_LINES} lines or fewer; at most ${BOUNDS.smallFiles}`]
      : []),
    ...(wideLines.length > BOUNDS.wideLines
      ? [`${wideLines.length} lines of more than ${WIDE} characters; at most ${BOUNDS.wideLines}`]
      : []),
    ...longFiles.map((file) => `${file} is longer than ${BOUNDS.linesOfOne} lines`),
    ...folders
      .filter(([, count]) => count > BOUNDS.filesOfOneFolder)
      .map(([folder, count]) => `${folder} holds ${count} files; at most ${BOUNDS.filesOfOneFolder}`),
  ];
}

/**
 * Every import that points the wrong way, and every cycle, of values or types.
 * @param root the folder that holds {@link PRODUCT}
 */
export async function wrongArrows(root: string): Promise<readonly string[]> {
  const folders = PRODUCT.filter((folder) => existsSync(path.join(root, folder)));
  const { output } = await cruise(folders, {
    ...RULES.options,
    ruleSet: RULES,
    validate: true,
    baseDir: root,
  });
  const { summary } = output as ICruiseResult;
  return summary.violations.map(({ rule, from, to, cycle }) => {
    const through = cycle ? cycle.map(({ name }) => name).join(' → ') : to;
    return `${rule.name}: ${from} → ${through}`;
  });
}

/** Files that `docs/life-of-an-alert.md` names in its tables. @param page its text */
export function filesOnTheWay(page: string): readonly string[] {
  return [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(([, file]) => file!);
}

/** @param exists whether the product has a file of that path */
export function complaintsOfTheWay(
  files: readonly string[],
  exists: (file: string) => boolean,
): readonly string[] {
  return [
    ...(files.length > BOUNDS.filesOnTheWay
      ? [`${files.length} files on an alert's way; at most ${BOUNDS.filesOnTheWay}`]
      : []),
    ...files.filter((file) => !exists(file)).map((file) => `${WAY_PAGE} names ${file}, which is not there`),
  ];
}

function productFiles(): ReadonlyMap<string, string> {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...PRODUCT], {
    encoding: 'utf8',
  });
  const files = listed
    .split('\n')
    .filter((file) => /\.(ts|svelte)$/.test(file) && !/\.(test|fixture)\.ts$/.test(file))
    .filter((file) => file !== GENERATED && existsSync(file));
  return new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
}

async function main(): Promise<void> {
  const product = productFiles();
  const house = figures(product);
  const way = filesOnTheWay(readFileSync(WAY_PAGE, 'utf8'));
  const arrows = await wrongArrows(process.cwd());
  const unresolved = unresolvedInRepository();
  const largest = house.folders.slice(0, 5).map(([folder, count]) => `${folder} ${count}`);
  const rows: readonly (readonly [figure: string, value: number | string, bound: number])[] = [
    ['files', house.files, BOUNDS.files],
    ['lines', house.lines, BOUNDS.lines],
    [`files ≤ ${SMALL_LINES} lines`, house.smallFiles.length, BOUNDS.smallFiles],
    [`lines > ${WIDE} characters`, house.wideLines.length, BOUNDS.wideLines],
    ['largest folders', largest.join(', '), BOUNDS.filesOfOneFolder],
    ["files on an alert's way", way.length, BOUNDS.filesOnTheWay],
    ['cycles, wrong arrows', arrows.length, 0],
    ['unresolved citations', unresolved.length, 0],
  ];
  for (const [figure, value, bound] of rows) console.log(`${figure.padEnd(24)} ${value} (at most ${bound})`);
  const all = [
    ...arrows,
    ...unresolved.map(({ file, line, citation, reason }) => `${file}:${line}: ${citation}: ${reason}`),
    ...complaints(house),
    ...complaintsOfTheWay(way, (file) => product.has(file)),
  ];
  for (const complaint of all) console.error(complaint);
  if (all.length > 0) process.exitCode = 1;
}

if (import.meta.main) await main();
