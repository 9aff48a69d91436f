import { displayText, type Json } from '../../../core/graphs/values.js';
import type { FailedRun } from '../../../core/graphs/edits/proposal.js';
import type { Tx } from '../../../platform/db/db.js';
import { feedbackOf, inOrder } from '../../../candidates/store/reflection-examples.js';

interface Row extends Record<string, unknown> {
  ordinal: number;
  reward: number | null;
  feedback: string | null;
  details: { output?: Json; steps?: FailedRun['steps'] } | null;
  error: { message: string } | null;
  input: Json;
  calls: number;
  tokens: number | null;
}

/** A rollout of a graph as shown to a proposer. */
export type GraphExample = FailedRun & { ordinal: number };

/** Rollouts of a graph as shown to a proposer, in the given order. */
export async function readGraphExamples(tx: Tx, jobId: string, ordinals: readonly number[]): Promise<GraphExample[]> {
  const rows = await tx.query<Row>(
    `select r.ordinal, r.reward, r.feedback, r.details, r.error, t.input, taken.calls, taken.tokens
       from rollouts r
       join graph_tasks t on t.job_id = r.job_id and t.task_index = r.seed
       cross join lateral (
         select count(*) as calls,
                case when count(*) = count(prompt_tokens + completion_tokens)
                     then coalesce(sum(prompt_tokens + completion_tokens), 0)::bigint end as tokens
           from model_calls c where c.rollout_id = r.id and c.purpose = 'rollout'
       ) taken
      where r.job_id = $1 and r.ordinal = any($2)`,
    [jobId, ordinals],
    'read_graph_examples',
  );
  return inOrder(rows, ordinals).map((row) => {
    const { output = '', steps = [] } = row.details ?? {};
    return {
      ordinal: row.ordinal,
      input: displayText(row.input),
      output: displayText(output),
      steps,
      reward: row.reward ?? 0,
      calls: row.calls,
      tokens: row.tokens,
      feedback: feedbackOf({ ...row, details: null }),
    };
  });
}
