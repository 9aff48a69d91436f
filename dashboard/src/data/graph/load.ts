/** The calls of the page of a graph job. */
import { graphFromJson } from '../../../../src/core/graphs/json.js';
import type { GraphJson } from '../../../../src/contracts/graphs/graph.js';
import { client } from '../client.js';
import type { Candidate, CandidateDetail, GraphJob, Pareto, Rollout } from './types.js';

export const loadGraphJob = (id: string, signal: AbortSignal): Promise<GraphJob> =>
  client.value.request('getGraphJob', { path: { job_id: id }, signal });

export const loadPareto = (id: string, signal: AbortSignal): Promise<Pareto> =>
  client.value.request('getGraphJobPareto', { path: { job_id: id }, signal });

export const loadCandidate = (id: string, candidateId: string, signal: AbortSignal): Promise<CandidateDetail> =>
  client.value.request('getGraphJobCandidate', { path: { job_id: id, candidate_id: candidateId }, signal });

export function loadCandidates(id: string, signal: AbortSignal): Promise<Candidate[]> {
  const path = { job_id: id };
  return all(client.value.list('listGraphJobCandidates', { path, query: { limit: 200 }, signal }));
}

export function loadRollouts(id: string, candidateId: string, signal: AbortSignal): Promise<Rollout[]> {
  const path = { job_id: id, candidate_id: candidateId };
  return all(client.value.list('listGraphJobSeedEvals', { path, query: { limit: 200 }, signal }));
}

/** The graph of a candidate in the form that the core reads. */
export const graphOf = ({ graph }: CandidateDetail) => graphFromJson(graph as GraphJson);

async function all<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of pages) found.push(item);
  return found;
}
