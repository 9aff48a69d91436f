import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { pageQuery, pageSchema } from '../../contracts/common.js';
import {
  datasetChangeSchema,
  datasetRowSchema,
  datasetSchema,
  uploadLimits,
  uploadQuerySchema,
} from '../contract/dataset.js';
import {
  deleteDataset,
  listDatasetRows,
  listDatasets,
  readDataset,
  renameDataset,
  type Dataset,
} from '../store/datasets.js';
import type { Db } from '../../platform/db/db.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { ApiError, refuse } from '../../platform/http/server/errors.js';
import { numberedPage, parseCursor, parseTimeCursor, timedPage } from '../../platform/http/server/pages.js';
import { bodyProblems, problems } from '../../platform/http/server/schema.js';
import type { Format } from './rows.js';
import { datasetView, storeRows } from './stored.js';
import { discardRest, tooLarge } from './upload.js';

const datasetsBase = '/api/v1/datasets';
const tags = ['Data sets'];
const params = z.object({ dataset_id: z.string() });
const query = z.strictObject(pageQuery);

const formats: Record<string, Format> = {
  'application/json': 'json',
  'application/jsonl': 'jsonl',
  'application/x-ndjson': 'jsonl',
  'text/csv': 'csv',
};
const file = z.unknown().meta({
  id: 'DatasetFile',
  description: 'The file, up to 100 MiB.',
  type: 'array',
  items: {
    type: 'object',
    minProperties: 1,
    propertyNames: { pattern: '\\S', maxLength: uploadLimits.columnChars },
  },
  minItems: 1,
});

/** Data sets: immutable rows, whose id is a hash of them. */
export async function registerDatasets(app: App, { db }: Pick<HttpDeps, 'db'>): Promise<void> {
  await app.register((scope: App, _options, done) => {
    registerUpload(scope, db);
    done();
  });
  registerList(app, db);
  registerGet(app, db);
  registerRows(app, db);
  registerRename(app, db);
  registerDelete(app, db);
}

/** Takes the parsers of `app`: a file is read as it arrives. */
function registerUpload(app: App, db: Db): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, stream, parsed) => parsed(null, stream));
  app.post(
    datasetsBase,
    {
      schema: {
        tags,
        operationId: 'uploadDataset',
        summary: 'Upload a data set',
        description:
          'A list of rows as JSON, a row a line (JSONL), or CSV with a header. Each row is an object with a value for each column. A file that exists already is answered with 200.',
        consumes: Object.keys(formats),
        querystring: uploadQuerySchema,
        body: file,
        response: { 200: datasetSchema, 201: datasetSchema, ...bodyProblems() },
      },
      // The same content is the same data set.
      config: { idempotency: 'none' },
      bodyLimit: uploadLimits.bytes,
    },
    async (request, reply) => {
      const format = formatOf(request);
      // A request without a body has no stream.
      const body = (request.body as Readable | undefined) ?? Readable.from([]);
      const chunks = body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
      const stored = storeRows(db, request.caller.orgId, format, chunks, request.query.name);
      // The unread rest of a refused file would block its client and the connection.
      const { dataset, isNew } = await stored.finally(() => discardRest(body));
      if (isNew) void reply.header('location', `${datasetsBase}/${dataset.id}`);
      return reply.code(isNew ? 201 : 200).send(datasetView(dataset));
    },
  );
}

function formatOf({ headers, raw }: FastifyRequest): Format {
  const type = (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (Number(headers['content-length'] ?? 0) > uploadLimits.bytes) throw tooLarge();
  const format = formats[type];
  if (format) return format;
  raw.resume();
  throw new ApiError(415, 'unsupported_media_type', `Send the file as ${Object.keys(formats).join(', ')}.`);
}

function registerList(app: App, db: Db): void {
  app.get(
    datasetsBase,
    {
      schema: {
        tags,
        operationId: 'listDatasets',
        summary: 'List data sets, newest first',
        querystring: query,
        response: { 200: pageSchema(datasetSchema), ...problems(422) },
      },
    },
    async (request) => {
      const { limit, cursor } = request.query;
      const after = parseTimeCursor(cursor);
      const rows = await db.org(request.caller.orgId, (tx) => listDatasets(tx, { after, limit: limit + 1 }));
      return timedPage(rows, limit, ({ id }) => id, datasetView);
    },
  );
}

function registerGet(app: App, db: Db): void {
  app.get(
    `${datasetsBase}/:dataset_id`,
    {
      schema: {
        tags,
        operationId: 'getDataset',
        summary: 'A data set',
        params,
        response: { 200: datasetSchema, ...problems(404) },
      },
    },
    async ({ caller, params }) => datasetView(await find(db, caller.orgId, params.dataset_id)),
  );
}

function registerRows(app: App, db: Db): void {
  app.get(
    `${datasetsBase}/:dataset_id/rows`,
    {
      schema: {
        tags,
        operationId: 'listDatasetRows',
        summary: 'Rows of a data set',
        params,
        querystring: query,
        response: { 200: pageSchema(datasetRowSchema), ...problems(404, 422) },
      },
    },
    async (request) => {
      const { limit, cursor } = request.query;
      const after = parseCursor(cursor);
      const { orgId } = request.caller;
      const { id } = await find(db, orgId, request.params.dataset_id);
      const rows = await db.org(orgId, (tx) => listDatasetRows(tx, id, { after, limit: limit + 1 }));
      return numberedPage(
        rows,
        limit,
        ({ row }) => row,
        (row) => row,
      );
    },
  );
}

function registerRename(app: App, db: Db): void {
  app.patch(
    `${datasetsBase}/:dataset_id`,
    {
      schema: {
        tags,
        operationId: 'renameDataset',
        summary: 'Name a data set',
        params,
        body: datasetChangeSchema,
        response: { 200: datasetSchema, ...bodyProblems(404) },
      },
    },
    async ({ caller, params, body }) => {
      const { id } = await find(db, caller.orgId, params.dataset_id);
      const renamed = await db.org(caller.orgId, (tx) => renameDataset(tx, id, body.name));
      if (!renamed) throw refuse.notFound(`data set ${id}`);
      return datasetView(renamed);
    },
  );
}

function registerDelete(app: App, db: Db): void {
  app.delete(
    `${datasetsBase}/:dataset_id`,
    {
      schema: {
        tags,
        operationId: 'deleteDataset',
        summary: 'Delete a data set',
        params,
        response: { 204: z.undefined().describe('Deleted.'), ...problems(404, 409) },
      },
    },
    async (request, reply) => {
      const { orgId } = request.caller;
      const { id } = await find(db, orgId, request.params.dataset_id);
      const used = await db.org(orgId, (tx) => deleteDataset(tx, id));
      if (used) {
        const [newest] = used.usedBy;
        const detail = `The job ${newest} runs its rows, so the data set cannot be deleted. Delete its jobs first.`;
        throw new ApiError(409, 'dataset_in_use', detail, { extra: { used_by: used.usedBy } });
      }
      return reply.code(204).send();
    },
  );
}

async function find(db: Db, orgId: string, id: string): Promise<Dataset> {
  const isId = /^ds_[0-9a-f]{64}$/.test(id);
  const dataset = isId ? await db.org(orgId, (tx) => readDataset(tx, id)) : null;
  if (!dataset) throw refuse.notFound(`data set ${id.slice(0, 100)}`);
  return dataset;
}
