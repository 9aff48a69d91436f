import { Context } from '@temporalio/activity';
import { componentTexts } from '../../src/core/prompts/components.js';
import type { SessionSpec } from '../../src/core/jobs/spec.js';
import type { DemoAnswer, DemoRequest } from '../../src/core/search/protocol.js';
import { readPool, readMarked } from '../../src/storage/candidates/candidates.js';
import { usableDemos } from '../../src/storage/candidates/demos.js';
import type { JobRef } from '../../src/storage/jobs/events.js';
import { readSpec } from '../../src/storage/jobs/spec.js';
import type { ActivityDeps } from '../deps.js';
import { describeTask } from './describe.js';
import { classifyErrors } from '../errors.js';
import { withHeartbeat } from '../heartbeat.js';
import { recordLost } from '../jobs/spec.js';
import { recordSearchUpdate, type SearchUpdate } from '../jobs/lifecycle.js';

/** What a search is told of a prompt and of rollouts: it sees neither texts nor traces itself. */
export function findDemosActivity(deps: ActivityDeps) {
  return {
    findDemos: (input: JobRef & { request: DemoRequest; decided?: SearchUpdate | null }): Promise<DemoAnswer> =>
      classifyErrors(() =>
        withHeartbeat(async () => {
          const { request, decided } = input;
          const job: JobRef = { orgId: input.orgId, jobId: input.jobId };
          const { spec, prompt, slots } = await deps.db.org(job.orgId, async (tx) => {
            if (decided) await recordSearchUpdate(tx, job, decided);
            const baseline = (await readPool(tx, job.jobId)).get(0);
            if (!baseline?.messages) throw recordLost(job);
            const prompt = componentTexts(baseline.messages);
            const components = Object.keys(prompt);
            const marked = await readMarked(tx, job.jobId);
            const asked = { components, marked, ordinals: request.ordinals };
            return {
              spec: await readSpec<SessionSpec>(tx, job.jobId),
              prompt,
              slots: await usableDemos(tx, job.jobId, asked),
            };
          });
          if (request.describe.length > 0) {
            const { cancellationSignal } = Context.current();
            await describeTask(deps, job, spec, { prompt, ordinals: request.describe }, cancellationSignal);
          }
          return { components: Object.keys(prompt), slots };
        }),
      ),
  };
}
