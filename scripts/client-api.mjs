// npm run client: writes src/client/api.ts from the OpenAPI document of the routes. With --check it
// compares a document on stdin with that file, and ends with 1 if the file is stale.
import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Fault, root, start } from './install.mjs';

const target = join(root, 'src', 'client', 'api.ts');
const generator = ['openapi-typescript@7.13.0', 'typescript@5.9.3'];

if (process.argv.includes('--check')) {
  const { hash } = typed(JSON.parse(await text(process.stdin)));
  process.exitCode = readFileSync(target, 'utf8').includes(hash) ? 0 : 1;
} else {
  await start(async () => {
    const document = await readDocument();
    const { json, hash } = typed(document);
    const head = `// Generated from the OpenAPI document by \`npm run client\`; do not edit. Of the document: ${hash}`;
    writeFileSync(target, [head, withoutPaths(generateTypes(json)), routesOf(document)].join('\n'));
  });
}

/** The document of the real routes, without servers behind them. */
async function readDocument() {
  await import('./ts-loader.mjs');
  const { pino } = await import('pino');
  const { buildApp } = await import('../src/http/app.ts');
  const { createBytesInFlight } = await import('../src/http/inference/bytes-in-flight.ts');
  const { registerDeploymentInference } = await import('../src/http/inference/deployment.ts');
  const { registerProxy } = await import('../src/http/inference/proxy.ts');
  const inference = { log: pino({ level: 'error' }), secretKey: Buffer.alloc(32), bytes: createBytesInFlight(0) };
  const app = await buildApp({
    ...inference,
    publicUrl: 'http://127.0.0.1',
    listenHost: '127.0.0.1',
    version: '0.0.0',
    codec: null,
    shutdown: new AbortController().signal,
    registerInference(inferring) {
      registerProxy(inferring, inference);
      registerDeploymentInference(inferring, inference);
    },
  });
  const document = app.swagger();
  await app.close();
  return document;
}

/** The parts of the document that the types show, and their hash. */
function typed({ openapi, paths, components: { schemas } }) {
  const operations = operationsOf(paths).map(({ path, method, operation }) => {
    const { operationId, summary, parameters, requestBody, responses } = operation;
    const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
    const answers = successes.map(([status, { description, content }]) => [status, { description, content }]);
    const shown = { operationId, summary, parameters, requestBody, responses: Object.fromEntries(answers) };
    return { path, method, shown };
  });
  const kept = {};
  for (const { path, method, shown } of operations) kept[path] = { ...kept[path], [method]: shown };
  const document = { openapi, info: { title: 'Ratchet', version: '' }, paths: kept, components: { schemas } };
  const json = JSON.stringify(withoutExamples(document));
  return { json, hash: `sha256-${createHash('sha256').update(json).digest('hex')}` };
}

/** Removes examples from schemas and bodies; a field of that name stays. */
function withoutExamples(value, isFields = false) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withoutExamples(item));
  const kept = Object.entries(value).filter(([name]) => isFields || !/^examples?$/.test(name));
  return Object.fromEntries(
    kept.map(([name, part]) => [name, withoutExamples(part, !isFields && name === 'properties')]),
  );
}

function generateTypes(json) {
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-client-'));
  try {
    const [from, to] = [join(folder, 'openapi.json'), join(folder, 'api.ts')];
    writeFileSync(from, json);
    const packages = generator.map((name) => `--package=${name}`);
    const options = [
      '--root-types',
      '--root-types-no-schema-prefix',
      '--default-non-nullable=false',
      '--empty-objects-unknown',
    ];
    const args = ['exec', '--yes', ...packages, '--', 'openapi-typescript', from, '-o', to, ...options];
    const { status } = spawnSync('npm', args, { stdio: ['ignore', process.stderr, 'inherit'] });
    if (status !== 0) throw new Fault('openapi-typescript failed: see its message above.');
    return readFileSync(to, 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Operations have their ids; the same by path would be a fifth of the file. */
function withoutPaths(types) {
  return types.replace(/^export interface paths \{\n[\s\S]*?^\}\n/m, '');
}

/** Method and path of each operation, and whether it takes an Idempotency-Key. */
function routesOf({ paths }) {
  const lines = operationsOf(paths).map(({ path, method, operation: { operationId, parameters = [] } }) => {
    const takesKey = parameters.some(({ name }) => name === 'idempotency-key');
    return `    ${operationId}: { method: "${method.toUpperCase()}", path: "${path}", takesKey: ${takesKey} },`;
  });
  return ['/** Method and path of each operation. */', 'export const routes = {', ...lines, '} as const;', ''].join(
    '\n',
  );
}

function operationsOf(paths) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}
