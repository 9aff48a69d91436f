import type { EditJson, GraphJson } from '../../../src/kinds/graph/contract/graph.js';
import type { Message } from '../../../src/core/prompts/message.js';
import { addCandidate } from '../../../src/candidates/store/candidates.js';
import { recordCall } from '../../../src/rollouts/store/call-records.js';
import { candidateId, rolloutId } from '../../../src/core/jobs/ids.js';
import { planRollouts } from '../../../src/rollouts/store/rollouts.js';
import { recordDecision, type Decision } from '../../../src/jobs/store/decisions/record.js';
import type { Stage } from '../../../src/core/search/protocol.js';
import type { TestHttp } from './support.js';

/** One rollout with the fields of its row. */
export interface SeededRollout {
  candidate: number;
  seed: number;
  status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  reward?: number;
  /** [prompt, completion] of its one model call; absent: no call. */
  /** null: the call did not tell them; absent: no call. */
  tokens?: [number | null, number | null];
  /** null: unknown price. */
  cost?: number | null;
  resent?: number;
  error?: string;
  /** Whether the error is an infrastructure failure. */
  infrastructure?: boolean;
  feedback?: string;
  stage?: Stage;
  generation?: number;
}

/**
 * Writes candidates by their statuses, versions counting from 0, each with a prompt, by default
 * `version N`.
 */
export async function seedCandidates(
  http: TestHttp,
  jobId: string,
  candidates: {
    status: string;
    reward?: number;
    generation: number;
    parents?: number[];
    text?: string;
    messages?: Message[];
    /** Instead of messages. */
    graph?: GraphJson;
    /** The rollouts shown to its reflection, and the components that it rewrote. */
    ordinals?: number[];
    components?: string[];
    edits?: EditJson[];
    /** Whether it is a merge of its parents. */
    merge?: boolean;
  }[],
): Promise<void> {
  const job = { orgId: 'default', jobId };
  await http.db.org('default', async (tx) => {
    for (const [leverVersion, candidate] of candidates.entries()) {
      const {
        status,
        reward,
        generation,
        parents = [],
        text,
        ordinals,
        components = ['system'],
        edits,
        merge,
      } = candidate;
      const messages = candidate.messages ?? [{ role: 'system', content: text ?? `version ${leverVersion}` }];
      const reflection = ordinals ? { reflection: { ordinals, components } } : {};
      const detail = merge ? { merge: { parents } } : reflection;
      const content = candidate.graph ? { messages: null, graph: candidate.graph } : { messages };
      await addCandidate(tx, job, { leverVersion, generation, parents, ...content, ...(edits && { edits }), detail });
      await tx.query('update candidates set status = $2, reward = $3 where id = $1', [
        candidateId(jobId, leverVersion),
        status,
        reward ?? null,
      ]);
    }
  });
}

/** Writes rollouts in request order, each with its model call. */
export async function seedRollouts(http: TestHttp, jobId: string, rollouts: SeededRollout[]): Promise<void> {
  const job = { orgId: 'default', jobId };
  const searched = !jobId.startsWith('evl_');
  await http.db.org('default', async (tx) => {
    await planRollouts(
      tx,
      job,
      rollouts.map(({ candidate, seed, stage = 'evaluation', generation = 0 }, ordinal) => ({
        ordinal,
        candidate,
        seed,
        stage,
        generation,
      })),
      searched,
    );
    for (const [ordinal, rollout] of rollouts.entries()) {
      const id = rolloutId(jobId, ordinal);
      const [prompt, completion] = rollout.tokens ?? [null, null];
      const cost = rollout.cost ?? null;
      if (rollout.tokens) {
        await recordCall(tx, {
          ...job,
          id: `call_${id}`,
          purpose: 'rollout',
          rolloutId: id,
          correlationId: id,
          candidateId: searched ? candidateId(jobId, rollout.candidate) : null,
          requestHash: Buffer.from(id),
          attempt: 1,
          presence: 1,
          provider: 'local',
          model: 'm',
          request: { messages: [{ role: 'user', content: `seed ${rollout.seed}` }] },
          response: { choices: [{ message: { content: 'yes' } }] },
          stream: false,
          httpStatus: 200,
          promptTokens: prompt,
          completionTokens: completion,
          costUsd: cost,
          costSource: cost === null ? 'unknown' : 'table',
          latencyMs: 5,
        });
      }
      await tx.query(
        `update rollouts set status = $2::text, reward = $3, prompt_tokens = $4, completion_tokens = $5, cost_usd = $6,
                resent = $7, error = $8, feedback = $9, latency_ms = 12.5,
                started_at = case when $2 in ('running', 'succeeded', 'failed') then now() end,
                completed_at = case when $2 in ('succeeded', 'failed') then now() end
          where id = $1`,
        [
          id,
          rollout.status,
          rollout.reward ?? null,
          prompt,
          completion,
          cost,
          rollout.resent ?? 0,
          rollout.error
            ? JSON.stringify({
                code: 'container_error',
                message: rollout.error,
                infrastructure: rollout.infrastructure ?? false,
              })
            : null,
          rollout.feedback ?? null,
        ],
      );
    }
    await tx.query(
      `update job_controls c set rollouts_succeeded = n.succeeded, rollouts_failed = n.failed, reward_sum = n.rewards
         from (select count(*) filter (where status = 'succeeded') as succeeded,
                      count(*) filter (where status = 'failed') as failed,
                      coalesce(sum(reward) filter (where status = 'succeeded'), 0) as rewards
                 from rollouts where job_id = $1) n
        where c.job_id = $1`,
      [jobId],
    );
  });
}

/** Records decisions as a search's activity does. */
export async function record(http: TestHttp, jobId: string, decision: Decision): Promise<void> {
  await http.db.org('default', (tx) => recordDecision(tx, { orgId: 'default', jobId }, decision));
}

/** Sets the last state recorded by the workflow. */
export async function project(http: TestHttp, jobId: string, projection: object): Promise<void> {
  await http.db.org('default', (tx) =>
    tx.query('update jobs set projection = projection || $2::jsonb where id = $1', [jobId, JSON.stringify(projection)]),
  );
}
