import { z } from 'zod';
import type { GraphHead, JobRow } from '../../../jobs/store/jobs.js';
import type { JobRoute } from '../../../jobs/routes/kind.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { ApiError } from '../../../platform/http/server/errors.js';
import { graphArchive } from './export/archive.js';
import { readExport } from './export/content.js';
import { sendArchive } from './export/send.js';
import { jobParams, problems } from '../../../platform/http/server/schema.js';

/** The download of a completed graph job. */
export function registerGraphDownload(app: App, deps: HttpDeps, { base, path, tags, find }: JobRoute<GraphHead>): void {
  app.get(
    `${path}/download`,
    {
      schema: {
        tags,
        operationId: 'downloadGraph',
        summary: 'The winner as a ZIP: the graph, its scores, and a program that runs it',
        description:
          'For completed jobs. The bytes of a job never change; `ETag` identifies them, and a matching `If-None-Match` gives 304.',
        params: jobParams,
        headers: z.looseObject({ 'if-none-match': z.string().optional().describe('An earlier `ETag`.') }),
        response: {
          200: {
            description:
              'README.md, run.py, graph.json, graph.txt, graph.mmd, best_prompt.json, results.json, candidates.jsonl, manifest.json.',
            content: { 'application/zip': { schema: z.string().meta({ format: 'binary' }) } },
          },
          304: z.undefined().describe('Matches `If-None-Match`.'),
          ...problems(404, 409),
        },
      },
    },
    async (request, reply) => {
      const job = await find(request);
      const exported = job.status === 'completed' ? await readExport(deps.db, job, deps.version) : null;
      if (!exported) throw notDownloadable(job, `${base}/${job.jobId}`);
      return sendArchive(request, reply, await graphArchive(exported));
    },
  );
}

function notDownloadable({ status, projection }: JobRow<GraphHead>, path: string): ApiError {
  const best = projection.bestCandidateId ? ` Its best graph is at ${path}/graph.txt.` : '';
  const why = {
    pending: `The job is pending: start it with POST ${path}/start and download it once it is completed.`,
    running: 'The job is running; download it once it is completed.',
    paused: 'The job is paused: resume it and download it once it is completed.',
    completed: 'The job is completed but has no evaluated graph.',
    failed: `The job failed; only completed jobs can be downloaded.${best}`,
    cancelled: `The job was cancelled; only completed jobs can be downloaded.${best}`,
  }[status];
  return new ApiError(409, 'invalid_state', why, { extra: { current_status: status } });
}
