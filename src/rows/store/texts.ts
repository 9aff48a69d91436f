/** The texts of rows: input, expected value, and what a rollout answered. */
import type { RowsSpec } from '../../core/jobs/spec.js';
import type { Tx } from '../../platform/db/db.js';
import { answerOfContent } from '../../rollouts/store/answers.js';
import { answerText, cutOutput, inputColumn, outputChars, readChars } from '../../rollouts/store/outputs.js';

/** Where inputs and expected values are; null: in the tasks of a graph job, or in a container. */
export type RowsSource = Pick<RowsSpec, 'datasetId' | 'placeholders' | 'expected'> | null;

/** A row with the rollout whose texts are wanted; null: none. */
interface WantedTexts {
  seed: number;
  rolloutId: string | null;
}

/** Cut after `outputChars` characters; null: there is none. */
export interface RunTexts extends Record<string, unknown> {
  rolloutId: string;
  output: string | null;
  outputTruncated: boolean;
  feedback: string | null;
  error: string | null;
  finishReason: string | null;
}

/** A JSON value as text; of an object with a single text the text. */
const valueText = (value: string): string => `case json_typeof(${value})
    when 'object' then coalesce((select case when count(*) = 1 and min(json_typeof(field.value)) = 'string'
                                              then min(field.value #>> '{}') end from json_each(${value}) field),
                                (${value})::text)
    else (${value}) #>> '{}' end`;

const input = `coalesce(case when $6::text is null then d.data::text else d.data->>$6 end, ${valueText('t.input')})`;
const expected = `coalesce(d.data->>$5, ${valueText("t.gold->'value'")})`;

/** Rows $2 with rollouts $3 of job $1. */
const rows = `unnest($2::bigint[], $3::text[]) as wanted(seed, rollout_id)
       left join graph_tasks t on t.job_id = $1 and t.task_index = wanted.seed`;

/** On data set $4. */
const rowsOfDataset = `${rows} left join dataset_rows d on d.dataset_id = $4 and d.row_index = wanted.seed`;

/** The last answer of a rollout; of a graph its output. */
const answers = `left join rollouts r on r.id = wanted.rollout_id and r.job_id = $1
       left join lateral (
         select response #> '{choices,0,message,content}' as content,
                response #>> '{choices,0,finish_reason}' as finish_reason from model_calls
          where t.job_id is null and job_id = $1 and rollout_id = r.id and purpose = 'rollout' and http_status < 300
          order by created_at desc, id desc limit 1) answer on true
       cross join lateral (
         select case when t.job_id is null then ${answerText}
                     else ${valueText("(r.details->'output')::json")} end as output) text`;

const idsOf = (jobId: string, wanted: readonly WantedTexts[]): unknown[] => [
  jobId,
  wanted.map(({ seed }) => seed),
  wanted.map(({ rolloutId }) => rolloutId),
];

const columnsOf = (source: RowsSource): unknown[] => [
  source?.datasetId ?? null,
  source?.expected ?? null,
  inputColumn(source?.placeholders),
];

/** Input and expected value of each row, and the task of a graph job. */
export interface RowTexts extends Record<string, unknown> {
  seed: number;
  taskId: string | null;
  input: string | null;
  expected: string | null;
}

export async function readRowTexts(
  tx: Tx,
  jobId: string,
  source: RowsSource,
  seeds: readonly number[],
): Promise<Map<number, RowTexts>> {
  const found = await tx.query<RowTexts>(
    `select wanted.seed, t.task_id as "taskId", left(${input}, $7) as input, left(${expected}, $7) as expected
       from ${rowsOfDataset}`,
    [
      ...idsOf(
        jobId,
        seeds.map((seed) => ({ seed, rolloutId: null })),
      ),
      ...columnsOf(source),
      outputChars,
    ],
  );
  return new Map(found.map((row) => [row.seed, row]));
}

/** The texts of rollouts, by id. */
export async function readRunTexts(
  tx: Tx,
  jobId: string,
  wanted: readonly WantedTexts[],
): Promise<Map<string, RunTexts>> {
  const found = await tx.query<RunTexts>(
    `select r.id as "rolloutId", left(text.output, ${readChars}) as output, false as "outputTruncated",
            left(r.feedback, $4) as feedback, left(r.error->>'message', $4) as error,
            left(answer.finish_reason, 100) as "finishReason"
       from ${rows} ${answers} where r.id is not null`,
    [...idsOf(jobId, wanted), outputChars],
  );
  return new Map(found.map((row) => [row.rolloutId, { ...row, ...cutOutput(row.output) }]));
}

/** What filters and summaries read of a row. */
export interface FilterTexts extends Record<string, unknown> {
  seed: number;
  expected: string | null;
  answer: string | null;
  feedback: string | null;
}

/** Answers that may be labels: behind thoughts, they stand at the end. */
const endChars = 4_000;

export async function readFilterTexts(
  tx: Tx,
  jobId: string,
  source: RowsSource,
  wanted: readonly WantedTexts[],
): Promise<FilterTexts[]> {
  const found = await tx.query<FilterTexts>(
    `select wanted.seed, left(${expected}, $6) as expected, right(text.output, $7) as answer, left(r.feedback, $6) as feedback
       from ${rowsOfDataset} ${answers}`,
    [...idsOf(jobId, wanted), source?.datasetId ?? null, source?.expected ?? null, outputChars, endChars],
  );
  return found.map((row) => ({ ...row, answer: row.answer === null ? null : answerOfContent(row.answer) }));
}

/** The rows of which a text has a part, in any case. */
export async function readSeedsWithPart(
  tx: Tx,
  jobId: string,
  source: RowsSource,
  wanted: readonly WantedTexts[],
  part: string,
): Promise<Set<number>> {
  const hasPart = [input, expected, 'text.output'].map((text) => `strpos(lower(${text}), lower($7)) > 0`);
  const found = await tx.query<{ seed: number }>(
    `select wanted.seed from ${rowsOfDataset} ${answers} where ${hasPart.join(' or ')}`,
    [...idsOf(jobId, wanted), ...columnsOf(source), part],
  );
  return new Set(found.map(({ seed }) => seed));
}
