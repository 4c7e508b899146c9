/** The files of the UI and of the docs, and the runbooks as pages (ui §1.1, internal-alerts §4). */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { HtmlRenderer, type Node, Parser } from 'commonmark';
import { readDocuments } from '../runtime/documents.ts';
import { NOT_FOUND, problemReply } from './errors.ts';
import { noneMatchCovers } from './operation.ts';
import { acceptedEncodings, type HeaderList, type Reply, type Request } from './server/exchange.ts';

/** Answers GET and HEAD of everything that is not the API. */
export type StaticFiles = (request: Request) => Promise<Reply>;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.mmd': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

const ALREADY_COMPRESSED: ReadonlySet<string> = new Set(['.png', '.ico', '.woff2']);
const INDEX = '/index.html';
const HASHED = '/assets/';
const RUNBOOKS = '/runbooks/';
const DOCS = '/docs';
/** What the docs say of an address that is none of theirs. */
const DOCS_NOT_FOUND = `${DOCS}/404.html`;

/** A file that is made, not read from the build. */
interface Page {
  readonly extension: '.html' | '.css';
  readonly bytes: Buffer;
}

type Encoding = 'br' | 'gzip' | 'identity';

interface StaticFile {
  readonly type: string;
  readonly cache: string;
  /** Best encoding first; `identity` is always there. Made when the file is first asked for. */
  readonly variants: () => Promise<readonly Variant[]>;
}

interface Variant {
  readonly encoding: Encoding;
  readonly bytes: Buffer;
  readonly etag: string;
}

/**
 * Reads the built UI. Without one, every page says how to build it (503).
 * @param base security headers of the UI
 * @param pages further files by their paths, there without a build too; nothing else is below their folder
 */
export async function loadStaticFiles(
  folder: string,
  base: HeaderList,
  pages: ReadonlyMap<string, Page> = new Map(),
): Promise<StaticFiles> {
  const files = new Map(await readFiles(folder));
  for (const [url, { extension, bytes }] of pages) {
    files.set(
      url,
      staticFile(extension, 'no-cache', async () => bytes),
    );
  }
  const index = files.get(INDEX);

  return async (request) => {
    const path = decodedPath(request.path);
    const known = path === null ? undefined : files.get(path);
    if (known) return fileReply(known, request, base);
    if (path !== null && isOfDocs(path)) return docsReply(files, path, request, base);
    if (path?.startsWith(HASHED) || path?.startsWith(RUNBOOKS)) {
      return problemReply(NOT_FOUND, request.path, base);
    }
    if (!index) return notBuilt('web interface is', 'build', base);
    return fileReply(index, request, base);
  };
}

function decodedPath(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    // A path that cannot be decoded names no file.
    return null;
  }
}

const isOfDocs = (path: string) => path === DOCS || path.startsWith(`${DOCS}/`);

/** A page of the docs by its address, without the `.html` of its file, else the page that says there is none (404). */
async function docsReply(
  files: ReadonlyMap<string, StaticFile>,
  path: string,
  request: Request,
  base: HeaderList,
): Promise<Reply> {
  const address = path.replace(/\/$/, '');
  const page = files.get(address === DOCS ? `${DOCS}${INDEX}` : `${address}.html`);
  if (page) return fileReply(page, request, base);
  const nowhere = files.get(DOCS_NOT_FOUND);
  if (!nowhere) return notBuilt('docs are', 'docs', base);
  return { ...(await fileReply(nowhere, request, base)), status: 404 };
}

function notBuilt(what: string, script: string, base: HeaderList): Reply {
  return {
    status: 503,
    headers: [['Content-Type', 'text/plain; charset=utf-8'], ['Cache-Control', 'no-store'], ...base],
    content: `The ${what} not built. Run "npm run ${script}" and start Tocsin again.\n`,
  };
}

async function readFiles(folder: string): Promise<ReadonlyMap<string, StaticFile>> {
  const files = new Map<string, StaticFile>();
  for (const path of await list(folder)) {
    const url = `/${relative(folder, path).split(sep).join('/')}`;
    files.set(url, await readStaticFile(url, path));
  }
  return files;
}

/** A hidden file is no part of a build: an editor or a file manager left it. */
const HIDDEN = /(^|[/\\])\./;

async function list(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    return files.filter((file) => !HIDDEN.test(relative(folder, file)));
  } catch (error) {
    // No folder means no build, which every page will say.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

async function readStaticFile(url: string, path: string): Promise<StaticFile> {
  // The docs are large, and most processes are never asked for them.
  if (isOfDocs(url)) return staticFile(extname(path), cacheOf(url), () => readFile(path));
  const bytes = await readFile(path);
  return staticFile(extname(path), cacheOf(url), async () => bytes);
}

function staticFile(extension: string, cache: string, read: () => Promise<Buffer>): StaticFile {
  let made: Promise<readonly Variant[]> | null = null;
  return {
    type: TYPES[extension] ?? 'application/octet-stream',
    cache,
    variants() {
      made ??= read()
        .then((bytes) => variantsOf(bytes, !ALREADY_COMPRESSED.has(extension)))
        .catch((error: unknown) => {
          made = null;
          throw error;
        });
      return made;
    },
  };
}

function cacheOf(url: string): string {
  if (url === INDEX) return 'no-store';
  return url.startsWith(HASHED) ? 'public, max-age=31536000, immutable' : 'no-cache';
}

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);
/** Once for each file and process: 5 % less to send than with 9, for 0.1 s more for the files of the first load. */
export const BROTLI_QUALITY = 10;

async function variantsOf(bytes: Buffer, compressible: boolean): Promise<readonly Variant[]> {
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  const plain = { encoding: 'identity' as const, bytes, etag: `"${hash}"` };
  if (!compressible) return [plain];
  const packed = [
    {
      encoding: 'br' as const,
      bytes: await brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
      etag: `"${hash}-br"`,
    },
    { encoding: 'gzip' as const, bytes: await zip(bytes), etag: `"${hash}-gzip"` },
  ];
  return [...packed.filter((variant) => variant.bytes.length < bytes.length), plain];
}

async function fileReply(file: StaticFile, request: Request, base: HeaderList): Promise<Reply> {
  const accepted = acceptedEncodings(request.header('accept-encoding'));
  const variants = await file.variants();
  const variant = variants.find(({ encoding }) => accepted.has(encoding)) ?? variants.at(-1);
  if (!variant) throw new Error('a file has at least its plain form');
  const headers: HeaderList = [
    ['Content-Type', file.type],
    ['Cache-Control', file.cache],
    ['ETag', variant.etag],
    ['Vary', 'Accept-Encoding'],
    ...(variant.encoding === 'identity' ? [] : ([['Content-Encoding', variant.encoding]] as const)),
    ...base,
  ];
  const known = noneMatchCovers(request.header('if-none-match'), variant.etag);
  return { status: known ? 304 : 200, headers, content: variant.bytes };
}

/** The runbooks as pages of the app listener, readable without a session: whoever was woken may not have one here. */
const RUNBOOK_INDEX = '/runbooks/';
const STYLE = '/runbooks/runbooks.css';
/** `SvcDown.md`; the README is for people who read the repository. */
const RUNBOOK = /^(Svc\w+)\.md$/;

const DOCUMENTS = join(import.meta.dirname, 'documents');

interface Documents extends Record<string, object> {
  /** The body is HTML. */
  readonly page: { readonly title: string; readonly body: string };
  readonly runbooks: { readonly names: readonly string[] };
}

const render = readDocuments<Documents>(DOCUMENTS);

/**
 * Renders every runbook of the folder: `/runbooks/<alertname>`, with or without a slash at the end, and `/runbooks/`,
 * which lists them (internal-alerts §4). Links to other documents, which are not served, become text.
 */
export async function loadRunbooks(folder: string): Promise<ReadonlyMap<string, Page>> {
  const pages = new Map<string, Page>();
  const names: string[] = [];
  for (const file of await filesOf(folder)) {
    const name = RUNBOOK.exec(file)?.[1];
    if (name === undefined) continue;
    names.push(name);
    const body = rendered(await readFile(join(folder, file), 'utf8'));
    const runbook = page(render('page', { title: name, body }));
    pages.set(`${RUNBOOK_INDEX}${name}`, runbook);
    pages.set(`${RUNBOOK_INDEX}${name}/`, runbook);
  }
  if (names.length === 0) return pages;
  const index = page(render('runbooks', { names: names.sort() }));
  pages.set(RUNBOOK_INDEX, index);
  pages.set(RUNBOOK_INDEX.slice(0, -1), index);
  const style = await readFile(join(DOCUMENTS, 'runbooks.css'));
  pages.set(STYLE, { extension: '.css', bytes: style });
  return pages;
}

async function filesOf(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    // An image without them answers 404.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function rendered(markdown: string): string {
  const document = new Parser().parse(markdown);
  const walker = document.walker();
  for (let step = walker.next(); step; step = walker.next()) {
    if (step.node.type === 'link' && !step.entering) pointOrUnlink(step.node);
  }
  return new HtmlRenderer({ safe: true }).render(document);
}

function pointOrUnlink(link: Node): void {
  const to = link.destination ?? '';
  const name = RUNBOOK.exec(to)?.[1];
  if (name !== undefined) link.destination = `${RUNBOOK_INDEX}${name}`;
  if (name !== undefined || /^https?:/.test(to)) return;
  while (link.firstChild) link.insertBefore(link.firstChild);
  link.unlink();
}

function page(html: string): Page {
  return { extension: '.html', bytes: Buffer.from(html) };
}
