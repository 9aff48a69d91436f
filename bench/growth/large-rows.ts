/** A finished session on as many rows as a data set of a usual size has. */
import type pg from 'pg';
import { copyId, copyJob } from '../../test/support/copies.js';

/** Rows, and candidates that ran on each of them. */
export const size = { rows: 10_000, candidates: 8 } as const;

/** Its number among the copies of its template. */
const number = 3;
const labels = 10;
/** About as long as a message of a customer. */
const words = 'I wrote to you last week about the parcel that did not arrive and nobody answered. ';

export interface LargeRows {
  jobId: string;
  /** The baseline first, then the winner. */
  candidateIds: string[];
}

/** `template`: a finished session on a data set, with a candidate beside the baseline. */
export async function largeRows(postgres: pg.Client, template: string): Promise<LargeRows> {
  const jobId = copyId(template, number);
  const own = jobId.slice(4);
  const datasetId = `ds_${own}`;
  await copyJob(postgres, {
    jobId: template,
    from: number,
    to: number + 1,
    without: ['rollouts', 'model_calls', 'events'],
  });
  await postgres.query(
    `insert into datasets (org_id, id, num_rows, columns, bytes)
     select d.org_id, $2, $3, d.columns, 0 from datasets d join jobs j on j.org_id = d.org_id and j.dataset_id = d.id where j.id = $1`,
    [template, datasetId, size.rows],
  );
  await postgres.query(
    `insert into dataset_rows (org_id, dataset_id, row_index, data)
     select 'default', $1, n, json_build_object('question', 'Row ' || n || ': ' || repeat($2, 3) || 'rule ' || n % ${labels},
                                                'answer', 'needs rule-' || n % ${labels} || '.')
       from generate_series(0, ${size.rows} - 1) n`,
    [datasetId, words],
  );
  await postgres.query(
    `update jobs set spec = jsonb_set(jsonb_set(spec, '{rows,datasetId}', to_jsonb($2::text)), '{search,heldoutSeeds}',
                                      (select jsonb_agg(n) from generate_series(100, ${size.rows} - 1) n)),
            projection = jsonb_set(projection, '{bestCandidateId}', to_jsonb($3::text))
      where id = $1`,
    [jobId, datasetId, `cand_${own}_1`],
  );
  await postgres.query(
    `insert into candidates (id, org_id, job_id, lever_version, generation, parent_ids, status, messages, detail, tests, decision,
                             reward, rollouts_counted, rewards_counted, reward_sum)
     select 'cand_${own}_' || n, org_id, job_id, n, 1, array[id], 'evaluated', messages, detail, tests, decision,
            0.5, ${size.rows}, ${size.rows}, ${size.rows / 2}
       from candidates c, generate_series(1, ${size.candidates} - 1) n where c.id = 'cand_${own}_0'
         on conflict (id) do nothing`,
  );
  await fillRollouts(postgres, jobId);
  return { jobId, candidateIds: Array.from({ length: size.candidates }, (_, n) => `cand_${own}_${n}`) };
}

/** Candidate n answers n + 1 of nine rows right. */
async function fillRollouts(postgres: pg.Client, jobId: string): Promise<void> {
  const own = jobId.slice(4);
  await postgres.query(
    `insert into rollouts (id, org_id, job_id, idx, ordinal, source, stage, generation, seed, candidate_id, status, attempt, reward,
                           feedback, details, latency_ms, started_at, completed_at)
     select 'rol_${own}_' || n.at, 'default', $1, n.at, n.at, 'service', 'evaluation', 1, n.seed, 'cand_${own}_' || n.version,
            'succeeded', 1, (n.seed * 7 % 9 <= n.version)::int, 'Expected "needs rule-' || n.seed % ${labels} || '.".', '{}', 20, now(), now()
       from (select version, seed, version * ${size.rows} + seed as at
               from generate_series(0, ${size.candidates} - 1) version, generate_series(0, ${size.rows} - 1) seed) n`,
    [jobId],
  );
  await postgres.query(
    `insert into model_calls (id, org_id, job_id, purpose, rollout_id, candidate_id, request_hash, provider, model, request, response,
                              http_status, prompt_tokens, completion_tokens, cost_usd, latency_ms)
     select 'call_' || substr(r.id, 5), r.org_id, r.job_id, 'rollout', r.id, r.candidate_id, sha256(r.id::bytea), 'fake', 'rules',
            jsonb_build_object('model', 'rules', 'messages', jsonb_build_array(
              jsonb_build_object('role', 'system', 'content', 'Answer well.'),
              jsonb_build_object('role', 'user', 'content', 'Row ' || r.seed || ': ' || repeat($2, 3) || 'rule ' || r.seed % ${labels}))),
            jsonb_build_object('id', 'answer', 'object', 'chat.completion', 'choices', jsonb_build_array(jsonb_build_object('index', 0,
              'finish_reason', 'stop', 'message', jsonb_build_object('role', 'assistant', 'content',
                case when r.reward = 1 then 'needs rule-' || r.seed % ${labels} || '.' else 'No rule.' end)))),
            200, 150, 5, 0.0001, 20
       from rollouts r where r.job_id = $1`,
    [jobId, words],
  );
}
