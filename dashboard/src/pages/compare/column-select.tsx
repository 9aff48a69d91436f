import { letterOf } from './address.js';

/** A choice among the columns by their letters; `any`: the name of none of them. */
export function ColumnSelect(props: {
  ids: readonly string[];
  value: string;
  any?: string;
  /** Empty: any. */
  onChange: (id: string) => void;
}) {
  const { ids, value, any, onChange } = props;
  return (
    <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {any !== undefined && <option value="">{any}</option>}
      {ids.map((id) => (
        <option key={id} value={id}>
          {letterOf(ids, id)}
        </option>
      ))}
    </select>
  );
}
