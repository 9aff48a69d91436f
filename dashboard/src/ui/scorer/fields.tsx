import type { FormField } from '../../../../src/scorers/form.js';
import { scorerForms } from '../../../../src/scorers/forms.js';
import { Field } from '../basics.js';
import { scorerProblems, type ScorerDraft } from './draft.js';

/**
 * The choice of a scorer, with the fields of its type. `inherited`: the label of the type "";
 * `errorAt`: what the API says of a field.
 */
export function ScorerFields(props: {
  draft: ScorerDraft;
  inherited?: string;
  onChange: (draft: ScorerDraft) => void;
  errorAt: (field: string) => string | undefined;
}) {
  const { draft, inherited, onChange, errorAt } = props;
  const form = scorerForms[draft.type];
  const problems = scorerProblems(draft);
  const set = (name: string, value: string | boolean) =>
    onChange({ ...draft, values: { ...draft.values, [name]: value } });
  return (
    <>
      <Field label="Type of scorer" {...(form && { hint: `Reward: ${form.reward}.` })} error={errorAt('')}>
        <select value={draft.type} onChange={(event) => onChange({ type: event.currentTarget.value, values: {} })}>
          {inherited !== undefined && <option value="">{inherited}</option>}
          {Object.entries(scorerForms).map(([type, { label }]) => (
            <option key={type} value={type}>
              {label}
            </option>
          ))}
        </select>
      </Field>
      {form?.fields.map((field) => {
        const value = draft.values[field.name];
        const problem = value ? problems[field.name] : undefined;
        return (
          <OneField
            key={`${draft.type} ${field.name}`}
            field={field}
            value={value}
            error={problem ?? errorAt(field.name)}
            onChange={(next) => set(field.name, next)}
          />
        );
      })}
    </>
  );
}

function OneField(props: {
  field: FormField;
  value: string | boolean | undefined;
  error: string | undefined;
  onChange: (value: string | boolean) => void;
}) {
  const { field, value, error, onChange } = props;
  if (field.kind === 'check')
    return (
      <label class="check form-check">
        <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />
        {field.label}
      </label>
    );
  const label = field.isRequired ? field.label : `${field.label} (optional)`;
  return (
    <Field label={label} {...(field.hint && { hint: field.hint })} error={error}>
      <Control field={field} value={String(value ?? '')} onChange={onChange} />
    </Field>
  );
}

function Control({ field, value, onChange }: { field: FormField; value: string; onChange: (value: string) => void }) {
  switch (field.kind) {
    case 'choice':
      return (
        <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {field.choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      );
    case 'area':
    case 'value':
      return <textarea rows={4} value={value} onInput={(event) => onChange(event.currentTarget.value)} />;
    default:
      return (
        <input
          type="text"
          inputMode={field.kind === 'number' ? 'decimal' : 'text'}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      );
  }
}
