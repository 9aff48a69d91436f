import type { DryRun, FieldError } from '../../../../src/client/index.js';
import { counted } from '../../../../src/core/math/words.js';
import { plannedWords } from '../search/verdict.js';
import { count, dollars } from '../../util/format.js';
import { ActionButton, Panel, Problem, Stat, Stats } from '../../ui/basics.js';
import { numberOf } from './form/draft.js';
import type { EstimateState } from './form/estimate.js';
import { draft } from './form/store.js';

/** What the run will take, and its start. */
export function Summary(props: {
  missing: string[];
  estimate: EstimateState & { isCurrent: boolean };
  /** Errors of fields that the form does not show. */
  others: FieldError[];
  hasFieldErrors: boolean;
  onStart: () => Promise<unknown>;
}) {
  const { missing, estimate, others, hasFieldErrors, onStart } = props;
  const { answer, error, isCurrent } = estimate;
  return (
    <>
      <Panel title="Estimate">
        <div aria-live="polite" aria-busy={!isCurrent}>
          {missing.length > 0 && <p class="quiet">Still missing: {missing.join(', ')}.</p>}
          {missing.length === 0 && !answer && !error && <p class="quiet">Estimating …</p>}
          {answer && <Figures answer={answer} />}
          {Boolean(error) && !hasFieldErrors && <Problem error={error} />}
          {hasFieldErrors && <p class="problem">The service refuses the request; the fields say why.</p>}
          {others.map(({ pointer, message }) => (
            <p key={pointer} class="problem">
              <code>{pointer}</code> {message}
            </p>
          ))}
        </div>
      </Panel>
      <div class="start-bar">
        <span class="start-facts">
          {answer ? shortFacts(answer.estimate) : missing.length > 0 ? 'Not complete yet' : '…'}
        </span>
        <ActionButton
          kind="primary"
          run={onStart}
          disabled={missing.length > 0 || hasFieldErrors || others.length > 0 || (!isCurrent && !error)}
        >
          Start
        </ActionButton>
      </div>
    </>
  );
}

/** As `At most 300 answers, about $0.02`. */
function shortFacts({ rollouts, cost_usd: cost }: DryRun['estimate']): string {
  const price = cost ? `${cost.likely > 0 ? 'about ' : ''}${dollars(cost.likely)}` : 'cost unknown';
  return `At most ${counted(rollouts, 'answer')}, ${price}`;
}

function Figures({ answer: { estimate, split, planned_comparison: planned, warnings } }: { answer: DryRun }) {
  const { rollouts, cost_usd: cost } = estimate;
  const asked = draft.value.kind === 'evaluation' ? null : numberOf(draft.value.rollouts);
  return (
    <>
      <Stats>
        <Stat name="Answers, at most">{count(rollouts)}</Stat>
        <Stat name="Likely cost" hint="By assumed lengths of prompts and answers.">
          {cost ? dollars(cost.likely) : 'unknown'}
        </Stat>
      </Stats>
      {asked !== null && rollouts < asked && (
        <p class="quiet">
          Of {count(asked)} answers this search can use {count(rollouts)}: it ends when all its rounds are done.
        </p>
      )}
      <p class="quiet">{rangeText(cost)}</p>
      {split && <Split split={split} />}
      {planned && <p class="quiet">{plannedWords(planned)}</p>}
      {warnings.map((warning) => (
        <p key={warning} class="note">
          {warning}
        </p>
      ))}
    </>
  );
}

function rangeText(cost: DryRun['estimate']['cost_usd']): string {
  if (!cost) return 'The price of a model is unknown, so there is no estimate of the cost.';
  return cost.high === 0 ? 'The model costs nothing.' : `Cost from ${dollars(cost.low)} to ${dollars(cost.high)}.`;
}

function Split({ split: { train, evaluation, heldout } }: { split: NonNullable<DryRun['split']> }) {
  const parts = [
    { name: 'train', rows: train.length, what: 'train rows, to learn from' },
    { name: 'evaluation', rows: evaluation.length, what: 'evaluation rows, to choose the best prompt' },
    { name: 'held-out', rows: heldout.length, what: 'held-out rows, never seen, to prove it' },
  ];
  return (
    <>
      <div class="split" aria-hidden="true">
        {parts.map(
          ({ name, rows }) => rows > 0 && <span key={name} class={`split-${name}`} style={{ flexGrow: rows }} />,
        )}
      </div>
      <ul class="split-legend">
        {parts.map(({ name, rows, what }) => (
          <li key={name}>
            <span class={`split-${name}`} aria-hidden="true" /> {count(rows)} {what}
          </li>
        ))}
      </ul>
    </>
  );
}
