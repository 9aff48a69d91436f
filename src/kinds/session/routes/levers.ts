import { z } from 'zod';
import { pageSchema } from '../../../contracts/common.js';
import {
  leverListSchema,
  leversQuerySchema,
  leverVersionItemSchema,
  leverVersionSchema,
} from '../../../candidates/contract/levers.js';
import { leverComponent } from '../../../core/jobs/ids.js';
import type { SessionHead } from '../../../jobs/store/jobs.js';
import { readComponentLevers, readLevers, readLeverVersions, versionsOf } from '../../../candidates/store/levers.js';
import { readCandidates } from '../../../candidates/store/reads.js';
import type { JobRoute } from '../../../jobs/routes/kind.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { refuse } from '../../../platform/http/server/errors.js';
import { leverList, versionItem, versionView } from './levers-view.js';
import { numberedPage, parseCursor } from '../../../platform/http/server/pages.js';
import { problems, sessionParams } from '../../../platform/http/server/schema.js';

const leverParams = sessionParams.extend({ prompt_lever_id: z.string() });

/** Routes of a session's levers and their versions. */
export function registerLevers(app: App, { db }: HttpDeps, { path, tags, find }: JobRoute<SessionHead>): void {
  const levers = `${path}/levers`;

  app.get(
    levers,
    {
      schema: {
        tags,
        operationId: 'listSessionLevers',
        summary: 'Levers: the whole prompt and, if there are several, its components',
        params: sessionParams,
        response: { 200: leverListSchema, ...problems(404) },
      },
    },
    async (request) => {
      const job = await find(request);
      const { jobId } = job;
      return db.org(job.orgId, async (tx) => {
        const id = job.projection.bestCandidateId;
        const [best] = id ? await readCandidates(tx, jobId, { id }) : [];
        const components = best ? await readComponentLevers(tx, jobId, [best.id]) : new Map<string, never>();
        const at = best ? versionsOf(jobId, { candidateId: best.id, version: best.leverVersion }, components) : {};
        return leverList(jobId, await readLevers(tx, jobId), at);
      });
    },
  );

  app.get(
    `${levers}/:prompt_lever_id/versions`,
    {
      schema: {
        tags,
        operationId: 'listSessionLeverVersions',
        summary: "A lever's versions",
        description: 'Ascending; 0 is the baseline. Failed proposals leave gaps.',
        params: leverParams,
        querystring: leversQuerySchema,
        response: { 200: pageSchema(leverVersionItemSchema), ...problems(404, 422) },
      },
    },
    async (request) => {
      const { prompt_lever_id: id } = request.params;
      const { limit, cursor } = request.query;
      const after = parseCursor(cursor);
      const job = await find(request);
      const component = knownComponent(job.jobId, id);
      const rows = await db.org(job.orgId, async (tx) => {
        const known = await readLevers(tx, job.jobId);
        if (!known.some(({ name }) => name === component)) throw noLever(id);
        return readLeverVersions(tx, job.jobId, component, { after, limit: limit + 1 });
      });
      return numberedPage(rows, limit, ({ version }) => version, versionItem);
    },
  );

  app.get(
    `${levers}/:prompt_lever_id/versions/:version`,
    {
      schema: {
        tags,
        operationId: 'getSessionLeverVersion',
        summary: 'The content of one version of a lever',
        params: leverParams.extend({ version: z.string() }),
        response: { 200: leverVersionSchema, ...problems(404) },
      },
    },
    async (request) => {
      const { prompt_lever_id: id, version } = request.params;
      const job = await find(request);
      const component = knownComponent(job.jobId, id);
      const number = /^(0|[1-9]\d{0,8})$/.test(version) ? Number(version) : -1;
      const [row] = await db.org(job.orgId, (tx) =>
        readLeverVersions(tx, job.jobId, component, { after: number - 1, limit: 1 }),
      );
      if (row?.version !== number) throw refuse.notFound(`version ${version.slice(0, 20)} of ${id.slice(0, 150)}`);
      return versionView(job.jobId, component, row);
    },
  );
}

function knownComponent(jobId: string, id: string): string | null {
  const component = leverComponent(jobId, id);
  if (component === undefined) throw noLever(id);
  return component;
}

function noLever(id: string) {
  return refuse.notFound(`lever ${id.slice(0, 150)}`);
}
