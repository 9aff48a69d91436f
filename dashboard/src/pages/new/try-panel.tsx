import { counted } from '../../../../src/core/math/words.js';
import { isRight } from '../../../../src/core/rows/groups.js';
import { useState } from 'preact/hooks';
import { client } from '../../data/client.js';
import { count, dollars, reward } from '../../util/format.js';
import { pageOf } from '../../util/router.js';
import { ActionButton, Panel } from '../../ui/basics.js';
import type { Tried } from './form/budget.js';
import { tryOf } from './form/request.js';
import { change, draft } from './form/store.js';
import { useMedia } from '../../ui/hooks/use-media.js';
import { numbers, Table } from '../../ui/table.js';

const rows = 5;

export interface TriedForm {
  /** The request that the answers are of. */
  of: string;
  answer: Tried;
}

/** The answers of the prompt to a few rows. */
export function TryPanel(props: {
  /** What the try lacks; empty: nothing. */
  missing: string[];
  tried: TriedForm | null;
  onTried: (tried: TriedForm) => void;
}) {
  const { missing, tried, onTried } = props;
  const [isRunning, setRunning] = useState(false);
  const body = missing.length === 0 ? tryOf(draft.value, rows) : null;
  const of = JSON.stringify(body);
  const run = async () => {
    setRunning(true);
    try {
      onTried({ of, answer: await client.value.evaluations.tryRows(body as never) });
    } finally {
      setRunning(false);
    }
  };
  return (
    <Panel title={`3. Try ${rows} rows`}>
      <p class="quiet">See what the model answers before you spend more. It takes a few seconds. Rows count from 0.</p>
      {missing.length > 0 && <p class="quiet">Still missing: {missing.join(', ')}.</p>}
      <div class="actions">
        <ActionButton run={run} disabled={body === null}>
          {isRunning ? 'Trying …' : tried ? `Try ${rows} rows again` : `Try ${rows} rows`}
        </ActionButton>
      </div>
      <div aria-live="polite" aria-busy={isRunning}>
        {tried && tried.of !== of && <p class="note">These answers are of the form as it was before.</p>}
        {tried && <Answers answer={tried.answer} />}
      </div>
    </Panel>
  );
}

function Answers({ answer }: { answer: Tried }) {
  const { rows: tried, diagnosis } = answer;
  const cause = onlyCause(tried);
  const isNarrow = useMedia('(max-width: 560px)');
  return (
    <>
      <Sum answer={answer} />
      {cause !== null && <p class="problem">{cause}</p>}
      <Table
        label="Answers of the try"
        heads={[numbers('Row'), numbers('Score'), ...(isNarrow ? [] : ['Text']), 'Expected', 'Answer']}
        class="try-table"
      >
        {tried.map((row) => (
          <TriedRow key={row.row} jobId={answer.job_id} row={row} isNarrow={isNarrow} isToldAbove={cause !== null} />
        ))}
      </Table>
      {diagnosis && !(cause !== null && diagnosis.code === 'rollouts_failed') && <Diagnosis diagnosis={diagnosis} />}
    </>
  );
}

type Row = Tried['rows'][number];

/** What came of the rows: how many are right, or that none was answered. */
function Sum({ answer: { rows: tried, mean_reward: mean, total_cost_usd: cost, seconds } }: { answer: Tried }) {
  const scored = tried.flatMap(({ reward: value }) => value ?? []);
  const failed = tried.length - scored.length;
  if (scored.length === 0)
    return (
      <p>
        <strong>None of {counted(tried.length, 'row')} was answered</strong>, {seconds.toFixed(1)} s
      </p>
    );
  return (
    <p>
      <strong>
        {scored.filter(isRight).length} of {count(scored.length)} right
      </strong>
      {failed > 0 && `, ${count(failed)} without an answer`}, mean score {reward(mean)}, {seconds.toFixed(1)} s,{' '}
      {cost === null ? 'cost unknown' : dollars(cost)}
    </p>
  );
}

/** The one cause of several failed rows; null: there are several, or one row failed. */
function onlyCause(tried: readonly Row[]): string | null {
  const messages = tried.flatMap(({ error }) => error?.message ?? []);
  return messages.length > 1 && new Set(messages).size === 1 ? messages[0]! : null;
}

/** `isNarrow`: its text is in a line of its own above the rest. */
function TriedRow(props: { jobId: string; row: Row; isNarrow: boolean; isToldAbove: boolean }) {
  const { jobId, row, isNarrow, isToldAbove } = props;
  const { row: number, text, expected, answer, reward: score, feedback, error, trace_id: trace } = row;
  const said = (
    <td colSpan={isNarrow ? 4 : 1}>
      <div class="cell" dir="auto">
        {text ?? '–'}
      </div>
    </td>
  );
  return (
    <>
      {isNarrow && <tr class="try-text">{said}</tr>}
      <tr>
        <td class="number">
          {trace === null ? (
            number
          ) : (
            <a href={pageOf(jobId, { trace: `${jobId}:${trace}` })} title="The whole call">
              {number}
            </a>
          )}
        </td>
        <td class="number">
          <span class={score === null ? 'quiet' : isRight(score) ? 'try-right' : 'try-wrong'}>{reward(score)}</span>
        </td>
        {!isNarrow && said}
        <td dir="auto">{expected ?? '–'}</td>
        <td>
          {error ? (
            <span class="field-error">{isToldAbove ? 'no answer' : error.message}</span>
          ) : (
            <div class="cell" dir="auto" title={feedback ?? undefined}>
              {answer || '–'}
            </div>
          )}
        </td>
      </tr>
    </>
  );
}

/** What is wrong with the answers, and the line that the prompt lacks. */
function Diagnosis({ diagnosis: { sentence, facts, action } }: { diagnosis: NonNullable<Tried['diagnosis']> }) {
  const line = action?.prompt_addition ?? null;
  const add = () => {
    const [first, ...others] = draft.value.messages;
    change({ messages: [{ ...first!, content: `${first!.content.trimEnd()}\n\n${line}`.trimStart() }, ...others] });
    return Promise.resolve();
  };
  return (
    <div class="note">
      <p>{sentence}</p>
      {facts.map((fact) => (
        <p key={fact}>{fact}</p>
      ))}
      {line !== null && <ActionButton run={add}>Add the labels to the prompt</ActionButton>}
    </div>
  );
}
