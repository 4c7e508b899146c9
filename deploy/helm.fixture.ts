/** Runs Helm itself: a development dependency holds it and kubectl, for Linux on x64, in an archive. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inflateRawSync } from 'node:zlib';
import * as v from 'valibot';
import { parseAllDocuments } from 'yaml';

const FOLDER = path.join(import.meta.dirname, 'helm');
export const CHART = path.join(FOLDER, 'tocsin');
const ARCHIVE = path.join(import.meta.dirname, '..', 'node_modules/@aws-cdk/asset-kubectl-v20/lib/layer.zip');
/** The oldest that the chart allows: preStop.sleep. */
const KUBERNETES = '1.30.0';

const OBJECT = v.looseObject({
  apiVersion: v.string(),
  kind: v.string(),
  metadata: v.looseObject({
    name: v.string(),
    labels: v.record(v.string(), v.string()),
  }),
});

/** An object of Kubernetes, of any kind. */
export type KubernetesObject = v.InferOutput<typeof OBJECT>;

const programs = new Map<string, string>();

/** Writes a program of Kubernetes into a folder of its own, once. @returns its path */
export function programOf(name: 'helm' | 'kubectl'): string {
  const written = programs.get(name);
  if (written !== undefined) return written;
  const program = path.join(mkdtempSync(path.join(tmpdir(), 'tocsin-program-')), name);
  writeFileSync(program, unzipped(readFileSync(ARCHIVE), `${name}/${name}`), { mode: 0o755 });
  programs.set(name, program);
  return program;
}

/** A deflated file of an archive, found through the central directory at its end. */
function unzipped(archive: Buffer, wanted: string): Buffer {
  const end = archive.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    const nameLength = archive.readUInt16LE(at + 28);
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength);
    if (name === wanted) {
      const local = archive.readUInt32LE(at + 42);
      const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
      return inflateRawSync(archive.subarray(start, start + archive.readUInt32LE(at + 20)));
    }
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  throw new Error(`the archive has no ${wanted}`);
}

export const example = (name: string) => path.join(FOLDER, 'examples', `${name}.yaml`);

/** @returns whether it went well, and what was printed */
export function helm(...words: readonly string[]): { readonly ok: boolean; readonly text: string } {
  const { status, stdout, stderr } = spawnSync(programOf('helm'), words, { encoding: 'utf8' });
  return { ok: status === 0, text: status === 0 ? stdout : stderr };
}

/** `helm template` of the release "tocsin". @param values further words, such as `--set` */
export function template(name: string, ...values: readonly string[]) {
  const words = ['tocsin', CHART, '--namespace', 'tocsin', '--kube-version', KUBERNETES];
  return helm('template', ...words, '--values', example(name), ...values);
}

/** @throws with the message of Helm when it renders nothing */
export function render(name: string, ...values: readonly string[]): KubernetesObject[] {
  const { ok, text } = template(name, ...values);
  if (!ok) throw new Error(text);
  return parseAllDocuments(text, { merge: true })
    .map((document) => document.toJS())
    .filter((object) => object !== null)
    .map((object) => v.parse(OBJECT, object));
}
