/** What lists of runs sort by, kept at the end of a job. */
import { candidateTexts, type StoredPrompt } from '../../../candidates/store/candidates.js';
import type { EvaluationSpec } from '../../../core/jobs/spec.js';
import { estimatedTokens } from '../../../core/prompts/length.js';
import type { Tx } from '../../../platform/db/db.js';
import { totalCost } from '../usage.js';

type Evaluated = Pick<NonNullable<EvaluationSpec['candidate']>, 'messages' | 'demos'>;

/** Keeps cost, rollouts and the length of the best prompt of a job that has ended. */
export async function keepFinal(tx: Tx, jobId: string): Promise<void> {
  const tokens = await readBestTokens(tx, jobId);
  await tx.query(
    `update jobs set final_cost_usd = (select ${totalCost} from job_usage where job_id = $1),
            final_rollouts = (select rollouts_succeeded + rollouts_failed from job_controls where job_id = $1),
            prompt_tokens = $2
      where id = $1`,
    [jobId, tokens],
    'keep_final',
  );
}

/** Null: the prompt is not known, or the job has none. */
async function readBestTokens(tx: Tx, jobId: string): Promise<number | null> {
  const [row] = await tx.query<StoredPrompt & { evaluated: Evaluated | null }>(
    `select c.messages, c.demos, c.graph, j.spec->'candidate' as evaluated
       from jobs j left join candidates c on c.id = j.projection->>'bestCandidateId' where j.id = $1`,
    [jobId],
    'read_best_prompt',
  );
  const { evaluated, ...best } = row!;
  const prompt = evaluated?.messages ? { demos: [], graph: null, ...evaluated } : best;
  if (!prompt.messages && !prompt.graph) return null;
  const shown = (prompt.demos ?? []).flatMap(({ input, output }) => [input, output]);
  return estimatedTokens(...Object.values(candidateTexts(prompt)), ...shown);
}
