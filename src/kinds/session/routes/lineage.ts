import type { z } from 'zod';
import { renderPrompt } from '../../../core/prompts/demos.js';
import { candidateDetailSchema, paretoSchema, seedEvalSchema } from '../../../candidates/contract/lineage.js';
import type { Tx } from '../../../platform/db/db.js';
import type { JobRow, SessionHead } from '../../../jobs/store/jobs.js';
import { readOrigin } from '../../../candidates/routes/detail.js';
import type { LineageView } from '../../../candidates/routes/routes.js';
import { readPareto, readWeighed } from '../../../candidates/routes/pareto-view.js';
import { readMeasured } from './ablation.js';
import { seedEvalView } from '../../../candidates/routes/seed-evals-view.js';

/** Without edits of a structure: each attempt names a component. */
type Reflection = NonNullable<z.output<typeof candidateDetailSchema>['reflection']>;

const sessionIds = (jobId: string) => ({ session_id: jobId, job_id: jobId });

/** Views of the candidates of a session. */
export const sessionLineage: LineageView<SessionHead> = {
  detail: {
    schema: candidateDetailSchema,
    summary: 'A candidate: its text, its origin, and the author of each sentence',
    description:
      'For each sentence the ancestor that introduced it, and the feedback shown to its reflection. Long ' +
      'texts are cut.',
    read: readDetail,
  },
  seedEval: { schema: seedEvalSchema, view: seedEvalView },
  pareto: {
    schema: paretoSchema,
    summary: 'The best reward for each evaluation seed, and its candidates',
    description: 'Over all evaluated candidates; also those to choose from by reward, cost, time and length.',
    read: async (tx, { jobId }): Promise<z.output<typeof paretoSchema>> => ({
      ...sessionIds(jobId),
      ...(await readPareto(tx, jobId)),
      weighed: await readWeighed(tx, jobId),
    }),
  },
  measured: readMeasured,
};

async function readDetail(
  tx: Tx,
  job: JobRow<SessionHead>,
  candidateId: string,
): Promise<z.output<typeof candidateDetailSchema> | null> {
  const origin = await readOrigin(tx, job, candidateId);
  if (!origin) return null;
  const { self, shown } = origin;
  return {
    ...sessionIds(job.jobId),
    ...shown,
    reflection: shown.reflection as Reflection | null,
    messages: self.messages && renderPrompt(self.messages, self.demos),
  };
}
