import type { SearchSpec } from '../../src/core/jobs/spec.js';
import { proposalTries } from '../../src/core/proposals/limits.js';
import type { ReflectionExample } from '../../src/core/proposals/reflection.js';
import type { ProposalRequest } from '../../src/core/search/protocol.js';
import { candidateTexts } from '../../src/candidates/store/candidates.js';
import { readRecordedAnswers, type RecordedAnswers } from '../../src/candidates/store/proposals.js';
import { readExamples } from '../../src/candidates/store/reflection-examples.js';
import type { Tx } from '../../src/platform/db/db.js';
import { readGraphExamples, type GraphExample } from '../../src/kinds/graph/store/examples.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import { readHint } from '../../src/jobs/store/suggestions.js';
import { recordLost } from '../jobs/spec.js';
import { readDescription } from './describe.js';
import type { CandidatePool } from './pool.js';

/** Examples by ordinal; `task`: the proposer's description; `hint`: a person's. */
export interface SessionMaterial {
  examples: ReadonlyMap<number, ReflectionExample & { ordinal: number }>;
  task: string | null;
  hint: string | null;
}

export interface GraphMaterial {
  examples: ReadonlyMap<number, GraphExample>;
}

/** The rows that a batch of proposals is made from. */
export interface Material {
  spec: SearchSpec;
  pool: CandidatePool;
  recorded: RecordedAnswers;
  session: SessionMaterial;
  graph: GraphMaterial;
}

/** Reads all rows of a batch. */
export async function readMaterial(
  tx: Tx,
  job: JobRef,
  spec: SearchSpec,
  pool: CandidatePool,
  requests: readonly ProposalRequest[],
): Promise<Material> {
  if (!requests.flatMap(neededCandidates).every((candidate) => pool.has(candidate))) throw recordLost(job);
  const asked = requests.filter(({ kind }) => kind === 'rewrite' || kind === 'edit');
  const ordinals = [...new Set(asked.flatMap(({ ordinals, solved = [] }) => [...ordinals, ...solved]))];
  const isGraph = spec.kind === 'graph';
  const [recorded, examples, graphExamples, task, hint] = await Promise.all([
    readRecordedAnswers(
      tx,
      job.jobId,
      asked.map((request) => occurrencesOf(pool, request)),
    ),
    isGraph ? [] : readExamples(tx, job.jobId, ordinals),
    isGraph ? readGraphExamples(tx, job.jobId, ordinals) : [],
    asked.some(({ guide }) => guide) ? readDescription(tx, job) : null,
    isGraph ? null : readHint(tx, job.jobId),
  ]);
  const session = { examples: byOrdinal(examples), task, hint };
  return { spec, pool, recorded, session, graph: { examples: byOrdinal(graphExamples) } };
}

/** The candidates whose texts a proposal is made from. */
export function neededCandidates({ parent, merge = [], compose, tried = [] }: ProposalRequest): number[] {
  return [parent, ...merge, ...(compose?.texts ?? []), ...tried.map(({ candidate }) => candidate)];
}

/** The proposer is asked about each text of the parent, or once for an edit. */
function occurrencesOf(pool: CandidatePool, { candidate, parent }: ProposalRequest) {
  const texts = Object.keys(candidateTexts(pool.get(parent))).length;
  return { candidate, occurrences: Math.max(1, texts) * proposalTries };
}

function byOrdinal<Example extends { ordinal: number }>(examples: readonly Example[]): Map<number, Example> {
  return new Map(examples.map((example) => [example.ordinal, example]));
}
