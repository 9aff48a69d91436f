import type { SearchUpdate } from '../../src/core/algorithms/progress.js';
import { decisionEvents } from '../../src/core/events/search.js';
import { candidateId } from '../../src/core/jobs/ids.js';
import type { Unit } from '../../src/core/jobs/unit.js';
import type { AcceptanceDecision, Decision, SearchView } from '../../src/core/search/protocol.js';
import { countCandidates } from '../../src/candidates/store/candidates.js';
import { writeDecision, type ClosedState } from '../../src/jobs/store/decisions/record.js';
import type { Tx } from '../../src/platform/db/db.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import type { SessionProjection } from '../../src/jobs/store/projection.js';
import { readUsage } from '../../src/jobs/store/usage.js';
import type { RecordedGeneration } from './generations.js';

/**
 * Records what a step of a search shows, of a locked job; `unit`: what it runs on. Returns the
 * generations it completes.
 */
export async function recordSearchUpdate(
  tx: Tx,
  job: JobRef,
  unit: Unit,
  { view, decisions }: SearchUpdate,
): Promise<RecordedGeneration[]> {
  const completed = decisions.filter((decision) => decision.type === 'generation_complete');
  const [costUsd, candidates] =
    completed.length > 0
      ? await Promise.all([
          readUsage(tx, job.jobId).then((usage) => usage.totalCostUsd),
          countCandidates(tx, job.jobId),
        ])
      : [null, 0];
  const decision = {
    ...searchState(job.jobId, view),
    tests: view.tests ?? [],
    acceptances: decisions.filter(isAcceptance),
    repeated: decisions.flatMap((decision) => (decision.type === 'rollouts_repeated' ? decision.ordinals : [])),
    events: decisions.flatMap((decision) => decisionEvents(job.jobId, decision, { ...view, costUsd, unit })),
  };
  await writeDecision(tx, job, decision, 'running');
  const rollouts = view.rolloutsCompleted;
  return completed.map(({ generation, bestReward }) => ({ generation, candidates, bestReward, rollouts, costUsd }));
}

function isAcceptance(decision: Decision): decision is AcceptanceDecision {
  return decision.type === 'candidate_accepted' || decision.type === 'candidate_rejected';
}

export function searchState(
  jobId: string,
  view: SearchView,
): Required<Pick<ClosedState, 'projection' | 'candidates' | 'outcomesThrough'>> {
  return {
    projection: projection(jobId, view),
    candidates: view.candidates,
    outcomesThrough: view.rolloutsCompleted,
  };
}

function projection(jobId: string, view: SearchView): SessionProjection {
  return {
    generation: view.generation,
    totalGenerations: view.totalGenerations,
    bestCandidateId: view.bestCandidate === null ? null : candidateId(jobId, view.bestCandidate),
    bestReward: view.bestReward,
    bestInterval: view.bestInterval ?? null,
    rolloutsPlanned: view.rolloutsPlanned,
    maxRollouts: view.maxRollouts,
    history: view.history,
    ...(view.estimate && { estimate: estimate(jobId, view.estimate) }),
    ...(view.noise && { noise: view.noise }),
    ...(view.evaluationRollouts !== undefined && { evaluationRollouts: view.evaluationRollouts }),
    ...(view.verdict && { verdict: view.verdict }),
    nothingLeft: view.nothingLeft ?? null,
    ...(view.extendedAt !== undefined && { extendedAt: view.extendedAt }),
    evaluationSeeds: view.evaluationSeeds,
    heldoutSeeds: view.heldoutSeeds,
    phase: view.phase ?? null,
  };
}

function estimate(jobId: string, { candidate, ...interval }: NonNullable<SearchView['estimate']>) {
  return { candidateId: candidateId(jobId, candidate), ...interval };
}
