import { z } from 'zod';
import type { JobRoute } from '../../jobs/routes/kind.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { problems } from '../../platform/http/server/schema.js';
import { reportDocument } from './document.js';
import { readReport, type ReportedJob } from './read.js';

/** The report of a job as a file. */
export function registerReport<Head extends ReportedJob['spec']>(
  app: App,
  deps: HttpDeps,
  route: JobRoute<Head>,
): void {
  const { path, params, name, noun, tags, find } = route;
  app.get(
    `${path}/report`,
    {
      schema: {
        tags,
        operationId: `get${name}Report`,
        summary: `The report of ${noun}, as one HTML file`,
        description:
          'What happened, the gain with its interval, what changed, the rows that are wrong, settings, cost, and how to run it again. The file loads nothing and runs nothing.',
        params,
        response: {
          200: { description: 'The report.', content: { 'text/html': { schema: z.string() } } },
          ...problems(404),
        },
      },
    },
    async (request, reply) => {
      const job = (await find(request)) as ReportedJob;
      const report = await deps.db.org(job.orgId, (tx) => readReport(tx, job, deps.version));
      return reply
        .type('text/html; charset=utf-8')
        .header('content-disposition', `attachment; filename="report-${job.jobId}.html"`)
        .send(reportDocument(report));
    },
  );
}
