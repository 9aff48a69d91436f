import type { Answer } from '../../../../src/client/index.js';
import { ago, shortId } from '../../util/format.js';
import { Field } from '../../ui/basics.js';

type Listed = Answer<'listDeployments'>['deployments'];

/** The choice of a name, which stands for what it serves, or of a version. */
export function DeploymentChoice(props: {
  label: string;
  deployments: Listed;
  value: string;
  /** The choice of none. */
  none: string;
  onChange: (ref: string) => void;
}) {
  const { label, deployments, value, none, onChange } = props;
  const live = deployments.filter((each) => each.live);
  const ready = deployments.filter(({ status }) => status === 'ready');
  const isListed = [...live.map(({ name }) => name), ...ready.map(({ id }) => id)].includes(value);
  return (
    <Field label={label}>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{none}</option>
        {value !== '' && !isListed && <option value={value}>{shortId(value)}</option>}
        <optgroup label="Names">
          {live.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </optgroup>
        <optgroup label="Versions">
          {ready.map(({ id, name, live: isLive, created_at: created }) => (
            <option key={id} value={id}>
              {`${name} · ${ago(created)} · ${shortId(id)}${isLive ? ' · live' : ''}`}
            </option>
          ))}
        </optgroup>
      </select>
    </Field>
  );
}
