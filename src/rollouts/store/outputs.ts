import type { RowsSpec } from '../../core/jobs/spec.js';
import type { Tx } from '../../platform/db/db.js';
import { answerOfContent } from './answers.js';
import { seedResultColumns, type SeedResult } from './totals.js';

/** Most characters of a text; thoughts, which are left out, may come before an output. */
export const outputChars = 2_000;
export const readChars = 100_000;

/** What a rollout read and answered, cut after `outputChars` characters. */
export interface SeedOutput extends SeedResult {
  /** The last answer of the policy; null: no call was answered, or its traces have expired. */
  output: string | null;
  outputTruncated: boolean;
  feedback: string | null;
  /** Of the output. */
  finishReason: string | null;
  errorCode: string | null;
  /** Of a row; null: a job without rows, or a row without the value. */
  input: string | null;
  expected: string | null;
}

/** The text of an answer, which is one, or parts with texts. */
export const answerText = `case jsonb_typeof(answer.content)
    when 'string' then answer.content #>> '{}'
    when 'array' then (select string_agg(part->>'text', '' order by n)
                         from jsonb_array_elements(answer.content) with ordinality as parts(part, n)
                        where jsonb_typeof(part->'text') = 'string')
    end`;

/** Finished rollouts of an evaluation with their texts, by ordinal; `seeds` null: all. */
export async function readSeedOutputs(
  tx: Tx,
  jobId: string,
  rows: Pick<RowsSpec, 'datasetId' | 'placeholders' | 'expected'> | null,
  { limit, offset, seeds = null }: { limit: number; offset: number; seeds?: readonly number[] | null },
): Promise<SeedOutput[]> {
  const page = await tx.query<SeedOutput>(
    `select page.*, left(text.output, ${readChars}) as output, false as "outputTruncated", answer."finishReason",
            left(case when $6::text is null then d.data::text else d.data->>$6 end, $4) as input,
            left(d.data->>$7, $4) as expected
       from (select ${seedResultColumns}, left(feedback, $4) as feedback, error->>'code' as "errorCode", ordinal
               from rollouts where job_id = $1 and source = 'service' and status in ('succeeded', 'failed')
                and ($8::bigint[] is null or seed = any($8))
              order by ordinal limit $2 offset $3) page
       left join lateral (
         select response #> '{choices,0,message,content}' as content, response #>> '{choices,0,finish_reason}' as "finishReason"
           from model_calls
          where job_id = $1 and rollout_id = page."rolloutId" and purpose = 'rollout' and http_status < 300
          order by created_at desc, id desc limit 1) answer on true
       cross join lateral (select ${answerText} as output) text
       left join dataset_rows d on d.dataset_id = $5 and d.row_index = page.seed
      order by page.ordinal`,
    [
      jobId,
      limit,
      offset,
      outputChars,
      rows?.datasetId ?? null,
      inputColumn(rows?.placeholders),
      rows?.expected ?? null,
      seeds,
    ],
  );
  return page.map((row) => ({ ...row, ...cutOutput(row.output) }));
}

/** An answer without thoughts, cut. */
export function cutOutput(output: string | null): Pick<SeedOutput, 'output' | 'outputTruncated'> {
  if (output === null) return { output, outputTruncated: false };
  const characters = [...answerOfContent(output)];
  return { output: characters.slice(0, outputChars).join(''), outputTruncated: characters.length > outputChars };
}

/** The column that the prompt shows as input; null: several, so the whole row. */
export function inputColumn(placeholders: Readonly<Record<string, string>> = {}): string | null {
  const columns = Object.values(placeholders);
  return placeholders['input'] ?? (columns.length === 1 ? columns[0]! : null);
}
