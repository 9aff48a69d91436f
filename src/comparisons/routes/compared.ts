/** The rollouts that an id stands for in a comparison. */
import type { JobSpec, SearchSpec } from '../../core/jobs/spec.js';
import { instancesOf, instancesProblem, type Instances } from '../../core/jobs/instances.js';
import { jobKinds, kindOf, type JobKind } from '../../core/jobs/kinds.js';
import { isTerminal } from '../../core/jobs/status.js';
import type { Tx } from '../../platform/db/db.js';
import { readJobOf } from '../../candidates/store/reads.js';
import { readDeployment } from '../../kinds/deployment/store/deployments.js';
import { gateJobId } from '../../kinds/deployment/store/gate.js';
import { readTasksDigest } from '../../kinds/graph/store/tasks.js';
import { readDataset } from '../../datasets/store/datasets.js';
import { readJob } from '../../jobs/store/jobs.js';
import { findSpec, readSpec } from '../../jobs/store/spec.js';
import { ApiError, refuse } from '../../platform/http/server/errors.js';

/**
 * The rollouts of one candidate of a job; `candidateId` null: all of an evaluation. `name`: of the
 * job, or of the deployment.
 */
interface Measured {
  kind: JobKind | 'candidate';
  jobId: string;
  candidateId: string | null;
  name: string | null;
}

export interface Compared extends Measured {
  /** As requested. */
  id: string;
  spec: JobSpec;
  instances: Instances;
}

/**
 * Throws 404 for an unknown id, 409 or 422 for one without rollouts. `field`: the parameter that
 * names it.
 */
export async function readCompared(tx: Tx, field: 'a' | 'b' | 'ids', id: string): Promise<Compared> {
  const measured = (await ofJob(tx, id)) ?? (await ofCandidate(tx, id)) ?? (await ofDeployment(tx, field, id));
  if (!measured) throw refuse.notFound(`evaluation, session, candidate, graph job or deployment ${id}`);
  const { jobId } = measured;
  const spec = await readSpec<JobSpec>(tx, jobId);
  return { id, ...measured, spec, instances: await readInstances(tx, jobId, spec) };
}

async function readInstances(tx: Tx, jobId: string, spec: JobSpec): Promise<Instances> {
  return instancesOf(jobId, spec, spec.kind === 'graph' ? await readTasksDigest(tx, jobId) : null);
}

async function ofJob(tx: Tx, id: string): Promise<Measured | null> {
  const kind = kindOf(id);
  if (kind === null || kind === 'deployment') return null;
  const job = await readJob(tx, id);
  if (!job) return null;
  if (kind === 'evaluation') return { kind, jobId: id, candidateId: null, name: job.name };
  const candidateId = job.projection.bestCandidateId;
  if (candidateId) return { kind, jobId: id, candidateId, name: job.name };
  const { noun } = jobKinds[kind];
  const detail = isTerminal(job.status)
    ? `The ${noun} ${id} ended without an evaluated candidate.`
    : `The ${noun} ${id} has no evaluated candidate yet. Wait for its baseline.`;
  throw new ApiError(409, 'candidate_not_ready', detail);
}

async function ofCandidate(tx: Tx, id: string): Promise<Measured | null> {
  const jobId = id.startsWith('cand_') ? await readJobOf(tx, id) : null;
  if (jobId === null) return null;
  return { kind: 'candidate', jobId, candidateId: id, name: (await readJob(tx, jobId))?.name ?? null };
}

async function ofDeployment(tx: Tx, field: string, id: string): Promise<Measured | null> {
  const deployment = await readDeployment(tx, id);
  if (!deployment) return null;
  const { name } = deployment;
  const gateJob = gateJobId(deployment.id, 0);
  if (await findSpec(tx, gateJob)) return { kind: 'deployment', jobId: gateJob, candidateId: null, name };
  const { source } = deployment.spec;
  if ('jobId' in source && !source.messages && !source.policy) {
    return { kind: 'deployment', jobId: source.jobId, candidateId: source.candidateId, name };
  }
  const message = `has no rollouts: the deployment ${id} serves messages that are no candidate's and no gate has run; create an evaluation of them`;
  throw refuse.invalid([{ pointer: `/${field}`, message }], 'no_rollouts');
}

/** The id of the compared candidate; null: messages that are no candidate. */
export function candidateOf({ candidateId, spec }: Compared): string | null {
  return candidateId ?? (spec.kind === 'evaluation' ? (spec.candidate?.candidateId ?? null) : null);
}

/** Throws if equal seeds of both are not the same instances. */
export async function checkComparable(tx: Tx, a: Compared, b: Compared): Promise<void> {
  const message = await differenceOf(tx, a, b, 'side a');
  if (message !== null) throw refuse.invalid([{ pointer: '/b', message }], 'not_comparable');
}

/** Why equal seeds of both are not the same instances, said of `b`; null: they are. */
export async function differenceOf(tx: Tx, a: Compared, b: Compared, nameOfA: string): Promise<string | null> {
  if (instancesProblem(a.instances, b.instances) === null) return null;
  const datasets = new Map<string, string>();
  for (const { instances } of [a, b]) {
    const dataset = instances.kind === 'rows' ? await readDataset(tx, instances.datasetId) : null;
    if (dataset?.name) datasets.set(dataset.id, dataset.name);
  }
  return instancesProblem(a.instances, b.instances, { a: nameOfA, datasets });
}

/** Whether the search of the candidate selected on a seed. */
export async function readSelected(tx: Tx, side: Compared): Promise<(seed: number) => boolean> {
  const search = await readSearch(tx, side);
  // Live calls select, whatever seed they name.
  if (search?.kind === 'session' && search.rollouts === 'caller') return () => true;
  const selected = new Set(search ? [...search.search.trainSeeds, ...search.search.evaluationSeeds] : []);
  return (seed) => selected.has(seed);
}

/** The search that found the candidate, if it ran on the same instances. */
async function readSearch(tx: Tx, { spec, instances }: Compared): Promise<SearchSpec | null> {
  if (spec.kind !== 'evaluation') return spec;
  const sessionId = spec.candidate?.sessionId ?? null;
  const search = sessionId === null ? null : await findSpec<SearchSpec>(tx, sessionId);
  if (!search) return null;
  return instancesProblem(instances, await readInstances(tx, sessionId!, search)) === null ? search : null;
}
