import { expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// A service without a collector does not load OpenTelemetry's SDK, until it writes spans as JSON.

const root = join(import.meta.dirname, '../..');
const files = ['src', 'activities', 'workflows']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  .filter((file) => file.endsWith('.ts'));
const importsOf = (pattern: RegExp) => files.filter((file) => pattern.test(readFileSync(join(root, file), 'utf8')));

const own = ['src/tracing/otel.ts', 'src/tracing/otlp-json.ts'];

test('only these files of src/tracing import values of OpenTelemetry, and only import() loads them', () => {
  expect(importsOf(/^import (?!type)[^;]*'@opentelemetry\//m).sort()).toEqual([...own, 'src/tracing/readable.ts']);
  expect(importsOf(/^import (?!type)[^;]*\/readable\.js'/m).sort()).toEqual(own);
  expect(importsOf(/^import (?!type)[^;]*\/(otel|otlp-json)\.js'/m)).toEqual([]);
  expect(importsOf(/await import\('[./]+\/tracing\/otel\.js'\)/)).toEqual(['src/service/models.ts']);
  expect(importsOf(/await import\('[./]+\/tracing\/otlp-json\.js'\)/)).toEqual(['src/jobs/routes/trace-spans.ts']);
});
