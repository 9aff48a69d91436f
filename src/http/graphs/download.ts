import { z } from 'zod';
import type { GraphHead, JobRow } from '../../storage/jobs/jobs.js';
import { findJob } from '../jobs/control.js';
import type { App, HttpDeps } from '../deps.js';
import { ApiError } from '../server/errors.js';
import { graphArchive } from './export/archive.js';
import { readExport } from './export/content.js';
import { sendArchive } from './export/send.js';
import { jobParams, problems } from '../server/schema.js';

/** The download of a completed graph job; `one` is the path of a job. */
export function registerGraphDownload(app: App, deps: HttpDeps, one: `${string}/:job_id`, tags: string[]): void {
  app.get(
    `${one}/download`,
    {
      schema: {
        tags,
        summary: 'What won, as a ZIP: the graph, its scores, and a program that runs it',
        description:
          'Of a completed job. The same job gives the same bytes, by which `ETag` is named; 304 to who sends it as `If-None-Match`.',
        params: jobParams,
        headers: z.looseObject({ 'if-none-match': z.string().optional().describe('What `ETag` was before.') }),
        response: {
          200: {
            description:
              'README.md, run.py, graph.json, graph.txt, graph.mmd, best_prompt.json, results.json, candidates.jsonl, manifest.json.',
            content: { 'application/zip': { schema: z.string().meta({ format: 'binary' }) } },
          },
          304: z.undefined().describe('It is the one that `If-None-Match` names.'),
          ...problems(404, 409),
        },
      },
    },
    async (request, reply) => {
      const job = await findJob<GraphHead>(deps, request, request.params.job_id, 'graph');
      const exported = job.status === 'completed' ? await readExport(deps.db, job, deps.version) : null;
      if (!exported) throw notThere(job, one.replace(':job_id', job.jobId));
      return sendArchive(request, reply, await graphArchive(exported));
    },
  );
}

function notThere({ status, projection }: JobRow<GraphHead>, path: string): ApiError {
  const best = projection.bestCandidateId ? ` The best graph that it found is at ${path}/graph.txt.` : '';
  const why = {
    pending: `The job is pending: start it by POST ${path}/start; what it finds can be downloaded once it is completed.`,
    running: 'The job is running; what it finds can be downloaded once it is completed.',
    paused: 'The job is paused; resume it: what it finds can be downloaded once it is completed.',
    completed: 'The job is completed, but no graph of it is on record.',
    failed: `The job is failed: only a completed job can be downloaded.${best}`,
    cancelled: `The job is cancelled: only a completed job can be downloaded.${best}`,
  }[status];
  return new ApiError(409, 'invalid_state', why, { extra: { current_status: status } });
}
