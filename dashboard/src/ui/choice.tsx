/** A switch between a few values, of which one is on. */
export function Choice<Value extends string>(props: {
  label: string;
  value: Value;
  options: Partial<Record<Value, string>>;
  onChange: (value: Value) => void;
}) {
  return (
    <div class="switch" role="group" aria-label={props.label}>
      {(Object.entries(props.options) as [Value, string][]).map(([value, name]) => (
        <button key={value} type="button" aria-pressed={value === props.value} onClick={() => props.onChange(value)}>
          {name}
        </button>
      ))}
    </div>
  );
}
