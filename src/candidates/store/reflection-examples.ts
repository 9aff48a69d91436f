import { demoMessages, type Demo } from '../../core/prompts/demos.js';
import type { ReflectionExample } from '../../core/proposals/reflection.js';
import type { Tx } from '../../platform/db/db.js';
import { answerOfContent } from '../../rollouts/store/answers.js';
import { textOfContent } from '../../core/answers/completion.js';

interface Row extends Record<string, unknown> {
  ordinal: number;
  seed: number | null;
  reward: number | null;
  feedback: string | null;
  details: unknown;
  error: { message: string } | null;
  request: { messages?: { role: string; content: unknown }[] } | null;
  /** Demonstrations of the rollout's candidate. */
  demos: Demo[];
  response: { choices?: { message?: { content?: unknown } }[] } | null;
}

/**
 * Parent's rollouts as shown to reflection, in the given order: the user side of the first model
 * call without demonstrations, the last answer, reward and feedback.
 */
export async function readExamples(
  tx: Tx,
  jobId: string,
  ordinals: readonly number[],
): Promise<(ReflectionExample & { ordinal: number })[]> {
  const rows = await tx.query<Row>(
    `select r.ordinal, r.seed, r.reward, r.feedback, r.details, r.error, coalesce(k.demos, '[]') as demos,
            (select request from model_calls c where c.job_id = $1 and c.rollout_id = r.id and c.http_status < 300
              order by c.created_at, c.id limit 1) as request,
            (select response from model_calls c where c.job_id = $1 and c.rollout_id = r.id and c.http_status < 300
              order by c.created_at desc, c.id desc limit 1) as response
       from rollouts r left join candidates k on k.id = r.candidate_id
      where r.job_id = $1 and r.ordinal = any($2)`,
    [jobId, ordinals],
    'read_examples',
  );
  return inOrder(rows, ordinals).map((row) => ({
    ordinal: row.ordinal,
    input: inputOf(row),
    output: outputOf(row.response?.choices?.[0]?.message?.content),
    reward: row.reward ?? 0,
    feedback: feedbackOf(row),
    expected: expectedOf(row.details),
  }));
}

/** Sorts rows into the order of `ordinals`. */
export function inOrder<Row extends { ordinal: number }>(rows: readonly Row[], ordinals: readonly number[]): Row[] {
  const indexes = new Map(ordinals.map((ordinal, index) => [ordinal, index]));
  return [...rows].sort((left, right) => indexes.get(left.ordinal)! - indexes.get(right.ordinal)!);
}

/** Feedback shown to reflection: the error, else the container's feedback, else the details. */
export function feedbackOf(row: {
  feedback: string | null;
  details: unknown;
  error: { message: string } | null;
}): string {
  return row.error ? `The rollout failed: ${row.error.message}` : (row.feedback ?? textOrJson(row.details));
}

/** The right answer, as rows and containers give it. */
function expectedOf(details: unknown): string | null {
  const { expected, expected_output: output } = (details ?? {}) as Record<string, unknown>;
  const known = typeof expected === 'string' && expected !== '' ? expected : output;
  return typeof known === 'string' ? known : null;
}

function inputOf(row: Row): string {
  const conversation =
    row.request?.messages?.filter((message) => message.role !== 'system' && message.role !== 'developer') ?? [];
  const messages = row.demos.reduce((rest, demo) => {
    const isNext = demoMessages(demo).every(
      ({ role, content }, index) => rest[index]?.role === role && rest[index].content === content,
    );
    return isNext ? rest.slice(2) : rest;
  }, conversation);
  return messages.length > 0
    ? messages.map((message) => textOrJson(message.content)).join('\n\n')
    : row.seed === null
      ? ''
      : `seed ${row.seed}`;
}

/** What is no text, such as a refusal in parts, as JSON. */
function outputOf(content: unknown): string {
  return textOfContent(content) === '' ? textOrJson(content) : answerOfContent(content);
}

function textOrJson(content: unknown): string {
  if (content === null || content === undefined) return '';
  return typeof content === 'string' ? content : JSON.stringify(content);
}
