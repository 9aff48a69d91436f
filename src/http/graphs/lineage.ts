import type { z } from 'zod';
import { jobKinds } from '../../core/jobs/kinds.js';
import { editsSchema, type EditJson } from '../../contracts/graphs/graph.js';
import { graphCandidateSchema, graphParetoSchema, graphSeedEvalSchema } from '../../contracts/graphs/lineage.js';
import { graphTexts } from '../../core/graphs/components.js';
import { editToJson, graphFromJson } from '../../core/graphs/json.js';
import { isSameGraph, readGraphEdits, readGraphText } from '../../core/graphs/edits/read-proposal.js';
import { graphText } from '../../core/graphs/text.js';
import type { Tx } from '../../storage/db/db.js';
import type { GraphHead, JobRow } from '../../storage/jobs/jobs.js';
import type { Ancestor, SeedEval } from '../../storage/candidates/lineage.js';
import type { ProposerAttempt } from '../../storage/candidates/proposals.js';
import { readCandidates } from '../../storage/candidates/reads.js';
import { readOrigin } from '../candidates/detail.js';
import { graphIds } from './view.js';
import type { LineageRoutes } from '../candidates/routes.js';
import { readCostFront, readPareto } from '../candidates/pareto-view.js';
import { placeOf, verdictOn, type Answers } from '../candidates/reflection-view.js';
import { seedEvalView } from '../candidates/seed-evals-view.js';

type GraphJob = JobRow<GraphHead>;

/** What is shown of the candidates of a graph job. */
export const graphLineage: LineageRoutes<GraphHead> = {
  base: jobKinds.graph.path,
  param: 'job_id',
  kind: 'graph',
  tags: ['graph evolve'],
  detail: {
    schema: graphCandidateSchema,
    summary: 'One candidate: its graph, what it was made from, and who wrote which sentence',
    description:
      'The edits that made its structure, and for each sentence of its prompts the ancestor that introduced it with the feedback ' +
      'that this one’s reflection was shown. Long texts are cut.',
    read: readDetail,
  },
  seedEval: {
    schema: graphSeedEvalSchema,
    view: (row: SeedEval): z.output<typeof graphSeedEvalSchema> => ({ ...seedEvalView(row), task_id: row.taskId! }),
  },
  pareto: {
    schema: graphParetoSchema,
    summary: 'The best reward for each evaluation task, and what reward costs',
    description: 'Who holds which task, and who is best for what a run of the graph costs.',
    read: async (tx, { jobId }): Promise<z.output<typeof graphParetoSchema>> => ({
      ...graphIds(jobId),
      ...(await readPareto(tx, jobId)),
      cost_front: await readCostFront(tx, jobId, await readCandidates(tx, jobId, { status: 'evaluated' })),
    }),
  },
};

async function readDetail(
  tx: Tx,
  job: GraphJob,
  candidateId: string,
): Promise<z.output<typeof graphCandidateSchema> | null> {
  const models = job.spec.policies.map(({ model }) => model);
  const origin = await readOrigin(tx, job, candidateId, (self, parent) => graphAnswers(self, parent, models));
  if (!origin) return null;
  const { self, parent, attempts, shown } = origin;
  const graph = graphFromJson(self.graph!);
  return {
    ...graphIds(job.jobId),
    ...shown,
    graph: self.graph!,
    graph_txt: graphText(graph),
    prompts: Object.entries(graphTexts(graph)).map(([component, text]) => ({ component, text })),
    edits: isEdited(self, parent) ? takenEdits(self, parent, attempts, models) : null,
  };
}

/** Of the candidates that a model has proposed those whose prompts it did not rewrite. */
function isEdited({ components }: Ancestor, parent: Ancestor | null): parent is Ancestor {
  return parent !== null && components?.length === 0;
}

/** How the answers for a candidate are read: as edits, or as texts of its parent's prompts. */
function graphAnswers(self: Ancestor, parent: Ancestor | null, models: readonly string[]): Answers<string | null> {
  if (isEdited(self, parent)) {
    return {
      components: [],
      read(answer) {
        const { edits, reason } = readEdits(self, parent, answer, models);
        return { component: null, attempt: answer.occurrence, accepted: edits !== null, reason };
      },
    };
  }
  const graph = graphFromJson((parent ?? self).graph!);
  const own = graphTexts(graphFromJson(self.graph!));
  const names = Object.keys(own);
  return {
    components: self.components ?? [],
    read(answer) {
      const { component = '', attempt } = placeOf(answer.occurrence, names);
      return { component, attempt, ...verdictOn(readGraphText(graph, component, answer), own[component]) };
    },
  };
}

/** The edits in an answer that made the candidate, or why it was not this one. */
function readEdits(
  self: Ancestor,
  parent: Ancestor,
  answer: ProposerAttempt,
  models: readonly string[],
): { edits: EditJson[] | null; reason: string | null } {
  // Whether it was too dear is decided already.
  const read = readGraphEdits(graphFromJson(parent.graph!), answer, {
    models,
    maxAttempts: Infinity,
    schema: editsSchema,
  });
  if (!read.ok) return { edits: null, reason: read.reason };
  return isSameGraph(read.graph, graphFromJson(self.graph!))
    ? { edits: read.edits.map(editToJson), reason: null }
    : { edits: null, reason: 'another answer was taken' };
}

function takenEdits(
  self: Ancestor,
  parent: Ancestor,
  attempts: readonly ProposerAttempt[],
  models: readonly string[],
): EditJson[] | null {
  return (
    attempts.map((answer) => readEdits(self, parent, answer, models).edits).find((edits) => edits !== null) ?? null
  );
}
