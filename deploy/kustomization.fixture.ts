/**
 * Reads the kustomizations of this folder as `kubectl kustomize` would, as far as they go: resources, components,
 * generated ConfigMaps, labels, and patches of objects without lists. Whatever else they use is refused, not left out.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { parseAllDocuments, parseDocument } from 'yaml';

const TEXTS = v.record(v.string(), v.string());

const KUSTOMIZATION = v.strictObject({
  apiVersion: v.string(),
  kind: v.picklist(['Kustomization', 'Component']),
  namespace: v.optional(v.string()),
  resources: v.optional(v.array(v.string()), []),
  components: v.optional(v.array(v.string()), []),
  patches: v.optional(v.array(v.strictObject({ path: v.string() })), []),
  labels: v.optional(v.array(v.strictObject({ pairs: TEXTS })), []),
  images: v.optional(
    v.array(v.strictObject({ name: v.string(), newName: v.string(), newTag: v.string() })),
    [],
  ),
  configMapGenerator: v.optional(
    v.array(
      v.strictObject({
        name: v.string(),
        behavior: v.optional(v.literal('merge')),
        literals: v.optional(v.array(v.string()), []),
        files: v.optional(v.array(v.string()), []),
        options: v.optional(v.strictObject({ labels: TEXTS, disableNameSuffixHash: v.boolean() })),
      }),
    ),
    [],
  ),
});

const OBJECT = v.looseObject({
  apiVersion: v.string(),
  kind: v.string(),
  metadata: v.looseObject({
    name: v.string(),
    namespace: v.optional(v.string()),
    labels: v.optional(TEXTS),
  }),
});

/** An object of Kubernetes, of any kind. */
export type KubernetesObject = v.InferOutput<typeof OBJECT>;
type Kustomization = v.InferOutput<typeof KUSTOMIZATION>;
type Generator = Kustomization['configMapGenerator'][number];

/** The objects that a folder gives. @throws {Error} when a reference leads nowhere */
export function build(folder: string): KubernetesObject[] {
  return layer(folder, []);
}

/** The objects of a file. */
export function readObjects(file: string): KubernetesObject[] {
  return parseAllDocuments(readFileSync(file, 'utf8'), { merge: true }).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.join()}`);
    return v.parse(OBJECT, document.toJS());
  });
}

/** Puts a folder's own doing on top of what is there already: for a component that is everything so far. */
function layer(folder: string, below: readonly KubernetesObject[]): KubernetesObject[] {
  const it = readKustomization(folder);
  let objects = [...below, ...it.resources.flatMap((entry) => resource(path.join(folder, entry)))];
  for (const generator of it.configMapGenerator) objects = generated(objects, generator, folder);
  for (const { pairs } of it.labels) objects = objects.map((object) => labelled(object, pairs));
  for (const entry of it.components) objects = layer(path.join(folder, entry), objects);
  for (const patch of it.patches) objects = patched(objects, path.join(folder, patch.path));
  for (const { name } of it.images) requireImage(objects, name, folder);
  if (it.namespace === undefined) return objects;
  const { namespace } = it;
  return objects.map((object) => ({ ...object, metadata: { ...object.metadata, namespace } }));
}

function readKustomization(folder: string): Kustomization {
  const text = readFileSync(path.join(folder, 'kustomization.yaml'), 'utf8');
  return v.parse(KUSTOMIZATION, parseDocument(text).toJS());
}

function resource(target: string): KubernetesObject[] {
  return statSync(target).isDirectory() ? build(target) : readObjects(target);
}

function generated(
  objects: readonly KubernetesObject[],
  generator: Generator,
  folder: string,
): KubernetesObject[] {
  const { name, behavior, literals, files, options } = generator;
  const data = Object.fromEntries([
    ...literals.map((literal) => split(literal)),
    ...files.map((file) => [file, readFileSync(path.join(folder, file), 'utf8')]),
  ]);
  const existing = objects.find((object) => object.kind === 'ConfigMap' && object.metadata.name === name);
  if ((behavior === 'merge') !== (existing !== undefined))
    throw new Error(`${folder}: ${name} must ${existing ? 'say behavior: merge' : 'exist to be merged'}`);
  if (!existing) {
    const metadata = { name, ...(options ? { labels: options.labels } : {}) };
    return [...objects, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }];
  }
  const both = { ...existing, data: { ...v.parse(TEXTS, existing.data), ...data } };
  return objects.map((object) => (object === existing ? both : object));
}

function split(literal: string): [string, string] {
  const at = literal.indexOf('=');
  return [literal.slice(0, at), literal.slice(at + 1)];
}

function labelled(object: KubernetesObject, pairs: Readonly<Record<string, string>>): KubernetesObject {
  const labels = { ...object.metadata.labels, ...pairs };
  return { ...object, metadata: { ...object.metadata, labels } };
}

function patched(objects: readonly KubernetesObject[], file: string): KubernetesObject[] {
  let result = [...objects];
  for (const patch of readObjects(file)) {
    const target = result.find((it) => it.kind === patch.kind && it.metadata.name === patch.metadata.name);
    if (!target) throw new Error(`${file}: there is no ${patch.kind} ${patch.metadata.name} to patch`);
    const merged = v.parse(OBJECT, mergeObjects(target, patch));
    result = result.map((object) => (object === target ? merged : object));
  }
  return result;
}

/** Null takes away; lists would need the rules of each kind and are refused. */
function mergeObjects(below: unknown, above: unknown): unknown {
  if (Array.isArray(above)) throw new Error('lists in patches are not read here');
  if (!isRecord(below) || !isRecord(above)) return above;
  const keys = new Set([...Object.keys(below), ...Object.keys(above)]);
  const entries = [...keys].map((key) => [
    key,
    key in above ? mergeObjects(below[key], above[key]) : below[key],
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== null));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function requireImage(objects: readonly KubernetesObject[], name: string, folder: string): void {
  if (!JSON.stringify(objects).includes(`"image":"${name}"`))
    throw new Error(`${folder}: no container has the image ${name}`);
}

/** Every kustomization below a folder, with the files that it names. Building each shows that all of them exist. */
export function kustomizations(
  root: string,
): { readonly folder: string; readonly files: readonly string[] }[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name === 'kustomization.yaml')
    .map(({ parentPath: folder }) => {
      const { resources, patches } = readKustomization(folder);
      const files = [...resources, ...patches.map((patch) => patch.path)]
        .map((entry) => path.join(folder, entry))
        .filter((target) => statSync(target).isFile());
      return { folder, files };
    });
}
