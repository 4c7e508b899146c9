import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { expect, test } from 'vitest';
import { type Bom, packagesOfUi, ROOT, releaseBom, releaseManifest, thirdParty } from './sbom.ts';

const SCHEMAS = path.join(ROOT, 'node_modules/@cyclonedx/cyclonedx-library/res/schema');
const schema = (name: string): object =>
  JSON.parse(readFileSync(path.join(SCHEMAS, `${name}.SNAPSHOT.schema.json`), 'utf8'));
const text = releaseBom();
const bom = JSON.parse(text) as Bom;
const names = bom.components.map(({ name }) => name);

function problemsOf(document: unknown) {
  const ajv = new Ajv({ strict: false, allErrors: true });
  formats.default(ajv);
  for (const unknown of ['idn-email', 'iri-reference']) ajv.addFormat(unknown, true);
  for (const name of ['spdx', 'jsf-0.82']) {
    ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  }
  const validate = ajv.compile(schema(`bom-${bom.specVersion}`));
  return validate(document) ? [] : validate.errors;
}

test('the list of what a release contains is CycloneDX', () => {
  expect(problemsOf(bom)).toEqual([]);
  expect(problemsOf({ ...bom, components: [{ name: 'without a type' }] })).not.toEqual([]);
  expect(bom.metadata.component).toMatchObject({ name: 'tocsin', version: releaseManifest().version });
});

test('it has every package that a release installs or builds into the UI, at its version, with a hash', () => {
  const { dependencies, optionalDependencies } = releaseManifest();
  const direct = { ...dependencies, ...optionalDependencies, ...packagesOfUi() };
  expect(Object.keys(packagesOfUi())).toEqual(expect.arrayContaining(['svelte', '@codemirror/view', 'uqr']));
  for (const [name, version] of Object.entries(direct)) {
    const plain = version.replace(/^npm:.*@/, '');
    expect(bom.components).toContainEqual(
      expect.objectContaining({
        ...{ name, version: plain, hashes: [{ alg: 'SHA-512', content: expect.any(String) }] },
      }),
    );
  }
  expect(names).toContain('sonic-boom');
});

test('it has nothing that only builds or tests', () => {
  for (const name of ['vite', 'vitest', 'typescript', 'node', 'playwright-core', '@biomejs/biome', 'ajv']) {
    expect(names).not.toContain(name);
  }
});

test('THIRD_PARTY lists the licences of exactly these', () => {
  const listed = readFileSync(path.join(ROOT, 'THIRD_PARTY'), 'utf8');
  expect(listed, 'write it anew with npm run sbom').toBe(thirdParty(bom));
});
