import type { DryRun } from '../../../../src/client/index.js';
import { count } from '../../util/format.js';
import { Field, Panel } from '../../ui/basics.js';
import { budgets, costOf, costText, timeOf, timeText, type Tried } from './form/budget.js';
import { isNumber } from './form/draft.js';
import { change, draft, type TextField } from './form/store.js';

const algorithms = {
  gepa: 'Reflects on failures and rewrites the prompt; accepts what wins.',
  mipro: 'The same with a description of the task, tips, and good answers as turns.',
} as const;

/** How much a run may take: three choices, and the exact limits behind More. */
export function BudgetPanel(props: {
  estimate: DryRun['estimate'] | undefined;
  tried: Tried | null;
  errorAt: (field: string) => string | undefined;
  /** What names a run without a name. */
  rowsName: string | null | undefined;
}) {
  const { estimate, tried, errorAt, rowsName } = props;
  const { kind, algorithm, rollouts } = draft.value;
  const isSearch = kind !== 'evaluation';
  const rolloutsAt = kind === 'graph' ? '/rollout_budget' : '/budget/max_rollouts';
  const minutesAt = isSearch ? '/budget/max_minutes' : '/timeout';
  const limits = ['/budget', rolloutsAt, minutesAt].some((field) => errorAt(field) !== undefined);
  const isOpen = limits || [rollouts, draft.value.dollars, draft.value.minutes].some((text) => !isNumber(text));
  return (
    <Panel title={isSearch ? '4. Budget' : '4. Limits'}>
      {isSearch && <Choices {...{ estimate, tried }} />}
      <details class="form-more" open={isOpen}>
        <summary>More</summary>
        {kind === 'session' && (
          <Field label="Algorithm" hint={algorithms[algorithm]} error={errorAt(`/${algorithm}`)}>
            <select
              value={algorithm}
              onChange={(event) => change({ algorithm: event.currentTarget.value as typeof algorithm })}
            >
              <option value="gepa">GEPA</option>
              <option value="mipro">MIPRO</option>
            </select>
          </Field>
        )}
        <div class="form-three">
          {isSearch && <NumberField name="rollouts" label="Answers" error={errorAt(rolloutsAt)} />}
          <NumberField name="dollars" label="Dollars" error={errorAt('/budget/max_cost_usd')} />
          <NumberField name="minutes" label="Minutes" error={errorAt(minutesAt)} />
        </div>
        <div class="form-pair">
          <LabelField
            name="name"
            label="Name (optional)"
            placeholder={rowsName ?? undefined}
            error={errorAt('/name')}
          />
          <LabelField name="tags" label="Tags (optional)" hint="With commas between." error={errorAt('/tags')} />
        </div>
      </details>
    </Panel>
  );
}

function Choices({ estimate, tried }: { estimate: DryRun['estimate'] | undefined; tried: Tried | null }) {
  const { rollouts } = draft.value;
  const isOwn = !Object.values(budgets).some(({ answers }) => String(answers) === rollouts);
  return (
    <fieldset class="kind-choices budget-choices">
      <legend class="visually-hidden">Budget</legend>
      {Object.entries(budgets).map(([name, { label, answers, hint }]) => (
        <label key={name} class="kind-choice">
          <input
            type="radio"
            name="budget"
            checked={rollouts === String(answers)}
            onChange={() => change({ rollouts: String(answers) })}
          />
          <span>
            <strong>{label}</strong>
            <span class="choice-facts">
              {count(answers)} answers, {timeText(timeOf(answers, tried))}, {costText(costOf(answers, estimate))}
            </span>
            <span class="quiet">{hint}</span>
          </span>
        </label>
      ))}
      {isOwn && <p class="quiet">{ownText(rollouts)}</p>}
    </fieldset>
  );
}

/** As `None of these: 300 answers, set under More.` */
const ownText = (rollouts: string): string =>
  rollouts.trim() === ''
    ? 'None of these: answers have no limit, see More.'
    : `None of these: ${rollouts} answers, set under More.`;

function NumberField({ name, label, error }: { name: TextField; label: string; error: string | undefined }) {
  return (
    <Field label={`${label}, at most`} error={isNumber(draft.value[name]) ? error : 'Write a number, such as 1.5.'}>
      <input
        type="text"
        inputMode="decimal"
        placeholder="no limit"
        value={draft.value[name]}
        onInput={(event) => change({ [name]: event.currentTarget.value })}
      />
    </Field>
  );
}

function LabelField(props: {
  name: 'name' | 'tags';
  label: string;
  hint?: string;
  placeholder?: string | undefined;
  error: string | undefined;
}) {
  const { name, placeholder, ...field } = props;
  return (
    <Field {...field}>
      <input
        type="text"
        placeholder={placeholder}
        value={draft.value[name]}
        onInput={(event) => change({ [name]: event.currentTarget.value })}
      />
    </Field>
  );
}
