import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { exampleModelName } from '../../../../src/util/example-models.js';
import { Field, Panel, Problem } from '../../ui/basics.js';
import { change, draft } from './form/store.js';

type Provider = Awaited<ReturnType<typeof client.value.providers>>['providers'][number];

/** The model that answers, and in a search the one that writes prompts. */
export function ModelPanel({ errorAt }: { errorAt: (field: string, except?: string[]) => string | undefined }) {
  const { data, error } = useResource('providers', (signal) => client.value.providers({ signal }));
  const providers = data?.providers ?? [];
  const { kind, provider, model, proposerProvider, proposerModel } = draft.value;
  return (
    <Panel title="3. Model">
      <Problem error={error} />
      <div class="form-pair">
        <ProviderField
          label="Provider"
          {...{ providers, value: provider }}
          error={errorAt('/policy/provider')}
          onChange={(next) => change({ provider: next, model: modelFor(next, model) })}
        />
        <ModelField
          label="Model that answers"
          value={model}
          error={errorAt('/policy', ['/provider'])}
          onChange={(next) => change({ model: next })}
        />
        {kind !== 'evaluation' && (
          <ProviderField
            label="Provider of the model that writes prompts"
            none="The same model"
            {...{ providers, value: proposerProvider }}
            error={errorAt('/proposer/provider')}
            onChange={(next) => change({ proposerProvider: next, proposerModel: modelFor(next, proposerModel) })}
          />
        )}
        {kind !== 'evaluation' && proposerProvider !== '' && (
          <ModelField
            label="Model that writes prompts"
            value={proposerModel}
            error={errorAt('/proposer', ['/provider'])}
            onChange={(next) => change({ proposerModel: next })}
          />
        )}
      </div>
      {provider === 'local' && <LocalCard />}
    </Panel>
  );
}

/** What the built-in model is for. */
function LocalCard() {
  return (
    <div class="local-card">
      <strong>local</strong> is built in: no key, no cost, nothing leaves this machine. It sorts short texts into the
      labels that your prompt lists, by their words, and writes prompts by adding words of the rows to the labels. It
      cannot reason or know facts: use it to see how everything works, and another model for answers that count. Choose
      its provider to read what it needs.
    </div>
  );
}

/** The built-in provider has one model; its name means nothing to others. */
function modelFor(provider: string, model: string): string {
  if (provider === 'local') return 'local';
  return model === 'local' ? '' : model;
}

function ProviderField(props: {
  label: string;
  providers: Provider[];
  value: string;
  /** The choice of no provider. */
  none?: string;
  error: string | undefined;
  onChange: (name: string) => void;
}) {
  const { label, providers, value, none, error, onChange } = props;
  const chosen = providers.find(({ name }) => name === value);
  return (
    <Field label={label} error={chosen?.reason ?? error}>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {none !== undefined && <option value="">{none}</option>}
        {providers.length === 0 && value !== '' && <option>{value}</option>}
        {providers.map(({ name, usable }) => (
          <option key={name} value={name}>
            {usable ? name : `${name} (not set up)`}
          </option>
        ))}
      </select>
    </Field>
  );
}

function ModelField(props: {
  label: string;
  value: string;
  error: string | undefined;
  onChange: (model: string) => void;
}) {
  return (
    <Field label={props.label} error={props.error}>
      <input
        type="text"
        autocomplete="off"
        spellcheck={false}
        placeholder={exampleModelName}
        value={props.value}
        onInput={(event) => props.onChange(event.currentTarget.value)}
      />
    </Field>
  );
}
