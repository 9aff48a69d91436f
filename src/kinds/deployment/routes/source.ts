import type { FastifyRequest } from 'fastify';
import type { SourceRequest } from '../contract/deployment.js';
import type { DeploymentSource, GraphSpec, ReplacedParts } from '../../../core/jobs/spec.js';
import { componentNames } from '../../../core/prompts/components.js';
import type { Message } from '../../../core/prompts/message.js';
import { inputsOf, rowPlaceholders, servedMessages } from '../../../core/prompts/row-template.js';
import type { IsInput } from '../../../core/prompts/template.js';
import type { ModelName } from '../../../core/retirements/lookup.js';
import { readGraph } from '../../../candidates/store/candidates.js';
import { chosenCandidate, knownPrompt } from '../../../candidates/routes/choice.js';
import { readDeployment } from '../store/deployments.js';
import { readSnapshot } from '../store/snapshots.js';
import { whatNameHas } from '../../../models/routes/deployments/unknown-ref.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { refuse } from '../../../platform/http/server/errors.js';
import { policySpec, providerErrors } from '../../../jobs/routes/specs.js';

/** A source with what a gate on rows needs of it; `isInput` null: of no job on a data set. */
export interface ResolvedSource {
  source: DeploymentSource;
  /** null: a graph, or texts of spans inside the calls of a container. */
  prompt: { messages: Message[]; provider: string; isInput: IsInput | null } | null;
  /** The models of its job; empty: the source names its own. */
  models: readonly ModelName[];
}

/**
 * The source: the named candidate, the job's current best, or a deployment. Throws if it is
 * invalid.
 */
export async function resolveSource(
  deps: HttpDeps,
  request: FastifyRequest,
  source: SourceRequest,
): Promise<ResolvedSource> {
  const { messages, policy } = source;
  const errors = policy ? providerErrors(policy, ['source', 'policy'], deps) : [];
  if (errors.length > 0) throw refuse.invalid(errors);
  const parts = { ...(messages && { messages }), ...(policy && { policy: policySpec(policy) }) };
  if (source.deployment !== undefined) return branch(deps, request, source.deployment, parts);
  if (source.session_id !== undefined) return candidate(deps, request, { ...source, jobId: source.session_id }, parts);
  if (source.graph_job_id !== undefined) return graph(deps, request, { ...source, jobId: source.graph_job_id });
  return {
    source: { kind: 'messages', messages: messages!, policy: parts.policy! },
    prompt: { messages: messages!, provider: policy!.provider, isInput: null },
    models: [],
  };
}

type OfJob = Pick<SourceRequest, 'candidate_id'> & { jobId: string };

function graph(deps: HttpDeps, { caller: { orgId } }: FastifyRequest, { jobId, candidate_id: candidateId }: OfJob) {
  return deps.db.org(orgId, async (tx): Promise<ResolvedSource> => {
    const requested = { kind: 'graph', field: 'graph_job_id', jobId, candidateId } as const;
    const chosen = await chosenCandidate(tx, requested, ['source']);
    if (!(await readGraph(tx, jobId, chosen.candidateId))) throw chosen.unknown();
    const { policies } = chosen.job.spec as GraphSpec;
    return { source: { kind: 'graph', jobId, candidateId: chosen.candidateId }, prompt: null, models: policies };
  });
}

function candidate(
  deps: HttpDeps,
  { caller: { orgId } }: FastifyRequest,
  { jobId, candidate_id: wanted }: OfJob,
  parts: ReplacedParts,
) {
  return deps.db.org(orgId, async (tx): Promise<ResolvedSource> => {
    const requested = { kind: 'session', field: 'session_id', jobId, candidateId: wanted } as const;
    const { job, candidateId, unknown } = await chosenCandidate(tx, requested, ['source']);
    const own = await knownPrompt(tx, jobId, candidateId, unknown);
    const messages = parts.messages ?? own.messages;
    const { spec } = job;
    const isInput = spec.kind !== 'graph' && spec.rows ? inputsOf(spec.rows.placeholders) : null;
    if (isInput) requireServable(messages, isInput, parts.messages ? 'messages' : 'session_id');
    const isMarked = job.projection.leversMarked ?? false;
    if (isMarked && parts.messages) requireSpans(own.messages, parts.messages);
    const policy = parts.policy ?? job.spec.policy;
    const prompt = isMarked ? null : { messages, provider: policy.provider, isInput };
    return { source: { kind: 'session', jobId, candidateId, ...parts }, prompt, models: [policy] };
  });
}

/** The content of a deployment, with other parts. */
function branch(deps: HttpDeps, { caller: { orgId } }: FastifyRequest, ref: string, parts: ReplacedParts) {
  return deps.db.org(orgId, async (tx): Promise<ResolvedSource> => {
    const at = (message: string) => refuse.invalid([{ pointer: '/source/deployment', message }]);
    const parent = await readDeployment(tx, ref);
    if (!parent) throw at(`names no deployment. ${await whatNameHas(tx, ref)}`.trim());
    if (parent.snapshotId === null) {
      throw at(`names ${parent.id}, which is ${parent.status} and has no content: name a version that is ready`);
    }
    const { content } = (await readSnapshot(tx, parent.snapshotId))!;
    const source = { kind: 'deployment', deploymentId: parent.id, snapshotId: parent.snapshotId, ...parts } as const;
    if (content.kind === 'graph') {
      const [field] = Object.keys(parts);
      if (field === undefined) return { source, prompt: null, models: content.policies };
      const message = `is not for ${parent.id}, a graph, which has no messages and several policies`;
      throw refuse.invalid([{ pointer: `/source/${field}`, message }]);
    }
    const policy = parts.policy ?? content.policy;
    const models = [policy];
    if (content.levers_marked) {
      if (parts.messages) requireSpans(content.messages, parts.messages);
      return { source, prompt: null, models };
    }
    const messages = parts.messages ?? content.messages;
    return { source, prompt: { messages, provider: policy.provider, isInput: null }, models };
  });
}

/** Refuses texts for marked spans that are not those of the prompt. */
function requireSpans(own: readonly Message[], given: readonly Message[]): void {
  const [names, others] = [componentNames(own), componentNames(given)];
  if (names.length === others.length && names.every((name) => others.includes(name))) return;
  const message = `must have the components ${names.join(', ')}: they are texts of marked spans`;
  throw refuse.invalid([{ pointer: '/source/messages', message }]);
}

/** Refuses the prompt of a data set whose rows a deployment would have to fill in. */
export function requireServable(messages: readonly Message[], isInput: IsInput, field: string): void {
  const served = servedMessages(messages, isInput);
  const [name] = rowPlaceholders(served, isInput);
  if (served.length > 0 && name === undefined) return;
  const what = name === undefined ? 'has no text beside placeholders' : `has {{${name}}} inside a text`;
  const message = `names a prompt that ${what}; callers bring their own messages, so give the input a message of its own: {{input}}`;
  throw refuse.invalid([{ pointer: `/source/${field}`, message }], 'prompt_not_servable');
}
