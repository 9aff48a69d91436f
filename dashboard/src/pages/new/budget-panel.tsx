import { Field, Panel } from '../../ui/basics.js';
import { isNumber } from './draft.js';
import { change, draft, type TextField } from './store.js';

const algorithms = {
  gepa: 'Reflects on failures and rewrites the prompt; accepts what wins.',
  mipro: 'The same with a description of the task, tips, and good answers as turns.',
} as const;

/** Algorithm and limits of the run, and its labels. */
export function BudgetPanel({ errorAt }: { errorAt: (field: string) => string | undefined }) {
  const { kind, algorithm } = draft.value;
  const minutesAt = kind === 'session' ? '/budget/max_minutes' : '/timeout';
  return (
    <Panel title={kind === 'session' ? 'Search and budget' : 'Limits'}>
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
        {kind === 'session' && <NumberField name="rollouts" label="Rollouts" error={errorAt('/budget/max_rollouts')} />}
        <NumberField name="dollars" label="Dollars" error={errorAt('/budget/max_cost_usd')} />
        <NumberField name="minutes" label="Minutes" error={errorAt(minutesAt)} />
      </div>
      <div class="form-pair">
        <Field label="Name (optional)" error={errorAt('/name')}>
          <input
            type="text"
            value={draft.value.name}
            onInput={(event) => change({ name: event.currentTarget.value })}
          />
        </Field>
        <Field label="Tags (optional)" hint="With commas between." error={errorAt('/tags')}>
          <input
            type="text"
            value={draft.value.tags}
            onInput={(event) => change({ tags: event.currentTarget.value })}
          />
        </Field>
      </div>
    </Panel>
  );
}

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
