import type { FastifyRequest } from 'fastify';
import type { GateRequest, SourceRequest } from '../contracts/deployment.js';
import type { ContainerSpec, DeploymentSource, GateSpec } from '../contracts/spec.js';
import { readGraph } from '../storage/candidates.js';
import { readJob } from '../storage/jobs.js';
import { readPrompt } from '../storage/reads.js';
import type { HttpDeps } from './deps.js';
import { ApiError, pointerOf, refuse } from './errors.js';
import { containerSpec, policySpec, providerErrors } from './specs.js';

/** What a deployment is made of: the candidate that was named, or the job's best as it is now. Throws what is wrong with it. */
export async function resolveSource(
  deps: HttpDeps,
  { caller: { orgId } }: FastifyRequest,
  source: SourceRequest,
): Promise<DeploymentSource> {
  if (source.messages) {
    const policy = source.policy!;
    const errors = providerErrors(policy, ['source', 'policy'], deps);
    if (errors.length > 0) throw refuse.invalid(errors);
    return { kind: 'messages', messages: source.messages, policy: policySpec(policy) };
  }
  const field = source.session_id === undefined ? 'graph_job_id' : 'session_id';
  const kind = field === 'session_id' ? 'session' : 'graph';
  const jobId = source[field]!;
  const unknown = (name: string, message: string) =>
    refuse.invalid([{ pointer: pointerOf(['source', name]), message }], 'candidate_not_found');
  return deps.db.org(orgId, async (tx) => {
    const job = await readJob(tx, jobId);
    if (job?.kind !== kind) throw unknown(field, `is no ${nouns[kind]} that this key may see`);
    const candidateId = source.candidate_id ?? job.projection.bestCandidateId;
    if (!candidateId)
      throw notReady(`The ${nouns[kind]} ${jobId} has no evaluated candidate yet; wait for its baseline.`);
    const text =
      kind === 'graph'
        ? await readGraph(tx, jobId, candidateId)
        : await readPrompt(tx, jobId, candidateId).then((prompt) => prompt && { known: prompt.messages });
    if (!text) throw unknown('candidate_id', `is no candidate of that ${nouns[kind]}`);
    if ('known' in text && !text.known)
      throw notReady(`The prompt of ${candidateId} is not known yet; wait for the session's baseline.`);
    return { kind, jobId, candidateId };
  });
}

const nouns = { session: 'session', graph: 'graph job' };

function notReady(detail: string): ApiError {
  return new ApiError(409, 'candidate_not_ready', detail);
}

/** A gate as it is stored, and its container; throws where that may not be called. */
export function gateSpec(gate: GateRequest, deps: HttpDeps): { gate: GateSpec; container: ContainerSpec } {
  const reason = deps.checkContainerUrl(gate.container_url);
  if (reason !== null) throw refuse.invalid([{ pointer: '/gate/container_url', message: reason }]);
  return {
    gate: {
      ...{ seeds: gate.seeds, minReward: gate.min_reward ?? null, minImprovement: gate.min_improvement ?? null },
      ...{ maxConcurrent: gate.max_concurrent, rolloutTimeoutS: gate.rollout_timeout },
      maxFailureRate: gate.max_failure_rate,
    },
    container: containerSpec(gate, gate.container_url, gate.env_name ?? null),
  };
}
