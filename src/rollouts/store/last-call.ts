import type { Tx } from '../../platform/db/db.js';

/** The last model call of a rollout; `code` and `message` of its error, if it failed. */
export interface LastCall extends Record<string, unknown> {
  provider: string;
  model: string;
  status: number;
  code: string | null;
  message: string | null;
  /** What failed before the first byte (`clients/net/unsent`); null: another failure. */
  unsent: string | null;
  /** The error's other codes: its type and status. */
  codes: string[];
}

/** The rollout's last recorded model call; null: it made none. */
export async function readLastCall(tx: Tx, jobId: string, rolloutId: string): Promise<LastCall | null> {
  const [row] = await tx.query<LastCall>(
    `select provider, model, http_status as status, response->'error'->>'code' as code,
            response->'error'->>'message' as message, response->'error'->>'unsent' as unsent,
            array_remove(array[response->'error'->>'type', response->'error'->>'status'], null) as codes
       from model_calls where job_id = $1 and rollout_id = $2 and purpose = 'rollout'
      order by created_at desc, id desc limit 1`,
    [jobId, rolloutId],
    'read_last_call',
  );
  return row ?? null;
}
