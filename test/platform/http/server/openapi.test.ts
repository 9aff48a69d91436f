import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { eventSchemas } from '../../../../src/contracts/events/schema.js';
import { httpOfFile } from '../support.js';

interface Operation {
  summary?: string;
  operationId?: string;
  tags?: string[];
  security?: unknown[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Record<string, unknown> }> };
  responses: Record<
    string,
    { description: string; content?: Record<string, { schema: Record<string, unknown> }>; links?: object }
  >;
  parameters?: { name: string; in: string; required?: boolean }[];
}

const http = httpOfFile();
interface EventSchema {
  description: string;
  properties: { type: { const: string }; data: DataSchema };
}
interface Schema {
  enum?: unknown[];
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  allOf?: Schema[];
}
interface DataSchema {
  anyOf?: DataSchema[];
  properties?: Record<string, { description?: string }>;
}

let document: {
  openapi: string;
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Record<string, unknown>> & { Event: { anyOf: { $ref: string }[] } } };
};
let head: number;
beforeAll(async () => {
  // Before any GET: both make the document at the first request.
  head = (await http.app.inject({ method: 'HEAD', url: '/openapi.json' })).statusCode;
  document = (await http.call('GET', '/openapi.json')).body;
});

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
  );

const bodyOf = (path: string, method = 'post') =>
  document.paths[path]![method]!.requestBody!.content['application/json']!.schema;

describe('/openapi.json', () => {
  test('answers HEAD as GET, without the document', () => {
    expect(head).toBe(200);
  });

  test('is OpenAPI 3.1 and has every route of the service', () => {
    expect(document.openapi).toBe('3.1.0');
    const documented = new Set(operations().map(({ name }) => name));
    const hidden = /^(head |get \/(docs|openapi.json|assets|favicon)|post \/api\/v1\/login|\w+ \*)/;
    for (const [url, { methods }] of http.app.routeTable) {
      for (const method of methods) {
        const name = `${method.toLowerCase()} ${url.replaceAll(/:(\w+)/g, '{$1}')}`;
        if (!hidden.test(name)) expect(documented).toContain(name);
      }
    }
  });

  test('is rendered once, and 304 to a caller that has it', async () => {
    const answer = await http.app.inject('/openapi.json');
    const etag = String(answer.headers['etag']);
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    const render = jest.spyOn(http.app, 'swagger');
    expect((await http.app.inject('/openapi.json')).rawPayload.equals(answer.rawPayload)).toBe(true);
    for (const known of [etag, `"x", W/${etag}`]) {
      const again = await http.app.inject({ url: '/openapi.json', headers: { 'if-none-match': known } });
      expect([again.statusCode, again.headers['etag'], again.body]).toEqual([304, etag, '']);
    }
    const other = await http.app.inject({ url: '/openapi.json', headers: { 'if-none-match': '"x"' } });
    expect([other.statusCode, render.mock.calls]).toEqual([200, []]);
    for (const url of ['/docs/json', '/docs/yaml']) {
      const { statusCode, headers } = await http.app.inject(url);
      expect([statusCode, headers['location']]).toEqual([302, '/openapi.json']);
    }
  });

  test('every operation documents its purpose, its success and its failures', () => {
    for (const { name, operation } of operations()) {
      expect([name, operation.summary]).toEqual([name, expect.any(String)]);
      const codes = Object.keys(operation.responses);
      expect([name, codes.some((code) => code.startsWith('2'))]).toEqual([name, true]);
      if (name.includes('/api/')) expect([name, codes]).toEqual([name, expect.arrayContaining(['401', '503'])]);
      for (const [code, response] of Object.entries(operation.responses)) {
        if (Number(code) < 400 || !name.includes('/api/')) continue;
        expect(Object.keys(response.content ?? {})).toEqual(['application/problem+json']);
      }
    }
  });

  test('successes and refusals of operations with a key document the fields of limits', () => {
    const fields = (response: object) => Object.keys((response as { headers?: object }).headers ?? {});
    for (const { name, operation } of operations().filter((each) => each.name.includes('/api/'))) {
      const { '429': refused, ...others } = operation.responses;
      expect([name, fields(refused!)]).toEqual([name, ['RateLimit-Policy', 'RateLimit', 'Retry-After']]);
      const success = Object.entries(others).find(([code]) => code.startsWith('2'))!;
      expect([name, fields(success[1])]).toEqual([name, ['RateLimit-Policy', 'RateLimit']]);
    }
  });

  test('every operation has a unique id, which begins with a verb, and a described tag', () => {
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(['createSession', 'getSessionResults', 'pauseEvaluation']));
    for (const id of ids) expect(id).toMatch(/^[a-z]+[A-Z][a-zA-Z0-9]*$/);
    const described = new Set(document.tags.map(({ name }) => name));
    for (const { name, operation } of operations())
      expect([name, operation.tags?.map((tag) => described.has(tag))]).toEqual([name, [true]]);
    expect(document.tags.every(({ description }) => description !== '')).toBe(true);
  });

  test('has one schema for each resource, and no bounds of safe integers', () => {
    const names = Object.keys(document.components.schemas);
    expect(names.filter((name) => names.includes(`${name}Input`))).toEqual([]);
    const text = JSON.stringify(document);
    expect(text).not.toContain(String(Number.MAX_SAFE_INTEGER));
    const references = new Set([...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name!));
    expect([...references].sort()).toEqual(names.sort());
  });

  test('has no two types of one name, as generators compose it, and no default that is an object', () => {
    const { schemas } = document.components;
    const pascal = (name: string) => name.replace(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase());
    const inline = (name: string, { properties = {}, items, ...schema }: Schema): string[] => [
      ...(schema.enum ? [name] : []),
      ...(items ? inline(`${name}Item`, items) : []),
      ...[...(schema.anyOf ?? []), ...(schema.allOf ?? [])].flatMap((part) => inline(name, part)),
      ...Object.entries(properties).flatMap(([field, of]) => inline(name + pascal(field), of)),
    ];
    const names = Object.keys(schemas);
    const composed = names.flatMap((name) => [...new Set(inline(name, schemas[name] as Schema))]);
    const others = composed.filter((name) => !names.includes(name));
    const constants = new Set(eventSchemas.map(({ shape }) => pascal(shape.type.value)));
    expect(others.filter((name, index) => constants.has(name) || others.indexOf(name) !== index)).toEqual([]);
    expect(JSON.stringify(document)).not.toMatch(/"default":\{/);
  });

  test('only public routes need no key', () => {
    const open = operations().filter(({ operation }) => operation.security?.length === 0);
    expect(open.map(({ name }) => name).sort()).toEqual(['get /', 'get /livez', 'get /readyz']);
  });

  test('a body is required unless an absent one is equivalent', () => {
    const optional = operations().filter(({ operation }) => operation.requestBody?.required === false);
    const jobs = [
      '/api/graphgen/jobs/{job_id}',
      '/api/v1/offline/jobs/{job_id}',
      '/api/v1/online/sessions/{session_id}',
    ];
    const commands = jobs.flatMap((job) => ['cancel', 'pause', 'resume'].map((command) => `post ${job}/${command}`));
    expect(optional.map(({ name }) => name).sort()).toEqual(
      [
        ...commands,
        ...jobs.map((job) => `post ${job}/clone`),
        'post /api/graphgen/jobs/{job_id}/rows/dataset',
        'post /api/v1/offline/jobs/{job_id}/results/dataset',
        'post /api/v1/online/sessions/{session_id}/rows/dataset',
        'post /api/v1/online/sessions/{session_id}/extend',
        'post /api/graphgen/jobs/{job_id}/start',
        'post /api/harbor/deployments/{deployment_id}/requests/dataset',
        'post /api/harbor/deployments/{deployment_id}/rollback',
        'post /api/harbor/deployments/{deployment_id}/checkups',
        'post /api/harbor/deployments/{deployment_id}/improve',
        'post /api/harbor/checkups/{job_id}/cancel',
        'post /api/harbor/migrations/{job_id}/cancel',
      ].sort(),
    );
    expect(document.paths['/api/v1/online/sessions']!['post']!.requestBody!.required).toBe(true);
  });

  test('has path parameters, bodies and headers', () => {
    const create = document.paths['/api/v1/online/sessions']!['post']!;
    const body = bodyOf('/api/v1/online/sessions') as { properties: Record<string, unknown>; required: string[] };
    expect(body.required).toEqual(['policy_optimization']);
    expect(Object.keys(body.properties)).not.toContain('config');
    expect(create.parameters).toContainEqual(expect.objectContaining({ name: 'idempotency-key', in: 'header' }));
    const forms = bodyOf('/api/v1/offline/jobs');
    expect(forms['anyOf']).toHaveLength(2);
    const traces = document.paths['/api/v1/offline/jobs/{job_id}/traces']!['get']!;
    expect(traces.parameters).toContainEqual(expect.objectContaining({ name: 'job_id', in: 'path', required: true }));
    expect(Object.keys(traces.responses['200']!.content!)).toEqual(['application/zip']);
    const events = document.paths['/api/v1/online/sessions/{session_id}/events']!['get']!;
    expect(Object.keys(events.responses['200']!.content!)).toEqual(['application/json', 'text/event-stream']);
  });
});

describe('links', () => {
  const linksOf = (path: string) => document.paths[path]!['post']!.responses['201']!.links ?? {};
  const sessions = '/api/v1/online/sessions';
  const keys = '/api/v1/admin/keys';

  test.each([
    [sessions, 'session_id'],
    ['/api/v1/offline/jobs', 'job_id'],
    ['/api/graphgen/jobs', 'job_id'],
    ['/api/harbor/deployments', 'deployment_id', 'id'],
    ['/api/v1/datasets', 'dataset_id'],
  ])('POST %s links to the operations on what it created', (path, id, field = id) => {
    const linked = operations().filter(({ name }) => new RegExp(`^\\w+ ${path}/\\{\\w+\\}[^{]*$`).test(name));
    expect(linked.length).toBeGreaterThan(2);
    expect(linksOf(path)).toEqual(
      Object.fromEntries(
        linked.map(({ operation: { operationId } }) => [
          operationId,
          { operationId, parameters: { [id]: `$response.body#/${field}` } },
        ]),
      ),
    );
  });

  test('a clone and a rotation link like the create', () => {
    expect(linksOf(`${sessions}/{session_id}/clone`)).toEqual(linksOf(sessions));
    expect(linksOf(`${keys}/{key_id}/rotate`)).toEqual(linksOf(keys));
  });

  test('an upload of a known data set links like one that creates it', () => {
    const { '200': known, '201': created } = document.paths['/api/v1/datasets']!['post']!.responses;
    expect(Object.keys(known!.links!).length).toBeGreaterThan(2);
    expect(known!.links).toEqual(created!.links);
  });

  test('keys and organizations link to what their organization has', () => {
    const operationId = 'revokeApiKey';
    const parameters = { key_id: '$response.body#/key_id', org_id: '$response.body#/org_id' };
    expect(linksOf(keys)).toMatchObject({ [operationId]: { operationId, parameters } });
    expect(Object.keys(linksOf('/api/v1/admin/orgs')).sort()).toEqual([
      'createApiKey',
      'deleteOrganization',
      'getOrganizationLimits',
      'listApiKeys',
      'listAuditEntries',
      'listProviderKeys',
      'setOrganizationLimits',
    ]);
  });
});

test('seeds are a list or a range', () => {
  const { CreateEvaluation: flat, SeedRange: range } = document.components.schemas;
  expect(flat!['required']).toEqual(['policy']);
  const seed = { type: 'integer', minimum: 0, maximum: 1e15 };
  expect((flat as { properties: { seeds: object } }).properties.seeds).toEqual({
    description: expect.any(String) as unknown,
    anyOf: [
      { type: 'array', items: seed, minItems: 1, maxItems: 10_000 },
      { type: 'string', pattern: '^[0-9]+-[0-9]+$' },
      { $ref: '#/components/schemas/SeedRange' },
      { type: 'null' },
    ],
  });
  expect(range).toMatchObject({ properties: { from: seed, to: seed }, required: ['from', 'to'] });
});

test('null is a value of optional fields of bodies, and rules take it as no field', () => {
  const nothing = { type: 'null' };
  const { properties } = bodyOf('/api/v1/admin/keys/{key_id}/rotate') as { properties: { grace_seconds: object } };
  expect(properties.grace_seconds).toMatchObject({ default: 0, anyOf: [{ type: 'integer' }, nothing] });
  expect(document.components.schemas['JobRows']).toMatchObject({
    properties: { dataset_id: { anyOf: [{ type: 'string' }, nothing] } },
    allOf: [
      { oneOf: ['dataset_id', 'rows'].map((name) => ({ required: [name], properties: { [name]: { not: nothing } } })) },
    ],
  });
});

test('null is a value of a label: PATCH with it removes the label and needs no state', () => {
  const [rules] = bodyOf('/api/v1/online/sessions/{session_id}', 'patch')['allOf'] as {
    anyOf: { allOf: object[] }[];
  }[];
  const [state, label] = rules!.anyOf;
  const nothing = { type: 'null' };
  const marks = ['name', 'tags', 'metadata', 'notes'].map((name) => ({ required: [name] }));
  const archived = { required: ['archived'], properties: { archived: { not: nothing } } };
  const stateRule = { required: ['state'], properties: { state: { not: nothing } } };
  expect(state!.allOf).toEqual([stateRule, { not: { anyOf: [...marks, archived] } }]);
  expect(label!.allOf).toEqual([{ anyOf: [...marks, archived] }, { not: { anyOf: [stateRule] } }]);
});

test('a parameter of JSON as text has the schema of its value', () => {
  const { parameters } = document.paths['/api/v1/online/sessions']!['get']!;
  const metadata = parameters!.find(({ name }) => name === 'metadata') as object;
  expect(metadata).toMatchObject({
    in: 'query',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Metadata' } } },
  });
  expect(metadata).not.toHaveProperty('schema');
});

test('unions name the field that tells their objects apart', () => {
  const { schemas } = document.components;
  const mapping = Object.fromEntries(
    schemas.Event.anyOf.map(({ $ref }) => [
      (schemas[$ref.split('/').at(-1)!] as unknown as EventSchema).properties.type.const,
      $ref,
    ]),
  );
  expect(schemas.Event).toMatchObject({ discriminator: { propertyName: 'type', mapping } });
  const fields = ['GraphEdit', 'Snapshot'].map((name) => schemas[name]!['discriminator']);
  expect(fields).toMatchObject(['edit', 'kind'].map((propertyName) => ({ propertyName })));
});

describe('events', () => {
  test('each type has its schema, and each field of its data a description', () => {
    const types = document.components.schemas.Event.anyOf.map(({ $ref }) => {
      const name = $ref.slice('#/components/schemas/'.length);
      return { title: name, ...(document.components.schemas[name] as unknown as EventSchema) };
    });
    expect(types.map(({ properties }) => properties.type.const)).toEqual(
      eventSchemas.map(({ shape }) => shape.type.value),
    );
    for (const { title, description, properties } of types) {
      expect([title, description]).toEqual([title, expect.any(String)]);
      for (const { properties: fields = {} } of properties.data.anyOf ?? [properties.data]) {
        for (const [name, field] of Object.entries(fields)) {
          expect([title, name, field.description]).toEqual([title, name, expect.any(String)]);
        }
      }
    }
  });

  test('streams and pages refer to them', () => {
    const reference = { $ref: '#/components/schemas/Event' };
    const events = operations().filter(({ operation }) => operation.responses['200']?.content?.['text/event-stream']);
    expect(events).toHaveLength(8);
    for (const { operation } of events) {
      const content = operation.responses['200']!.content!;
      expect(content['text/event-stream']!.schema).toMatchObject({
        properties: { id: {}, event: {}, data: { contentSchema: reference } },
      });
      expect(content['application/json']!.schema).toMatchObject({
        properties: { events: { items: { allOf: [reference] } } },
      });
    }
  });
});

test('/docs is a page that loads under its own content security policy', async () => {
  const page = await http.call('GET', '/docs/');
  expect([page.status, page.headers['content-type']]).toEqual([200, expect.stringContaining('text/html')]);
  const policy = String(page.headers['content-security-policy']);
  expect(policy).toContain("default-src 'self'");
  const assets = [...String(page.body).matchAll(/(?:src|href)="(\.?\/[^"]+\.(?:js|css))"/g)].map(([, asset]) => asset!);
  expect(assets.length).toBeGreaterThan(2);
  for (const asset of assets) {
    const url = new URL(asset, 'http://x/docs/').pathname;
    const answer = await http.app.inject({ method: 'GET', url });
    expect([url, answer.statusCode]).toEqual([url, 200]);
  }
});
