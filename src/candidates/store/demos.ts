/** Demonstrations from traces: rollouts that can be shown as a question and its answer. */
import { componentNames } from '../../core/prompts/components.js';
import { orderByCoverage, sharedAnswers } from '../../core/prompts/demo-coverage.js';
import { roomForDemos, type Demo } from '../../core/prompts/demos.js';
import { estimatedTokens } from '../../core/prompts/length.js';
import type { Message } from '../../core/prompts/message.js';
import { candidateId } from '../../core/jobs/ids.js';
import type { DemoSlot, UsableSlot } from '../../core/search/protocol.js';
import type { Tx } from '../../platform/db/db.js';
import { answerOfContent } from '../../rollouts/store/answers.js';

/** A chosen rollout is no longer usable: the database was restored to an earlier state. */
export class NothingToShow extends Error {}

/** Longest question and answer, in characters; thoughts, which are left out, may come before it. */
const maxInput = 8_000;
const maxOutput = 4_000;
const maxRead = 100_000;

/** SQL: the text of a message's content; null unless all its parts are text. */
const contentTextSql = (content: string) => `case jsonb_typeof(${content})
  when 'string' then ${content} #>> '{}'
  when 'array' then (select case when bool_and(coalesce(part->>'type' = 'text' and jsonb_typeof(part->'text') = 'string', false))
                                 then string_agg(part->>'text', E'\\n' order by n) end
                       from jsonb_array_elements(${content}) with ordinality as p(part, n)) end`;

/**
 * The first answered call of each rollout in $2, by component when $3 (marked components) is set. A
 * question that contains the component's own text is dropped: it shows an older instruction.
 */
const examples = `with asked as (
    select r.id, r.ordinal, r.seed, r.details, a.position
      from unnest($2::int[]) with ordinality as a(ordinal, position)
      join rollouts r on r.job_id = $1 and r.ordinal = a.ordinal
  ), calls as (
    select distinct on (a.position, first.component) a.*, first.component, c.candidate_id, c.request, c.response
      from asked a
      join model_calls c on c.job_id = $1 and c.rollout_id = a.id and c.http_status < 300
     cross join lateral (
       select (select l->>'name' from jsonb_array_elements(c.levers) as l where l->>'name' = any($3)
                order by array_position($3, l->>'name') limit 1) as component
     ) first
     where $3::text[] is null or first.component is not null
     order by a.position, first.component, c.created_at, c.id
  ), texts as (
    select calls.*, conversation.roles, conversation.contents, own.demo_roles, own.demo_contents, instruction.text as instruction,
           response->'choices'->0->'message' as answer, coalesce(nullif(details->>'expected', ''), details->>'expected_output') as label
      from calls
      left join candidates k on k.id = calls.candidate_id and k.job_id = $1
     cross join lateral (
       select array_agg(m->>'role' order by n) as roles, array_agg(${contentTextSql(`m->'content'`)} order by n) as contents
         from jsonb_array_elements(case jsonb_typeof(request->'messages') when 'array' then request->'messages' else '[]' end)
                with ordinality as e(m, n)
        where coalesce(m->>'role', '') not in ('system', 'developer')
     ) conversation
     cross join lateral (
       select coalesce(array_agg(pair.role order by n, pair.role desc), '{}') as demo_roles,
              coalesce(array_agg(pair.content order by n, pair.role desc), '{}') as demo_contents
         from jsonb_array_elements(coalesce(k.demos, '[]')) with ordinality as e(d, n)
        cross join lateral (values ('user', d->>'input'), ('assistant', d->>'output')) as pair(role, content)
        where coalesce(d->>'component' = component, d->>'component' is null)
          and (seed is null or (d->>'seed')::bigint is distinct from seed)
     ) own
      left join lateral (
        select m->>'content' as text from jsonb_array_elements(k.messages) as m where coalesce(m->>'name', m->>'role') = component limit 1
      ) instruction on true
  ), stripped as (
    select *, case when roles = demo_roles || 'user'::text and contents[:cardinality(contents) - 1] = demo_contents
                   then contents[cardinality(contents)] end as question,
           case when coalesce(answer->'tool_calls', '[]') in ('[]', 'null') and coalesce(answer->'function_call', 'null') = 'null'
                then ${contentTextSql(`answer->'content'`)} end as answer_text
      from texts
  )
  select component, ordinal, seed, position, question,
         case when question is not null and answer_text ~ '\\S' and char_length(answer_text) <= ${maxRead} then answer_text end as output,
         case when question is not null and label ~ '\\S' and char_length(label) <= ${maxOutput} then label end as label
    from (select component, ordinal, seed, position, answer_text, label,
                 case when question ~ '\\S' and char_length(question) <= ${maxInput}
                           and not coalesce(instruction <> '' and position(instruction in question) > 0, false)
                      then question end as question
            from stripped) bounded`;

/**
 * Usable rollouts among `ordinals`, one slot per marked component, else one for the prompt; those
 * first that cover most of the questions of the rollouts `open`. Expected answers need a single
 * slot: with several calls their target is ambiguous. `accepts`: questions and answers.
 */
export async function usableDemos(
  tx: Tx,
  jobId: string,
  prompt: {
    components: readonly string[];
    marked: boolean;
    ordinals: readonly number[];
    open: readonly number[];
    /** The limit of all tokens of demonstrations; absent: none but that of `roomForDemos`. */
    demoTokens?: number;
  },
  accepts: (text: string) => boolean = () => true,
): Promise<UsableSlot[]> {
  const { components, marked, ordinals, open, demoTokens } = prompt;
  type Row = {
    component: string | null;
    ordinal: number;
    question: string | null;
    output: string | null;
    label: string | null;
  };
  const read = await tx.query<Row>(
    `select component, ordinal, question, output, label from (${examples}) e order by position`,
    [jobId, [...new Set([...ordinals, ...open])], marked ? components : null],
  );
  const rows = read.map(withoutThoughts);
  const wanted = new Set(ordinals);
  const slots = (marked ? components.filter((name) => rows.some((row) => row.component === name)) : [null]).map(
    (component) => {
      const its = rows.filter((row) => row.component === component);
      const questions = its.filter(({ ordinal }) => open.includes(ordinal)).flatMap(({ question }) => question ?? []);
      const answered = (answerOf: (row: Row) => string | null) =>
        its.flatMap((row) => {
          const output = answerOf(row);
          const isUsable = wanted.has(row.ordinal) && row.question !== null && output !== null;
          return isUsable && accepts(row.question!) && accepts(output)
            ? [{ ordinal: row.ordinal, input: row.question!, output }]
            : [];
        });
      const ordered = (usable: ReturnType<typeof answered>) =>
        orderByCoverage(usable, questions).map((index) => usable[index]!);
      const labeled = answered(({ label }) => label);
      const inOrder = ordered(labeled);
      const same = sharedAnswers(labeled.map(({ output }) => output));
      return {
        component,
        bootstrapped: ordered(answered(({ output }) => output)).map(({ ordinal }) => ordinal),
        labeled: inOrder.map(({ ordinal }) => ordinal),
        sameAnswer: same.map((indexes) => indexes.map((index) => labeled[index]!.ordinal)),
        room: roomForDemos(
          inOrder.map(({ input, output }) => estimatedTokens(input, output)),
          demoTokens,
        ),
      };
    },
  );
  return slots.length === 1 ? slots : slots.map((slot) => ({ ...slot, labeled: [], sameAnswer: [], room: 0 }));
}

/**
 * The demonstrations of chosen rollouts, slot by slot, bootstrapped before labeled. Throws
 * NothingToShow if a rollout is not usable.
 */
export async function buildDemos(tx: Tx, jobId: string, wanted: readonly DemoSlot[]): Promise<Demo[]> {
  const ordinals = [...new Set(wanted.flatMap(({ bootstrapped, labeled }) => [...bootstrapped, ...labeled]))];
  if (ordinals.length === 0) return [];
  const marked = wanted.some(({ component }) => component !== null);
  type Row = Omit<Demo, 'input' | 'output'> & { question: string | null; output: string | null; label: string | null };
  const read = await tx.query<Row>(examples, [jobId, ordinals, marked ? await componentsOf(tx, jobId) : null]);
  const rows = read.map(withoutThoughts);
  const take = (slot: string | null, ordinal: number, answer: 'output' | 'label'): Demo => {
    const row = rows.find((row) => row.ordinal === ordinal && row.component === slot);
    if (!row?.question || !row[answer])
      throw new NothingToShow(`rollout ${ordinal} of ${jobId} cannot be used as a demonstration`);
    return { component: slot, seed: row.seed, ordinal, input: row.question, output: row[answer] };
  };
  return wanted.flatMap(({ component, bootstrapped, labeled }) => [
    ...bootstrapped.map((ordinal) => take(component, ordinal, 'output')),
    ...labeled.map((ordinal) => take(component, ordinal, 'label')),
  ]);
}

/** A demonstration shows the answer alone; null: it is none, or too long. */
function withoutThoughts<Row extends { output: string | null }>(row: Row): Row {
  const answer = row.output === null ? '' : answerOfContent(row.output);
  return { ...row, output: answer.trim() === '' || [...answer].length > maxOutput ? null : answer };
}

/** The session's components in the order of the prompt. */
async function componentsOf(tx: Tx, jobId: string): Promise<string[]> {
  const [row] = await tx.query<{ messages: Message[] | null }>('select messages from candidates where id = $1', [
    candidateId(jobId, 0),
  ]);
  return componentNames(row?.messages ?? []);
}
