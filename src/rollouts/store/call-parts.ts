import { LRUCache } from 'lru-cache';
import type { AnswerCache } from '../../core/jobs/answer-cache.js';
import type { Demo } from '../../core/prompts/demos.js';
import type { BudgetSpec, EvaluationSpec, SessionSpec } from '../../core/jobs/spec.js';
import type { PolicySpec } from '../../core/jobs/policy.js';
import type { Message } from '../../core/prompts/message.js';
import type { JobTrace } from '../../core/jobs/trace.js';
import type { Tx } from '../../platform/db/db.js';
import { jsonFields, jsonRecord } from '../../platform/db/json-fields.js';

/** The part of a job's spec that its calls need. */
export interface CallSpec {
  policy: PolicySpec;
  answerCache: AnswerCache | null;
  /** Whether the job has a cost budget. */
  costBounded: boolean;
  /** The seconds for a reward of live traffic; null: no live traffic. */
  live: { rewardSeconds: number } | null;
  /** The candidate of an evaluation. */
  fixed: EvaluationSpec['candidate'] | null;
  initialPrompt: Message[] | null;
  /** null: the job is not traced. */
  trace: JobTrace | null;
}

/** A candidate's prompt; it never changes once it is known. */
export interface CallPrompt {
  messages: Message[];
  demos: Demo[];
}

/** Cache of the parts of a call that never change. */
export interface CallParts {
  /** The spec of a job's run; null: the job is deleted. */
  spec(tx: Tx, jobId: string, run: number): Promise<CallSpec | null>;
  /** The prompt of a candidate that has one; null: it is deleted. */
  prompt(tx: Tx, candidateId: string): Promise<CallPrompt | null>;
}

const kept = 500;

export function createCallParts(): CallParts {
  const specs = new LRUCache<string, CallSpec>({ max: kept });
  const prompts = new LRUCache<string, CallPrompt>({ max: kept });
  return {
    async spec(tx, jobId, run) {
      const known = specs.get(`${jobId} ${run}`);
      if (known) return known;
      // The session may have been extended since.
      const found = await readSpec(tx, jobId);
      if (!found) return null;
      specs.set(`${jobId} ${found.run}`, found.spec);
      return found.spec;
    },
    async prompt(tx, id) {
      const found = prompts.get(id) ?? (await readPrompt(tx, id));
      if (found) prompts.set(id, found);
      return found;
    },
  };
}

const record = jsonRecord<SessionSpec | EvaluationSpec>()('j.spec', 's', {
  policy: 'jsonb',
  budget: 'jsonb',
  candidate: 'jsonb',
  initialPrompt: 'jsonb',
  rollouts: 'text',
  rolloutTimeoutS: 'float8',
  answerCache: 'text',
});
const s = record.columns;

async function readSpec(tx: Tx, jobId: string): Promise<{ run: number; spec: CallSpec } | null> {
  const [row] = await tx.query<{
    run: number;
    policy: PolicySpec;
    answer_cache: AnswerCache | null;
    cost_bounded: boolean;
    rollouts: 'caller' | null;
    reward_seconds: number;
    fixed: EvaluationSpec['candidate'] | null;
    initial_prompt: Message[] | null;
    trace: JobTrace | null;
  }>(
    `select j.run, ${s.policy} as policy, ${s.answerCache} as answer_cache, ${s.rollouts} as rollouts, ${s.rolloutTimeoutS} as reward_seconds,
            ${jsonFields<BudgetSpec>(s.budget).text('maxCostUsd')} is not null as cost_bounded,
            ${s.candidate} as fixed, ${s.initialPrompt} as initial_prompt,
            (select json_build_object('traceId', trace_id, 'parentId', parent_id, 'sampled', sampled)
               from job_traces where job_id = j.id) as trace
       from jobs j cross join lateral ${record.from} where j.id = $1`,
    [jobId],
  );
  if (!row) return null;
  const {
    run,
    policy,
    answer_cache: answerCache,
    cost_bounded: costBounded,
    fixed,
    initial_prompt: initialPrompt,
    trace,
  } = row;
  const live = row.rollouts === 'caller' ? { rewardSeconds: row.reward_seconds } : null;
  return { run, spec: { policy, answerCache, costBounded, live, fixed, initialPrompt, trace } };
}

async function readPrompt(tx: Tx, candidateId: string): Promise<CallPrompt | null> {
  const [row] = await tx.query<{ messages: Message[]; demos: Demo[] }>(
    `select messages, coalesce(demos, '[]') as demos from candidates where id = $1`,
    [candidateId],
  );
  return row ?? null;
}
