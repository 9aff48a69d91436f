import { checkCreatedSchema, checkSchema, createCheckSchema, type CheckRequest } from '../../contracts/checks/check.js';
import { jobKinds } from '../../core/jobs/kinds.js';
import type { CheckSpec } from '../../core/jobs/spec.js';
import type { EvaluationHead } from '../../storage/jobs/jobs.js';
import { readSeedResults } from '../../storage/rollouts/totals.js';
import type { App, HttpDeps } from '../deps.js';
import { findJob } from '../jobs/control.js';
import { create } from '../jobs/create.js';
import { registerJobRoutes } from '../jobs/routes.js';
import { checkEvaluation, evaluationSpec } from '../jobs/specs.js';
import { jobView } from '../jobs/view.js';
import { bodyProblems, idempotencyHeader, jobParams, problems } from '../server/schema.js';

const base = jobKinds.check.path;
const tags = ['container checks'];

/** Container checks: the same seeds several times, to see whether rewards repeat. */
export function registerChecks(app: App, deps: HttpDeps): void {
  app.post(
    base,
    {
      config: { idempotency: 'create' },
      schema: {
        tags,
        summary: 'Check a container',
        headers: idempotencyHeader,
        body: createCheckSchema,
        response: { 201: checkCreatedSchema, ...bodyProblems(409) },
      },
    },
    async (request, reply) => {
      const spec = checkSpec(request.body, deps);
      return create(deps, request, reply, {
        kind: 'check',
        spec,
        algorithm: null,
        appId: null,
        correlationId: null,
        containerApiKey: request.body.container_api_key,
        location: (jobId) => `${base}/${jobId}`,
        answer: ({ jobId }) => ({ job_id: jobId, status: 'running' }),
      });
    },
  );

  app.get(
    `${base}/:job_id`,
    { schema: { tags, summary: 'Status', params: jobParams, response: { 200: checkSchema, ...problems(404) } } },
    async (request) => {
      const job = await findJob<EvaluationHead>(deps, request, request.params.job_id, 'check');
      const results = await deps.db.org(job.orgId, (tx) => readSeedResults(tx, job.jobId));
      const seeds = [...new Set(results.map(({ seed }) => seed))].map((seed) => {
        const own = results.filter((result) => result.seed === seed);
        const rewards = own.flatMap(({ reward }) => (reward === null ? [] : [reward]));
        return { seed, rewards, failed: own.length - rewards.length };
      });
      const repeatable = seeds.every(({ rewards, failed }) => failed === 0 && new Set(rewards).size === 1);
      return { ...jobView(job, deps), seeds, repeatable: job.status === 'completed' ? repeatable : null };
    },
  );

  registerJobRoutes(app, deps, {
    ...{ base, param: 'job_id', kind: 'check', noun: 'a container check', tags, eventPaths: ['/events'] },
    patchesAnyKind: false,
  });
}

function checkSpec({ repeats, ...request }: CheckRequest, deps: HttpDeps): CheckSpec {
  const seeds = Array.from({ length: repeats }, () => request.seeds).flat();
  const evaluation = { ...request, seeds, app_id: 'check', timeout: 3_600 };
  checkEvaluation(evaluation, [], deps);
  return { ...evaluationSpec(evaluation, null), kind: 'check' };
}
