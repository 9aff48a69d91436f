import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// A service without a collector does not load OpenTelemetry's SDK.

const root = join(import.meta.dirname, '../..');
const files = ['src', 'activities', 'workflows']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  .filter((file) => file.endsWith('.ts'));
const importsOf = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(join(root, file), 'utf8')));

test('only src/tracing/otel.ts imports values of OpenTelemetry, and only import() loads it', () => {
  expect(importsOf(/^import (?!type)[^;]*'@opentelemetry\//m)).toEqual(['src/tracing/otel.ts']);
  expect(importsOf(/^import (?!type)[^;]*\/otel\.js'/m)).toEqual([]);
  expect(importsOf(/await import\('\.\/tracing\/otel\.js'\)/)).toEqual(['src/main.ts']);
});
