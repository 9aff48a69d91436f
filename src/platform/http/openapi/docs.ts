import { createHash } from 'node:crypto';
import fastifySwagger from '@fastify/swagger';
import fastifySwaggerUi from '@fastify/swagger-ui';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { App } from '../deps.js';
import { limitHeaders } from '../server/limits.js';
import { nameDiscriminators } from './discriminators.js';
import { showExamples, type ShownDocument } from './examples.js';
import { linkCreates, type LinkedDocument } from './links.js';
import { acceptNulls } from './nulls.js';
import { dropSafeBounds, joinTwins, splitTypes, type SchemaDocument } from './schemas.js';
import { tags } from './tags.js';
import { nameUnions } from './unions.js';

/** The page's styles are partly inline. Not upgraded to https: a service on loopback has none. */
const pagePolicy = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** OpenAPI 3.1 at /openapi.json and a page at /docs; register before the routes. */
export async function registerDocs(app: App, version: string): Promise<void> {
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Ratchet',
        version,
        description: 'Durable prompt optimization and evaluation: rewards only move one way.',
      },
      servers: [{ url: '/', description: 'This service.' }],
      tags,
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer' },
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        },
        headers: limitHeaders,
      },
    },
    transform(route) {
      const { schema, url } = jsonSchemaTransform(route);
      const { method, config } = route.route;
      if (!schema.hide && !schema.operationId) throw new Error(`${String(method)} ${url} has no operationId.`);
      if (!config?.scope) return { schema, url };
      const suffice = config.orScope ? [config.scope, config.orScope] : [config.scope];
      const security = suffice.flatMap((scope) => [{ bearer: [scope] }, { apiKey: [scope] }]);
      return { schema: { ...schema, security }, url };
    },
    transformObject(document) {
      const written = jsonSchemaTransformObject(document);
      for (const operation of Object.values(written.paths ?? {}).flatMap((path) => Object.values(path ?? {}))) {
        const { requestBody } = operation as { requestBody?: RequestBody };
        loosenBody(requestBody);
        describeText(requestBody);
        for (const media of Object.values(requestBody?.content ?? {}))
          media.schema = acceptNulls(media.schema) as Schema;
        (operation as { parameters?: Parameter[] }).parameters?.forEach(describeJson);
        describeLimits((operation as { responses?: Responses }).responses ?? {});
      }
      for (const path of Object.values(written.paths ?? {}))
        for (const [method, operation] of Object.entries(path ?? {})) describeAnswers(method, operation as Operation);
      const { schemas = {} } = (written as LinkedDocument).components ?? {};
      for (const name of Object.keys(schemas).filter((each) => each.endsWith('Input')))
        schemas[name] = acceptNulls(schemas[name]) as object;
      dropSafeBounds(written);
      splitTypes(written);
      joinTwins(written as SchemaDocument);
      nameUnions(written as SchemaDocument);
      nameDiscriminators(written as SchemaDocument);
      showExamples(written as ShownDocument);
      linkCreates(written as LinkedDocument);
      return written;
    },
  });
  await app.register(fastifySwaggerUi, {
    routePrefix: '/docs',
    staticCSP: pagePolicy,
    theme: { title: 'Ratchet API' },
    uiHooks: {
      onRequest(request, reply, done) {
        // The page's own renderings of the document would be made anew for each request.
        if (/^\/docs\/(json|yaml)$/.test(request.routeOptions.url ?? '')) return void reply.redirect('/openapi.json');
        done();
      },
    },
  });
  let rendered: { body: Buffer; etag: string } | null = null;
  app.get('/openapi.json', { schema: { hide: true } }, (request, reply) => {
    const { body, etag } = (rendered ??= render(app.swagger()));
    void reply.headers({ etag, 'cache-control': 'no-cache' });
    if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(body);
  });
}

function render(document: object): { body: Buffer; etag: string } {
  const body = Buffer.from(JSON.stringify(document));
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` };
}

type Responses = Record<string, { description?: string; headers?: Record<string, object> }>;
interface Operation {
  summary?: string;
  responses?: Responses;
}

const meanings: Record<string, string> = {
  201: 'Created.',
  202: 'Accepted; the job carries it out as soon as it can.',
  503: 'Not ready.',
};

/** Says what an answer without a description means. */
function describeAnswers(method: string, { summary, responses = {} }: Operation): void {
  const done = responses['201'] ? 'Nothing was created: this is a dry run, or it exists already.' : 'Done.';
  for (const [status, response] of Object.entries(responses))
    if (response.description === 'Default Response')
      response.description = meanings[status] ?? (method === 'get' ? `${summary}.` : done);
}

/** Adds the fields of limits to the successes and the refusals of operations with a key. */
function describeLimits(responses: Responses): void {
  if (!responses['429']) return;
  for (const [status, response] of Object.entries(responses)) {
    if (!/^(2..|429)$/.test(status)) continue;
    const names = Object.keys(limitHeaders).filter((name) => status === '429' || name !== 'Retry-After');
    const headers = names.map((name) => [name, { $ref: `#/components/headers/${name}` }]);
    response.headers = { ...response.headers, ...Object.fromEntries(headers) };
  }
}

interface Schema {
  type?: string;
  anyOf?: { type?: string }[];
}
interface RequestBody {
  required?: boolean;
  content?: Record<string, { schema?: Schema }>;
}
interface Parameter {
  schema?: { contentMediaType?: string; contentSchema?: object };
  content?: Record<string, { schema: object }>;
}

/** Describes a parameter that is JSON as text by the schema of its value. */
function describeJson(parameter: Parameter): void {
  const { contentMediaType: type, contentSchema: schema } = parameter.schema ?? {};
  if (type === undefined || schema === undefined) return;
  delete parameter.schema;
  parameter.content = { [type]: { schema } };
}

/** Marks nullable bodies as optional, which the generator misses. */
function loosenBody(body: RequestBody | undefined): void {
  const forms = Object.values(body?.content ?? {}).flatMap(({ schema }) => schema?.anyOf ?? []);
  if (body && forms.some(({ type }) => type === 'null')) body.required = false;
}

/** Describes a body as text in formats other than JSON. */
function describeText({ content = {} }: RequestBody = {}): void {
  for (const type of Object.keys(content))
    if (type !== 'application/json') content[type] = { schema: { type: 'string' } };
}
