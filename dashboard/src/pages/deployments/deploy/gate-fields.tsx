import { scorerForms } from '../../../../../src/scorers/forms.js';
import { Field } from '../../../ui/basics.js';
import { ScorerFields } from '../../../ui/scorer/fields.js';
import { DatasetFields } from './dataset-fields.js';
import type { DeployDraft } from './draft.js';

interface Props {
  draft: DeployDraft;
  onChange: (changes: Partial<DeployDraft>) => void;
  errorAt: (field: string, except?: string[]) => string | undefined;
}

const demands = {
  none: 'No gate: goes live at once',
  min_reward: 'A mean reward of at least …',
  min_improvement: 'Better than what the name serves, by at least …',
} as const;

/** No improvement is a common demand; no reward is none. */
const demanded = (demand: DeployDraft['demand']) => ({ demand, least: demand === 'min_reward' ? '' : '0' });

/** What a version must prove before its name serves it. */
export function GateFields({ draft, onChange, errorAt }: Props) {
  const { demand, scoredBy } = draft;
  const shown = ['/dataset', '/scorer', '/seeds', '/container_url', '/min_reward', '/min_improvement'];
  return (
    <>
      <Field label="Gate" error={errorAt('/gate', shown)}>
        <select
          value={demand}
          onChange={(event) => onChange(demanded(event.currentTarget.value as DeployDraft['demand']))}
        >
          {Object.entries(demands).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </Field>
      {demand !== 'none' && (
        <>
          <Least {...{ draft, onChange, errorAt }} />
          <Field label="Scored by">
            <select
              value={scoredBy}
              onChange={(event) => onChange({ scoredBy: event.currentTarget.value as DeployDraft['scoredBy'] })}
            >
              <option value="dataset">Rows of a data set</option>
              <option value="container">A container</option>
            </select>
          </Field>
          {scoredBy === 'dataset' ? (
            <RowsFields {...{ draft, onChange, errorAt }} />
          ) : (
            <ContainerFields {...{ draft, onChange, errorAt }} />
          )}
        </>
      )}
    </>
  );
}

function Least({ draft: { demand, least }, onChange, errorAt }: Props) {
  const hint =
    demand === 'min_reward'
      ? 'Of the candidate, over the rows.'
      : 'The lower end of the paired 95 % interval must reach it; 0 demands evidence that it is no worse.';
  return (
    <Field label="At least" hint={hint} error={errorAt(`/gate/${demand}`)}>
      <input
        type="text"
        inputMode="decimal"
        value={least}
        onInput={(event) => onChange({ least: event.currentTarget.value })}
      />
    </Field>
  );
}

function RowsFields({ draft, onChange, errorAt }: Props) {
  const ofScorer = (scorerForms[draft.scorer.type]?.fields ?? []).map(({ name }) => `/${name}`);
  return (
    <>
      <DatasetFields {...{ draft, onChange, errorAt }} />
      <ScorerFields
        draft={draft.scorer}
        {...(draft.sessionScorer !== null && {
          inherited: `As in the run: ${scorerForms[draft.sessionScorer]?.label ?? draft.sessionScorer}`,
        })}
        onChange={(scorer) => onChange({ scorer })}
        errorAt={(field) => (field === '' ? errorAt('/gate/scorer', ofScorer) : errorAt(`/gate/scorer/${field}`))}
      />
      <Seeds
        {...{ draft, onChange, errorAt }}
        label="Rows (optional)"
        hint="Such as 0-99 or 1, 5, 9. Empty: all rows that the run has not trained or evaluated on."
      />
    </>
  );
}

function ContainerFields({ draft, onChange, errorAt }: Props) {
  return (
    <>
      <Field label="URL of the container" error={errorAt('/gate/container_url')}>
        <input
          type="url"
          value={draft.containerUrl}
          onInput={(event) => onChange({ containerUrl: event.currentTarget.value })}
        />
      </Field>
      <Seeds {...{ draft, onChange, errorAt }} label="Seeds" hint="Such as 100-199: tasks that the run has not seen." />
    </>
  );
}

function Seeds({ draft, onChange, errorAt, label, hint }: Props & { label: string; hint: string }) {
  return (
    <Field label={label} hint={hint} error={errorAt('/gate/seeds')}>
      <input type="text" value={draft.seeds} onInput={(event) => onChange({ seeds: event.currentTarget.value })} />
    </Field>
  );
}
