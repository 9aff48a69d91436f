import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { goProgram } from '../../../support/go.js';
import { breakingChanges } from './breaking.js';

// The wire of the last release still works: the document breaks no client of that of the last tag.

const { program, test } = goProgram('github.com/oasdiff/oasdiff', '1.37.0');
const root = resolve(__dirname, '../../../..');
const current = join(root, 'docs/openapi.json');
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'ratchet-wire-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** Generates the document of a tag from its sources, with the packages of its lockfile. */
function documentOf(tag: string): string {
  const sources = join(folder, tag);
  mkdirSync(sources);
  git('archive', `--output=${sources}.tar`, tag);
  execFileSync('tar', ['-xf', `${sources}.tar`, '-C', sources]);
  execFileSync(process.execPath, [join(sources, 'scripts/generate.mjs')], { stdio: ['ignore', 'ignore', 'inherit'] });
  return join(sources, 'docs/openapi.json');
}

test('docs/openapi.json breaks no client of the last release', async () => {
  const [tag] = git('tag', '--list', 'v*', '--merged', 'HEAD', '--sort', '-version:refname').split('\n');
  if (!tag) {
    process.stderr.write('The wire is compared with no release: no tag v* is an ancestor of this commit.\n');
    return;
  }
  expect(await breakingChanges(program, documentOf(tag), current)).toEqual([]);
}, 600_000);

interface Schema {
  type?: string;
  properties: Record<string, object>;
  required: string[];
  enum?: string[];
  anyOf: object[];
}
interface Doctored {
  paths: Record<string, Record<string, { requestBody: { content: Record<string, { schema: Schema }> } }>>;
  components: { schemas: Record<string, Schema> };
}

const bodyOf = ({ paths }: Doctored, path: string) =>
  paths[path]!['post']!.requestBody.content['application/json']!.schema;
const webhook = ({ components }: Doctored) => components.schemas['Webhook']!;
const orgs = '/api/v1/admin/orgs';
const keys = '/api/v1/admin/keys';

async function changes(doctor: (document: Doctored) => void): Promise<string[]> {
  const document = JSON.parse(readFileSync(current, 'utf8')) as Doctored;
  doctor(document);
  return breakingChanges(program, current, write('doctored.json', JSON.stringify(document)));
}

describe('a change of the document', () => {
  test.each<[string, RegExp, (document: Doctored) => void]>([
    ['an operation is removed', /^api-.*removed/, ({ paths }) => delete paths['/api/v1/webhooks/secret']],
    [
      'a field of an answer is removed',
      /^response-required-property-removed/,
      (document) => {
        delete webhook(document).properties['attempts'];
        webhook(document).required = webhook(document).required.filter((name) => name !== 'attempts');
      },
    ],
    [
      'a field of an answer gets another type',
      /^response-property-type-changed/,
      (document) => (webhook(document).properties['attempts'] = { type: 'string' }),
    ],
    [
      'a request gets a required field',
      /^new-required-request-property/,
      (document) => {
        bodyOf(document, orgs).properties['plan'] = { type: 'string' };
        bodyOf(document, orgs).required.push('plan');
      },
    ],
    [
      'a value of a request is no longer taken',
      /^request-property-enum-value-removed/,
      ({ components }) => components.schemas['Scope']!.enum!.pop(),
    ],
  ])(
    'breaks clients if %s',
    async (_, id, doctor) => {
      const found = await changes(doctor);
      expect(found).not.toEqual([]);
      for (const change of found) expect(change).toMatch(id);
    },
    60_000,
  );

  test.each<[string, (document: Doctored) => void]>([
    ['an answer gets a field', (document) => (webhook(document).properties['next_at'] = { type: 'string' })],
    [
      'a request gets an optional field',
      (document) => (bodyOf(document, keys).properties['note'] = { type: 'string' }),
    ],
    [
      'an answer gets a value',
      (document) => (webhook(document).properties['status'] as { enum: string[] }).enum.push('skipped'),
    ],
    [
      'a type of event is added',
      ({ components: { schemas } }) => {
        const { properties } = schemas['EventPaused']!;
        schemas['EventMoved'] = { ...schemas['EventPaused']!, properties: { ...properties, type: { const: 'moved' } } };
        schemas['Event']!.anyOf.push({ $ref: '#/components/schemas/EventMoved' });
      },
    ],
  ])(
    'breaks none if %s',
    async (_, doctor) => {
      expect(await changes(doctor)).toEqual([]);
    },
    60_000,
  );
});
