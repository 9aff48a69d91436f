import type { FastifyRequest } from 'fastify';
import type { SourceRequest } from '../contract/deployment.js';
import type { DeploymentSource, GraphSpec } from '../../../core/jobs/spec.js';
import type { Message } from '../../../core/prompts/message.js';
import { inputsOf, rowPlaceholders, servedMessages } from '../../../core/prompts/row-template.js';
import type { IsInput } from '../../../core/prompts/template.js';
import type { ModelName } from '../../../core/retirements/lookup.js';
import { readGraph } from '../../../candidates/store/candidates.js';
import { chosenCandidate, knownPrompt } from '../../../candidates/routes/choice.js';
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

/** The source: the named candidate, or the job's current best. Throws if it is invalid. */
export async function resolveSource(
  deps: HttpDeps,
  { caller: { orgId } }: FastifyRequest,
  source: SourceRequest,
): Promise<ResolvedSource> {
  if (source.messages) {
    const policy = source.policy!;
    const errors = providerErrors(policy, ['source', 'policy'], deps);
    if (errors.length > 0) throw refuse.invalid(errors);
    const { messages } = source;
    return {
      source: { kind: 'messages', messages, policy: policySpec(policy) },
      prompt: { messages, provider: policy.provider, isInput: null },
      models: [],
    };
  }
  const field = source.session_id === undefined ? 'graph_job_id' : 'session_id';
  const kind = field === 'session_id' ? 'session' : 'graph';
  const jobId = source[field]!;
  return deps.db.org(orgId, async (tx) => {
    const requested = { kind, field, jobId, candidateId: source.candidate_id } as const;
    const { job, candidateId, unknown } = await chosenCandidate(tx, requested, ['source']);
    if (kind === 'graph') {
      if (!(await readGraph(tx, jobId, candidateId))) throw unknown();
      const { policies } = job.spec as GraphSpec;
      return { source: { kind, jobId, candidateId }, prompt: null, models: policies };
    }
    const { messages } = await knownPrompt(tx, jobId, candidateId, unknown);
    const isInput = 'rows' in job.spec && job.spec.rows ? inputsOf(job.spec.rows.placeholders) : null;
    if (isInput) requireServable(messages, isInput, field);
    const { policy } = job.spec;
    const { provider } = policy;
    const prompt = job.projection.leversMarked ? null : { messages, provider, isInput };
    return { source: { kind, jobId, candidateId }, prompt, models: [policy] };
  });
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
