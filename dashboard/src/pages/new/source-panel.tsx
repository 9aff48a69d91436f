import { Field, Panel } from '../../ui/basics.js';
import { change, draft, type TextField } from './form/store.js';
import { SourceChoice } from './kind-choice.js';

/** The container of a run: your own server, which runs each instance and scores it. */
export function ContainerPanel({ errorAt }: { errorAt: (field: string) => string | undefined }) {
  const { kind, algorithm } = draft.value;
  const seedsAt = kind === 'session' ? `/${algorithm}/evaluation/seeds` : '/seeds';
  const text = (name: TextField, label: string, hint: string, error: string | undefined, placeholder: string) => (
    <Field label={label} hint={hint} error={error}>
      <input
        type="text"
        autocomplete="off"
        spellcheck={false}
        placeholder={placeholder}
        value={draft.value[name]}
        onInput={(event) => change({ [name]: event.currentTarget.value })}
      />
    </Field>
  );
  return (
    <Panel title="1. Container" aside={<SourceChoice />}>
      {text(
        'containerUrl',
        'Address of the container',
        'The service sends each instance there, and gets its score back.',
        errorAt('/container_url'),
        'http://127.0.0.1:8080',
      )}
      <div class="form-pair">
        {text(
          'envName',
          kind === 'session' ? 'Environment (optional)' : 'Environment',
          'The split or configuration, as the container names it.',
          errorAt('/env_name'),
          'default',
        )}
        {text('seeds', 'Instances', 'A range, or numbers with commas between.', errorAt(seedsAt), '0-19')}
      </div>
    </Panel>
  );
}
