/** The UI's files, from memory: compressed once, strong ETags, hashed names cached for good (ui §1.1). */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { NOT_FOUND, problemReply } from './errors.ts';
import { noneMatchCovers } from './etag.ts';
import type { Reply, Request } from './exchange.ts';
import type { HeaderList } from './headers.ts';

/** Answers GET and HEAD of everything that is not the API. */
export type StaticFiles = (request: Request) => Reply;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

const ALREADY_COMPRESSED: ReadonlySet<string> = new Set(['.png', '.ico', '.woff2']);
const INDEX = '/index.html';
const HASHED = '/assets/';

type Encoding = 'br' | 'gzip' | 'identity';

interface StaticFile {
  readonly type: string;
  readonly cache: string;
  /** Best encoding first; `identity` is always there. */
  readonly variants: readonly {
    readonly encoding: Encoding;
    readonly bytes: Buffer;
    readonly etag: string;
  }[];
}

/**
 * Reads the built UI. Without one, every page says how to build it (503).
 * @param base security headers of the UI
 */
export async function loadStaticFiles(folder: string, base: HeaderList): Promise<StaticFiles> {
  const files = await readFiles(folder);
  const index = files.get(INDEX);
  if (!index) return () => notBuilt(base);

  return (request) => {
    const path = decodedPath(request.path);
    const known = path === null ? undefined : files.get(path);
    if (known) return fileReply(known, request, base);
    if (path?.startsWith(HASHED)) return problemReply(NOT_FOUND, request.path, base);
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

function notBuilt(base: HeaderList): Reply {
  return {
    status: 503,
    headers: [['Content-Type', 'text/plain; charset=utf-8'], ['Cache-Control', 'no-store'], ...base],
    content: 'The web interface is not built. Run "npm run build" and start Tocsin again.\n',
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

async function list(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    // No folder means no build, which every page will say.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

async function readStaticFile(url: string, path: string): Promise<StaticFile> {
  const bytes = await readFile(path);
  const extension = extname(path);
  return {
    type: TYPES[extension] ?? 'application/octet-stream',
    cache: cacheOf(url),
    variants: await variantsOf(bytes, !ALREADY_COMPRESSED.has(extension)),
  };
}

function cacheOf(url: string): string {
  if (url === INDEX) return 'no-store';
  return url.startsWith(HASHED) ? 'public, max-age=31536000, immutable' : 'no-cache';
}

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);
const BROTLI_QUALITY = 9;

async function variantsOf(bytes: Buffer, compressible: boolean): Promise<StaticFile['variants']> {
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

function fileReply(file: StaticFile, request: Request, base: HeaderList): Reply {
  const accepted = acceptedEncodings(request.header('accept-encoding'));
  const variant = file.variants.find(({ encoding }) => accepted.has(encoding)) ?? file.variants.at(-1);
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

/** The codings of an Accept-Encoding header that are not refused with `q=0`. */
function acceptedEncodings(header: string | null): ReadonlySet<string> {
  const accepted = new Set(['identity']);
  for (const item of (header ?? '').split(',')) {
    const [coding = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    const refused = parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
    if (coding !== '' && !refused) accepted.add(coding);
  }
  return accepted;
}
