import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { routes } from '../../src/client/api.js';
import { serviceOfFile } from '../support/service-of-file.js';

// The client's types are those of the service's document; `npm run client` writes them.

const on = serviceOfFile();
interface Operation {
  operationId: string;
  parameters?: { name: string }[];
}
let document: { paths: Record<string, Record<string, Operation>>; components: { schemas: object } };
beforeAll(async () => {
  document = await on.service.api.call('GET', '/openapi.json');
});

const check = (value: object) => {
  const script = join(import.meta.dirname, '../../scripts/client-api.mjs');
  return spawnSync(process.execPath, [script, '--check'], { input: JSON.stringify(value) }).status;
};

test('src/client/api.ts is of this document, apart from its examples', () => {
  expect(check(document)).toBe(0);
  const schemas = { ...document.components.schemas, New: { type: 'string' } };
  expect(check({ ...document, components: { schemas } })).toBe(1);
  const shown = { ...document.paths['/api/v1/providers']!['get'], example: 1, examples: [1] } as Operation;
  expect(check({ ...document, paths: { ...document.paths, '/api/v1/providers': { get: shown } } })).toBe(0);
});

test('every operation can be called', () => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, parameters = [] }]) => {
      const takesKey = parameters.some(({ name }) => name === 'idempotency-key');
      return [operationId, { method: method.toUpperCase(), path, takesKey }];
    }),
  );
  expect(routes).toEqual(Object.fromEntries(operations));
});
