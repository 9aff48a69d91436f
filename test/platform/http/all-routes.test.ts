import { beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { heldMs, maxHeldMs } from '../../support/held.js';
import { here, junk, withJunk } from '../../support/junk.js';
import { runs } from '../../support/runs.js';
import { createEvaluation, createSession, httpOfFile } from './support.js';

// Invariant: no body, query or header of any route holds the event loop, wherever in it the costly
// part is: the routes and the places are those of the OpenAPI document.

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}
interface Operation {
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const http = httpOfFile();
let document: Document;
let url: string;
let ids: Record<string, string>;
beforeAll(async () => {
  url = await http.listen();
  document = (await http.call('GET', '/openapi.json')).body as Document;
  ids = { session_id: await createSession(http), job_id: await createEvaluation(http) };
});

type Method = 'get' | 'post' | 'put' | 'patch';
const changing: readonly string[] = ['post', 'put', 'patch'];

const operations = (methods: readonly string[]) =>
  Object.entries(document.paths).flatMap(([path, found]) =>
    Object.entries(found)
      .filter(([method]) => methods.includes(method))
      .map(([method, operation]) => ({ method: method as Method, path, operation })),
  );

/** A path with ids of jobs that exist, where there are some. */
const filled = (path: string) => path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'x');

/** The places in a body, as paths; `*` is an item of a list. */
function places(given: Schema, depth = 5): string[][] {
  const schema = given.$ref ? document.components.schemas[given.$ref.split('/').at(-1)!]! : given;
  if (depth === 0) return [[]];
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
    places(inner, depth - 1).map((rest) => [name, ...rest]),
  );
  const items = schema.items ? places(schema.items, depth - 1).map((rest) => ['*', ...rest]) : [];
  const forms = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [[], ...fields, ...items, ...forms.flatMap((form) => places(form, depth - 1))];
}

const bodyAt = (place: readonly string[], value: unknown): unknown =>
  place.reduceRight<unknown>((inner, name) => (name === '*' ? [inner] : { [name]: inner }), value);

/** Lists at a place: each item is wrong, and wrong in another way. */
const items: Record<string, (n: number) => unknown> = {
  number: (n) => n,
  text: (n) => `t${n}`,
  empty: () => ({}),
  unknown: (n) => ({ [`n${n}`]: n }),
  message: () => ({ role: 'user', content: '{{input}}' }),
  braces: (n) => ({ role: 'user', content: `{{colunm${n}}}` }),
  task: (n) => ({ id: `t${n}`, input: { a: n }, output: n, task_id: `t${n}` }),
  part: (n) => ({ scorer: { type: 'regex', pattern: `x{0,495}${n}` } }),
  schema: (n) => ({ scorer: { type: 'json', schema: { items: { contains: { title: `${n}` } } } } }),
  step: (n) => ({ id: `s${n}`, kind: 'model', prompt: '{{question}}' }),
  nested: (n) => ({ a: { b: [{ c: [n] }] } }),
};
const sizes = [100, 3_000, 9_999, 19_999];

async function send(method: Method, path: string, body: string | null, headers: Record<string, string> = {}) {
  const answer = await fetch(url + path, {
    method: method.toUpperCase(),
    headers: { authorization: `Bearer ${http.key}`, 'content-type': 'application/json', ...headers },
    ...(body !== null && { body }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

test('no body of any route holds the event loop', async () => {
  const bodies = operations(changing).flatMap(({ method, path, operation }) => {
    const schema = operation.requestBody?.content['application/json']?.schema;
    return schema ? [{ method, path, all: places(schema) }] : [];
  });
  expect(bodies.length).toBeGreaterThan(20);
  const value = fc.oneof(
    fc.record({ kind: fc.constantFrom(...Object.keys(items)), size: fc.constantFrom(...sizes) }).map(
      ({ kind, size }) =>
        (place: readonly string[]) =>
          JSON.stringify(
            bodyAt(
              place,
              Array.from({ length: size }, (_, n) => items[kind]!(n)),
            ),
          ),
    ),
    fc
      .constantFrom(...Object.keys(junk))
      .map((kind) => (place: readonly string[]) => withJunk(bodyAt(place, here), kind, 1_000_000)),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...bodies).chain((route) => fc.tuple(fc.constant(route), fc.constantFrom(...route.all))),
      value,
      async ([{ method, path }, place], make) => {
        const body = make(place);
        const query = /jobs$|sessions$/.test(path) ? '?dry_run=true' : '';
        const ask = async () => expect(await send(method, filled(path) + query, body)).toBeLessThan(500);
        expect(await heldMs(ask)).toBeLessThan(maxHeldMs);
      },
    ),
    { numRuns: runs(20, 1_500) },
  );
}, 600_000);

const parts: readonly ((n: number) => string)[] = [
  (n) => `a${n}`,
  () => 'a',
  () => '%00',
  () => '%F0%9F%98%80',
  () => '%25',
  () => ',',
  (n) => `%2${n % 10}`,
];

test('no query, path or header holds the event loop', async () => {
  const routes = operations(['get', ...changing]);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...routes),
      fc.constantFrom(...parts),
      fc.constantFrom('many', 'one', 'path', 'headers'),
      async ({ method, path, operation }, part, form) => {
        const text = (chars: number) =>
          Array.from({ length: chars }, (_, n) => part(n))
            .join('')
            .slice(0, chars);
        const queries = (operation.parameters ?? []).filter(({ in: place }) => place === 'query');
        const names = [...queries.map(({ name }) => name), 'x'];
        const query = {
          many: Array.from({ length: 1_500 }, (_, n) => `${names[n % names.length]}=${part(n)}`)
            .join('&')
            .slice(0, 12_000),
          one: `${names[0]}=${text(12_000)}`,
          path: '',
          headers: '',
        }[form];
        const long = form === 'path' ? path.replaceAll(/\{\w+\}/g, text(3_000)) : filled(path);
        const headers = form === 'headers' ? { 'idempotency-key': text(4_000), 'x-request-id': text(4_000) } : {};
        const isStream = /\/events(\/stream)?$/.test(path) && form !== 'path';
        const ask = async () =>
          expect(
            await send(method, `${long}?${query}`, method === 'get' ? null : '{}', {
              ...headers,
              ...(isStream && { accept: 'application/json' }),
            }),
          ).toBeLessThan(500);
        expect(await heldMs(ask)).toBeLessThan(maxHeldMs);
      },
    ),
    { numRuns: runs(15, 500) },
  );
}, 600_000);
