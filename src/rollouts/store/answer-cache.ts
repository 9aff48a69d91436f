/** The answer cache: recorded answers of the organization, in place of model calls. */
import type { CacheScope } from '../../core/jobs/answer-cache.js';
import type { Tx } from '../../platform/db/db.js';
import { recordCall, type CallRecord } from './call-records.js';

/** A call before its answer. */
export type AskedCall = Omit<
  CallRecord,
  'response' | 'httpStatus' | 'promptTokens' | 'completionTokens' | 'costUsd' | 'costSource' | 'latencyMs' | 'cached'
>;

interface Original {
  id: string;
  model: string;
  response: Record<string, unknown>;
  promptTokens: number | null;
  completionTokens: number | null;
  costUsd: number | null;
  created: number;
}

/**
 * Records the oldest answer to an identical request as the answer to this call, at cost 0; null:
 * call the model. Needs a transaction of its own. Repeatable under the id of the call.
 */
export async function takeCached(tx: Tx, scope: CacheScope, call: AskedCall): Promise<Record<string, unknown> | null> {
  const within = scope === 'job' ? call.jobId : call.rolloutId;
  // Identical calls take turns, so that no answer is used twice in the scope.
  const turn = `${within} ${call.requestHash.toString('hex')}`;
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [turn], 'cache_turn');
  const column = scope === 'job' ? 'job_id' : 'rollout_id';
  const [found] = await tx.query<Original & Record<string, unknown>>(
    `select c.id, c.model, c.response, c.prompt_tokens as "promptTokens", c.completion_tokens as "completionTokens",
            c.cost_usd as "costUsd", floor(extract(epoch from c.created_at))::float8 as created
       from model_calls c
      where c.org_id = $1 and c.request_hash = $2 and c.http_status < 300 and c.cached_from is null
        and jsonb_typeof(c.response #> '{choices,0,message}') = 'object' and c.${column} is distinct from $3
        and not exists (select from model_calls u
                         where u.cached_from = c.id and u.job_id = $4 and u.${column} = $3 and u.id <> $5)
      order by c.created_at, c.id limit 1`,
    [call.orgId, call.requestHash, within, call.jobId, call.id],
    `find_cached_${scope}`,
  );
  if (!found) return null;
  const { id, promptTokens, completionTokens, costUsd } = found;
  const response = wholeCompletion(found);
  const cached = { from: id, costUsd };
  const spent = { promptTokens, completionTokens, costUsd: 0, costSource: 'table', latencyMs: 0 };
  await recordCall(tx, { ...call, ...spent, response, httpStatus: 200, cached });
  return response;
}

/** Adds what a completion recorded for the service itself lacks. */
function wholeCompletion({ id, model, response, promptTokens, completionTokens, created }: Original) {
  const usage = promptTokens !== null &&
    completionTokens !== null && {
      usage: {
        prompt_tokens: promptTokens,
        completion_tokens: completionTokens,
        total_tokens: promptTokens + completionTokens,
      },
    };
  return { id, object: 'chat.completion', created, model, ...usage, ...response };
}
