import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Scope } from '../../../src/access/contract/access.js';
import { scopes } from '../../../src/access/contract/scopes.js';
import { inferenceRoutes } from '../../platform/http/inference-routes.js';
import { httpOfFile, type TestHttp } from '../../platform/http/support.js';

// Every operation of the OpenAPI document names one scope, and only a key with it gets in.

interface Operation {
  name: string;
  method: 'GET' | 'POST';
  url: string;
  security: Record<string, string[]>[] | undefined;
}

const publicOperations = ['get /', 'get /livez', 'get /readyz'];
const http: TestHttp = httpOfFile({ registerInference: (app) => inferenceRoutes(http).registerInference(app) });
let operations: Operation[];
/** A key with one scope, and one with all others. */
let keys: Record<Scope, { only: string; without: string }>;

beforeAll(async () => {
  const { paths } = (await http.call('GET', '/openapi.json')).body as {
    paths: Record<string, Record<string, { security?: Record<string, string[]>[] }>>;
  };
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => ({
      name: `${method} ${path}`,
      method: method.toUpperCase() as 'GET',
      url: path.replaceAll(/\{\w+\}/g, 'x'),
      security,
    })),
  );
  const create = async (given: Scope[]): Promise<string> =>
    (await http.call('POST', '/api/v1/admin/keys', { name: given.join(), scopes: given })).body.key;
  const pairs = scopes.map(async (scope) => [
    scope,
    { only: await create([scope]), without: await create(scopes.filter((other) => other !== scope)) },
  ]);
  keys = Object.fromEntries(await Promise.all(pairs)) as typeof keys;
});

/** Those that `read` may call, too. */
const isShared = (name: string) => /^\w+ \/v1\/models|\/deployments\/.*\/prompt$/.test(name);
const scopeOf = ({ security }: Operation) => security?.[0]?.['bearer']?.[0] as Scope;
const protectedOperations = () => operations.filter(({ name }) => !publicOperations.includes(name));
const ask = ({ method, url }: Operation, key: string) =>
  http.call(method, url, method === 'GET' ? undefined : {}, { authorization: `Bearer ${key}` });

test('every operation but the public ones names one scope, what applications read two, for both ways to send a key', () => {
  expect(protectedOperations().length).toBeGreaterThan(60);
  for (const operation of protectedOperations()) {
    const scope = scopeOf(operation);
    expect(scopes).toContain(scope);
    const named = isShared(operation.name) ? ['infer', 'read'] : [scope];
    const security = named.flatMap((each) => [{ bearer: [each] }, { apiKey: [each] }]);
    expect([operation.name, operation.security]).toEqual([operation.name, security]);
  }
});

test('reads need read, changes write, model calls infer, keys and secrets admin', () => {
  const of = (wanted: Scope) => protectedOperations().filter((operation) => scopeOf(operation) === wanted);
  expect(of('read').every(({ method }) => method === 'GET')).toBe(true);
  expect(of('write').some(({ method }) => method === 'GET')).toBe(false);
  const infers = ({ name }: Operation) =>
    /^post .*\/(?:chat\/completions|responses|messages|feedback)$/.test(name) || isShared(name);
  expect(of('infer')).toEqual(operations.filter(infers));
  const needsAdmin = ({ name }: Operation) => /\/api\/v1\/(admin\/|webhooks\/secret(\/|$))/.test(name);
  expect(of('admin')).toEqual(operations.filter(needsAdmin));
});

describe.each(scopes)('%s', (scope) => {
  test('is necessary: all other scopes together get 403, which names it', async () => {
    const needing = protectedOperations().filter((each) => scopeOf(each) === scope && !isShared(each.name));
    for (const operation of needing) {
      const { status, body } = await ask(operation, keys[scope].without);
      expect([operation.name, status, body.code ?? body.error.code]).toEqual([operation.name, 403, 'missing_scope']);
      expect(body.error.message).toContain(`"${scope}"`);
      if (scope !== 'infer') expect(body.required_scope).toBe(scope);
    }
  });

  test('suffices', async () => {
    for (const operation of protectedOperations().filter((each) => scopeOf(each) === scope)) {
      const { status } = await ask(operation, keys[scope].only);
      expect([operation.name, status < 500 && status !== 401 && status !== 403]).toEqual([operation.name, true]);
    }
  });
});
