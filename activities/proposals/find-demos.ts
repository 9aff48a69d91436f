import { Context } from '@temporalio/activity';
import { componentTexts } from '../../src/core/prompts/components.js';
import { rewritableNames } from '../../src/core/prompts/row-template.js';
import type { SessionSpec } from '../../src/core/jobs/spec.js';
import type { DemoAnswer, DemoRequest } from '../../src/core/search/protocol.js';
import { readPool, readMarked } from '../../src/storage/candidates/candidates.js';
import { usableDemos } from '../../src/storage/candidates/demos.js';
import type { JobRef } from '../../src/storage/jobs/events.js';
import { readSpec } from '../../src/storage/jobs/spec.js';
import type { ActivityDeps } from '../deps.js';
import { withHeartbeat } from '../heartbeat.js';
import { recordSearchUpdate, type SearchUpdate } from '../jobs/search-update.js';
import { recordLost } from '../jobs/spec.js';
import { describeTask } from './describe.js';

export interface FindDemosInput extends JobRef {
  request: DemoRequest;
  /** The search update that asked for demonstrations, recorded first. */
  update?: SearchUpdate;
}

export function findDemosActivity(deps: ActivityDeps) {
  return {
    /** Finds the baseline's components and the rollouts that can serve as demonstrations. */
    findDemos: (input: FindDemosInput): Promise<DemoAnswer> =>
      withHeartbeat(async () => {
        const { request, update } = input;
        const job: JobRef = { orgId: input.orgId, jobId: input.jobId };
        const { spec, prompt, slots } = await deps.db.org(job.orgId, async (tx) => {
          if (update) await recordSearchUpdate(tx, job, update);
          const baseline = (await readPool(tx, job.jobId)).get(0);
          if (!baseline?.messages) throw recordLost(job);
          const prompt = componentTexts(baseline.messages);
          const marked = await readMarked(tx, job.jobId);
          const query = { components: Object.keys(prompt), marked, ordinals: request.ordinals, open: request.open };
          const spec = await readSpec<SessionSpec>(tx, job.jobId);
          return { spec, prompt, slots: await usableDemos(tx, job.jobId, query) };
        });
        if (request.describe.length > 0) {
          const { cancellationSignal } = Context.current();
          await describeTask(deps, job, spec, { prompt, ordinals: request.describe }, cancellationSignal);
        }
        return { components: rewritableNames(spec, prompt), slots };
      }),
  };
}
