import type { FastifyRequest } from 'fastify';
import type { GateRequest, SourceRequest } from '../../contracts/deployments/deployment.js';
import type { ContainerSpec, DeploymentSource, GateSpec, Message } from '../../core/jobs/spec.js';
import { rowPlaceholders, servedMessages } from '../../core/prompts/row-template.js';
import { readGraph } from '../../storage/candidates/candidates.js';
import { chosenCandidate, knownPrompt } from '../candidates/choice.js';
import type { HttpDeps } from '../deps.js';
import { refuse } from '../server/errors.js';
import { containerSpec, policySpec, providerErrors } from '../jobs/specs.js';

/** The source: the named candidate, or the job's current best. Throws if it is invalid. */
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
  return deps.db.org(orgId, async (tx) => {
    const requested = { kind, field, jobId, candidateId: source.candidate_id } as const;
    const { job, candidateId, unknown } = await chosenCandidate(tx, requested, ['source']);
    if (kind === 'session') {
      const { messages } = await knownPrompt(tx, jobId, candidateId, unknown);
      if ('rows' in job.spec) requireServable(messages, field);
    } else if (!(await readGraph(tx, jobId, candidateId))) throw unknown();
    return { kind, jobId, candidateId };
  });
}

/** Refuses the prompt of a data set whose rows a deployment would have to fill in. */
function requireServable(messages: readonly Message[], field: string): void {
  const served = servedMessages(messages);
  const [name] = rowPlaceholders(served);
  if (served.length > 0 && name === undefined) return;
  const what = name === undefined ? 'has no text beside placeholders' : `has {{${name}}} inside a text`;
  const message = `names a prompt that ${what}; callers bring their own messages, so give the input a message of its own: {{input}}`;
  throw refuse.invalid([{ pointer: `/source/${field}`, message }], 'prompt_not_servable');
}

/** A gate's spec and its container; throws if the container may not be called. */
export function gateSpec(gate: GateRequest, deps: HttpDeps): { gate: GateSpec; container: ContainerSpec } {
  const reason = deps.checkContainerUrl(gate.container_url);
  if (reason !== null) throw refuse.invalid([{ pointer: '/gate/container_url', message: reason }]);
  return {
    gate: {
      ...{ seeds: gate.seeds, minReward: gate.min_reward ?? null, minImprovement: gate.min_improvement ?? null },
      ...{ maxConcurrent: gate.max_concurrent, rolloutTimeoutS: gate.rollout_timeout },
      ...{ maxFailureRate: gate.max_failure_rate, preflight: gate.preflight },
    },
    container: containerSpec(gate, gate.container_url, gate.env_name ?? null),
  };
}
