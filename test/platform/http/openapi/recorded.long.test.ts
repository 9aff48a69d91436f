import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { documentOf } from '../../../support/api.js';
import { routes } from '../../../../src/client/api.js';
import { startTestService, type TestService } from '../../../support/service.js';
import { normalized } from './normal.js';
import { failures, shownFailures } from './failures.js';
import { invalidExamples } from './invalid-examples.js';
import { operationsOf, Recorder, type Document, type Example } from './recorder.js';
import { shapesOf } from './shapes.js';
import { play } from './scenario/index.js';
import { startCapitals, type Capitals } from './scenario/world.js';

// The service is as its examples, which RECORD=1 records, and as what is generated without it.

const root = resolve(__dirname, '../../../..');
const folder = resolve(root, 'src/platform/http/openapi/examples');

let service: TestService;
let world: Capitals;
let document: Document;
let played: Record<string, Example>;
beforeAll(async () => {
  world = await startCapitals();
  service = await startTestService(world.env, { serve: true, work: false });
  document = await documentOf<Document>(service.url);
  const recorder = new Recorder(service, document);
  await play(recorder, world, () => service.another({ serve: false, work: true }));
  played = normalized(recorder.examples, {
    [service.url]: 'http://127.0.0.1:8787',
    [world.container.url]: 'http://127.0.0.1:8900',
  });
  if (process.env['RECORD']) record();
}, 120_000);
afterAll(async () => {
  world.release();
  await service.stop();
  await world.close();
});

/** Writes a file for each group of operations. */
function record(): void {
  for (const file of readdirSync(folder)) rmSync(resolve(folder, file));
  const groups = new Map<string, Record<string, Example>>();
  for (const { operation } of operationsOf(document)) {
    const [tag] = operation.tags as [string];
    const example = played[operation.operationId];
    if (example) groups.set(tag, { ...groups.get(tag), [operation.operationId]: example });
  }
  for (const [tag, examples] of groups) {
    const name = `${tag.toLowerCase().replaceAll(' ', '-')}.json`;
    writeFileSync(resolve(folder, name), `${JSON.stringify(examples, null, 2)}\n`);
  }
}

function readRecorded(): Record<string, Example> {
  const files = readdirSync(folder).map((name) => readFileSync(resolve(folder, name), 'utf8'));
  return Object.assign({}, ...files.map((text) => JSON.parse(text) as object)) as Record<string, Example>;
}

const shapes = (examples: Record<string, Example>) =>
  Object.fromEntries(Object.entries(examples).map(([operationId, example]) => [operationId, shapesOf(example)]));

test('the recorded examples have the requests, and the shapes of the answers, of today', () => {
  expect(shapes(readRecorded())).toEqual(shapes(played));
});

test('docs/openapi.json has no more than the document, and the client every operation', () => {
  const { paths, components } = JSON.parse(readFileSync(resolve(root, 'docs/openapi.json'), 'utf8')) as Document;
  expect(document).toMatchObject({ paths, components });
  const operations = operationsOf(document).map(({ path, method, operation: { operationId, parameters = [] } }) => {
    const takesKey = parameters.some(({ name }) => name === 'idempotency-key');
    return [operationId, { method, path, takesKey }];
  });
  expect(routes).toEqual(Object.fromEntries(operations));
});

describe('the document', () => {
  const operations = () => operationsOf(document).map(({ operation }) => operation);

  test('shows an example of each parameter of a path, request and success', () => {
    const bare = operations().flatMap(({ operationId, parameters = [], requestBody, responses }) => {
      const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
      const places: (readonly [string, object])[] = [
        ...parameters.filter((each) => each.in === 'path' || each.required).map((each) => [each.name, each] as const),
        ...Object.entries(requestBody?.content ?? {}),
        ...successes.flatMap(([status, { content = {} }]) =>
          Object.entries(content)
            .filter(([type]) => !['application/zip', 'text/html'].includes(type))
            .map(([type, media]) => [`${status} ${type}`, media] as const),
        ),
      ];
      return places.filter(([, place]) => !('example' in place)).map(([place]) => `${operationId} ${place}`);
    });
    expect(bare).toEqual([]);
  });

  test('says what each answer means', () => {
    const descriptions = operations().flatMap(({ responses }) =>
      Object.values(responses).map(({ description }) => description),
    );
    expect(descriptions.filter((text) => text === '' || text === 'Default Response')).toEqual([]);
  });

  test('refers to an example of each failure', () => {
    const bare = operations().flatMap(({ operationId, responses }) =>
      Object.entries(responses)
        .filter(([status]) => Number(status) >= 400)
        .flatMap(([status, { content = {} }]) =>
          Object.values(content)
            .filter(({ example, examples }) => example === undefined && !(status in (examples ?? {})))
            .map(() => `${operationId} ${status}`),
        ),
    );
    expect(bare).toEqual([]);
  });

  test('links creates to the model calls of what they created', () => {
    const linked = (id: string) => operations().find(({ operationId }) => operationId === id)!.responses['201']!.links;
    expect(linked('createSession')).toMatchObject({ callCandidate: { operationId: 'callCandidate' } });
    expect(linked('createDeployment')).toMatchObject({ callDeployment: { operationId: 'callDeployment' } });
  });

  test('has no example that its schema refuses', () => {
    expect(invalidExamples(document)).toEqual([]);
  });
});

test('a failure has the shape of its shared example', async () => {
  expect(await failures(service)).toEqual(shownFailures(document));
});
