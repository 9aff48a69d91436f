/** Demonstrations out of traces: which rollouts can be shown as a question and its answer. */
import { componentNames } from '../../core/prompts/components.js';
import type { Demo } from '../../core/prompts/demos.js';
import type { Message } from '../../core/jobs/spec.js';
import { candidateId } from '../../core/jobs/ids.js';
import type { Tx } from '../db/db.js';

/** What one place for demonstrations can be filled with, by the rollouts' ordinals. */
export interface DemoSlot {
  /** As `Demo.component`. */
  component: string | null;
  /** Rollouts to be shown with the answer that they got. */
  bootstrapped: number[];
  /** Rollouts to be shown with the right answer, as the container told it. */
  labeled: number[];
}

/** A rollout that was chosen from a survey has nothing to show now: the database is of an earlier moment. */
export class NothingToShow extends Error {}

/** The longest question and answer, in characters. */
const maxInput = 8_000;
const maxOutput = 4_000;

/** The text of a message's content that is nothing but text; null for any other. */
const textOf = (content: string) => `case jsonb_typeof(${content})
  when 'string' then ${content} #>> '{}'
  when 'array' then (select case when bool_and(coalesce(part->>'type' = 'text' and jsonb_typeof(part->'text') = 'string', false))
                                 then string_agg(part->>'text', E'\\n' order by n) end
                       from jsonb_array_elements(${content}) with ordinality as p(part, n)) end`;

/**
 * Of each rollout $2, in that order, the first answered call of each place: its question, answer and right answer, each null where it
 * cannot be shown. $3: the prompt's components where its calls mark them, else null. The question is what stands beside the system messages and the
 * candidate's own demonstrations, if that is one user message; one that holds the marked component's text would show an older
 * candidate's instruction.
 */
const examples = `with asked as (
    select r.id, r.ordinal, r.seed, r.details, a.place
      from unnest($2::int[]) with ordinality as a(ordinal, place)
      join rollouts r on r.job_id = $1 and r.ordinal = a.ordinal
  ), calls as (
    select distinct on (a.place, first.component) a.*, first.component, c.candidate_id, c.request, c.response
      from asked a
      join model_calls c on c.job_id = $1 and c.rollout_id = a.id and c.http_status < 300
     cross join lateral (
       select (select l->>'name' from jsonb_array_elements(c.levers) as l where l->>'name' = any($3)
                order by array_position($3, l->>'name') limit 1) as component
     ) first
     where $3::text[] is null or first.component is not null
     order by a.place, first.component, c.created_at, c.id
  ), texts as (
    select calls.*, said.roles, said.contents, own.demo_roles, own.demo_contents, instruction.text as instruction,
           response->'choices'->0->'message' as answer, coalesce(nullif(details->>'expected', ''), details->>'expected_output') as label
      from calls
      left join candidates k on k.id = calls.candidate_id and k.job_id = $1
     cross join lateral (
       select array_agg(m->>'role' order by n) as roles, array_agg(${textOf(`m->'content'`)} order by n) as contents
         from jsonb_array_elements(case jsonb_typeof(request->'messages') when 'array' then request->'messages' else '[]' end)
                with ordinality as e(m, n)
        where coalesce(m->>'role', '') not in ('system', 'developer')
     ) said
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
                then ${textOf(`answer->'content'`)} end as said_answer
      from texts
  )
  select component, ordinal, seed, place, question,
         case when question is not null and said_answer ~ '\\S' and char_length(said_answer) <= ${maxOutput} then said_answer end as output,
         case when question is not null and label ~ '\\S' and char_length(label) <= ${maxOutput} then label end as label
    from (select component, ordinal, seed, place, said_answer, label,
                 case when question ~ '\\S' and char_length(question) <= ${maxInput}
                           and not coalesce(instruction <> '' and position(instruction in question) > 0, false)
                      then question end as question
            from stripped) bounded`;

/**
 * Which of a job's rollouts can be shown, in the order given (the best first): for all calls of a prompt whose components are whole
 * messages, else for each component that is the first marked one of some call. Rewards are not looked at. Right answers are
 * taken only where there is one place, since nobody says which of several calls they answer.
 */
export async function usableDemos(
  tx: Tx,
  jobId: string,
  prompt: { components: readonly string[]; marked: boolean; ordinals: readonly number[] },
): Promise<DemoSlot[]> {
  const { components, marked, ordinals } = prompt;
  type Row = { component: string | null; ordinal: number; shown: boolean; labeled: boolean };
  const rows = await tx.query<Row>(
    `select component, ordinal, output is not null as shown, label is not null as labeled from (${examples}) e order by place`,
    [jobId, ordinals, marked ? components : null],
  );
  const slots = (marked ? components.filter((name) => rows.some(({ component }) => component === name)) : [null]).map(
    (component) => {
      const its = rows.filter((row) => row.component === component);
      const ordinalsOf = (kept: Row[]) => kept.map(({ ordinal }) => ordinal);
      return {
        component,
        bootstrapped: ordinalsOf(its.filter(({ shown }) => shown)),
        labeled: ordinalsOf(its.filter(({ labeled }) => labeled)),
      };
    },
  );
  return slots.length === 1 ? slots : slots.map((slot) => ({ ...slot, labeled: [] }));
}

/**
 * The demonstrations of the rollouts that were chosen of a survey, slot by slot, the bootstrapped before the labelled. Throws
 * NothingToShow where one of them cannot be shown.
 */
export async function buildDemos(tx: Tx, jobId: string, wanted: readonly DemoSlot[]): Promise<Demo[]> {
  const ordinals = [...new Set(wanted.flatMap(({ bootstrapped, labeled }) => [...bootstrapped, ...labeled]))];
  if (ordinals.length === 0) return [];
  const marked = wanted.some(({ component }) => component !== null);
  type Row = Omit<Demo, 'input' | 'output'> & { question: string | null; output: string | null; label: string | null };
  const rows = await tx.query<Row>(examples, [jobId, ordinals, marked ? await componentsOf(tx, jobId) : null]);
  const take = (slot: string | null, ordinal: number, answer: 'output' | 'label'): Demo => {
    const row = rows.find((row) => row.ordinal === ordinal && row.component === slot);
    if (!row?.question || !row[answer])
      throw new NothingToShow(`the rollout ${ordinal} of ${jobId} has nothing to demonstrate`);
    return { component: slot, seed: row.seed, ordinal, input: row.question, output: row[answer] };
  };
  return wanted.flatMap(({ component, bootstrapped, labeled }) => [
    ...bootstrapped.map((ordinal) => take(component, ordinal, 'output')),
    ...labeled.map((ordinal) => take(component, ordinal, 'label')),
  ]);
}

/** A session's components, in the prompt's order. */
async function componentsOf(tx: Tx, jobId: string): Promise<string[]> {
  const [row] = await tx.query<{ messages: Message[] | null }>('select messages from candidates where id = $1', [
    candidateId(jobId, 0),
  ]);
  return componentNames(row?.messages ?? []);
}
