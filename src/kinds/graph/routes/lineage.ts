import type { z } from 'zod';
import { graphCandidateSchema, graphParetoSchema, graphSeedEvalSchema } from '../contract/lineage.js';
import { graphTexts } from '../../../core/graphs/components.js';
import { graphFromJson } from '../../../core/graphs/json.js';
import { graphText } from '../../../core/graphs/text.js';
import type { Tx } from '../../../platform/db/db.js';
import type { GraphHead, JobRow } from '../../../jobs/store/jobs.js';
import type { SeedEval } from '../../../candidates/store/lineage.js';
import { readCandidates } from '../../../candidates/store/reads.js';
import { readOrigin } from '../../../candidates/routes/detail.js';
import { graphIds } from './view.js';
import type { LineageView } from '../../../candidates/routes/routes.js';
import { readTaskIds } from '../store/download.js';
import { readCostFront, readPareto } from '../../../candidates/routes/pareto-view.js';
import { seedEvalView } from '../../../candidates/routes/seed-evals-view.js';

type GraphJob = JobRow<GraphHead>;

/** Views of the candidates of a graph job. */
export const graphLineage: LineageView<GraphHead> = {
  detail: {
    schema: graphCandidateSchema,
    summary: 'A candidate: its graph, its origin, and the author of each sentence',
    description:
      'The edits that made its structure and, for each sentence of its prompts, the ancestor that introduced it and the ' +
      'feedback shown to its reflection. Long texts are cut.',
    read: readDetail,
  },
  seedEval: {
    schema: graphSeedEvalSchema,
    view: (row: SeedEval): z.output<typeof graphSeedEvalSchema> => ({ ...seedEvalView(row), task_id: row.taskId! }),
  },
  pareto: {
    schema: graphParetoSchema,
    summary: 'The best reward for each evaluation task, and the front of reward and cost',
    description: 'The best candidates of each task, and the best reward for each cost of a run.',
    read: async (tx, { jobId }): Promise<z.output<typeof graphParetoSchema>> => {
      const { seeds, front } = await readPareto(tx, jobId);
      const indexes = seeds.map(({ seed }) => seed);
      const taskIds = await readTaskIds(tx, jobId, indexes);
      return {
        ...graphIds(jobId),
        seeds: seeds.map((item) => ({ ...item, task_id: taskIds.get(item.seed)! })),
        front,
        cost_front: await readCostFront(tx, jobId, await readCandidates(tx, jobId, { status: 'evaluated' })),
      };
    },
  },
  measured: null,
};

async function readDetail(
  tx: Tx,
  job: GraphJob,
  candidateId: string,
): Promise<z.output<typeof graphCandidateSchema> | null> {
  const origin = await readOrigin(tx, job, candidateId);
  if (!origin) return null;
  const { self, shown } = origin;
  const graph = graphFromJson(self.graph!);
  return {
    ...graphIds(job.jobId),
    ...shown,
    graph: self.graph!,
    graph_txt: graphText(graph),
    prompts: Object.entries(graphTexts(graph)).map(([component, text]) => ({ component, text })),
    edits: self.edits,
  };
}
