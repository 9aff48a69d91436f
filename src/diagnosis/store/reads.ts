/** Bounded reads for the diagnosis of a run. */
import type { Symptom } from '../../core/diagnosis/answers.js';
import type { EmptyReason } from '../../core/answers/ending.js';
import type { RowsSpec } from '../../core/jobs/spec.js';
import type { Tx } from '../../platform/db/db.js';
import { inputColumn } from '../../rollouts/store/outputs.js';

/** The first rollouts of a run are looked at, and some are read. */
const looked = 200;
const read = 12;
/** Characters of a text; thoughts may come before an answer. */
const textChars = 2_000;
const answerChars = 20_000;

/** A rollout that earned nothing, as it is stored. */
export interface StoredSample extends Record<string, unknown> {
  row: number;
  rolloutId: string;
  input: string | null;
  /** Of the row or the task; undefined and null: none. */
  expected: unknown;
  /** The content of the last answer: a text, or parts with texts; null: none, or a long one. */
  content: unknown;
  finishReason: string | null;
  empty: EmptyReason | null;
  error: { code: string; message: string } | null;
}

const shows: Record<Symptom, string> = {
  rollouts_failed: `status = 'failed'`,
  answers_empty: 'empty is not null',
  all_wrong: `status = 'succeeded'`,
};

/** Where a run has its inputs and its answers. */
interface SampledRun {
  jobId: string;
  /** null: an evaluation. */
  candidateId: string | null;
  rows: Pick<RowsSpec, 'datasetId' | 'placeholders' | 'expected'> | null;
}

/** The first rollouts of a candidate, or of an evaluation, that show a symptom. */
export async function readSamples(tx: Tx, run: SampledRun, symptom: Symptom): Promise<StoredSample[]> {
  const { jobId, candidateId, rows } = run;
  const own = candidateId === null ? 'job_id = $1 and $2::text is null' : 'job_id = $1 and candidate_id = $2';
  return tx.query<StoredSample>(
    `select sample.*, left(coalesce(case when $4::text is null then d.data::text else d.data->>$4 end, t.input::text), ${textChars}) as input,
            coalesce(case when length(d.data->>$5::text) <= ${answerChars} then d.data->$5::text end,
                     case when length(t.gold::text) <= ${answerChars} then t.gold->'value' end) as expected,
            case when length(answer.content::text) <= ${answerChars} then answer.content end as content, answer."finishReason"
       from (select id as "rolloutId", seed as row, empty, error, ordinal
               from (select * from rollouts
                      where ${own} and ordinal is not null and status in ('succeeded', 'failed')
                      order by ordinal limit ${looked}) first
              where ${shows[symptom]} order by ordinal limit ${read}) sample
       left join lateral (
         select response #> '{choices,0,message,content}' as content, response #>> '{choices,0,finish_reason}' as "finishReason"
           from model_calls
          where job_id = $1 and rollout_id = sample."rolloutId" and purpose in ('rollout', 'caller') and http_status < 300
          order by created_at desc, id desc limit 1) answer on true
       left join dataset_rows d on d.dataset_id = $3 and d.row_index = sample.row
       left join graph_tasks t on t.job_id = $1 and t.task_index = sample.row
      order by sample.ordinal`,
    [jobId, candidateId, rows?.datasetId ?? null, inputColumn(rows?.placeholders), rows?.expected ?? null],
  );
}

/** The labels that are expected of any row, the commonest first; empty: there are none. */
export async function readLabels(tx: Tx, rows: Pick<RowsSpec, 'datasetId' | 'expected'> | null): Promise<string[]> {
  if (!rows || rows.expected === null) return [];
  const found = await tx.query<{ label: string }>(
    `select listed->>'label' as label
       from datasets, json_array_elements(columns) named, json_array_elements(named->'labels') listed
      where id = $1 and named->>'name' = $2`,
    [rows.datasetId, rows.expected],
  );
  return found.map(({ label }) => label);
}

/** The reasons for which proposals became no candidates, with their counts. */
export async function readRefusals(tx: Tx, jobId: string): Promise<{ reason: string; count: number }[]> {
  return tx.query<{ reason: string; count: number }>(
    `select data->>'reason' as reason, count(*)::int as count from events
      where job_id = $1 and type = 'proposal_failed' group by 1 order by 2 desc, 1`,
    [jobId],
  );
}
