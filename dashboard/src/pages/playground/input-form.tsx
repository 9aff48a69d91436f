import { Field } from '../../ui/basics.js';

/** A message, or the inputs of a graph, which are sent as JSON. */
export function InputForm(props: {
  fields: string[];
  values: Record<string, string>;
  onChange: (values: Record<string, string>) => void;
  onSend: () => void;
}) {
  const { fields, values, onChange, onSend } = props;
  const names = fields.length === 0 ? ['Message'] : fields;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSend();
  };
  return (
    <>
      {names.map((name) => (
        <Field key={name} label={name}>
          <textarea
            dir="auto"
            rows={fields.length > 1 ? 2 : 4}
            value={values[name] ?? ''}
            onInput={(event) => onChange({ ...values, [name]: event.currentTarget.value })}
            onKeyDown={onKeyDown}
          />
        </Field>
      ))}
    </>
  );
}
