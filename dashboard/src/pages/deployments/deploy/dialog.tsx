import { guessColumns } from '../../../../../src/core/prompts/columns.js';
import { useState } from 'preact/hooks';
import { client } from '../../../data/client.js';
import { errorAt, fieldErrors, otherErrors } from '../../../data/field-errors.js';
import { kindOfJob } from '../../../data/kinds.js';
import { useResource } from '../../../data/resource.js';
import { shortId } from '../../../util/format.js';
import { ActionButton, Field, Problem } from '../../../ui/basics.js';
import { Dialog } from '../../../ui/dialog.js';
import { deployRequest, emptyDeploy, missingOf, nameOf, type DeployDraft } from './draft.js';
import { GateFields } from './gate-fields.js';

/** Publishes a candidate under a name. `onMade` gets the id of the version. */
export function DeployDialog(props: {
  source: string;
  candidateId: string | null;
  onMade: (version: string) => void;
  onClose: () => void;
}) {
  const { source, candidateId, onMade, onClose } = props;
  const defaults = useDefaults(source);
  const what = candidateId ? `candidate ${shortId(candidateId)}` : 'the best candidate';
  const job = defaults.data?.job ?? shortId(source);
  return (
    <Dialog title={`Deploy ${what} of ${job}`} onClose={onClose}>
      <DeployForm {...{ source, candidateId, defaults, onMade }} />
    </Dialog>
  );
}

function DeployForm(props: {
  source: string;
  candidateId: string | null;
  defaults: ReturnType<typeof useDefaults>;
  onMade: (version: string) => void;
}) {
  const { source, candidateId, onMade } = props;
  const { data: defaults, error: sourceError } = props.defaults;
  const [changes, setChanges] = useState<Partial<DeployDraft>>({});
  const [error, setError] = useState<unknown>(null);
  const draft: DeployDraft = { ...emptyDeploy, ...defaults?.draft, ...changes };
  const errors = fieldErrors(error);
  const at = (field: string, except: string[] = []) => errorAt(errors, field, except);
  const missing = missingOf(draft);
  const deploy = async () => {
    setError(null);
    try {
      const body = deployRequest(draft, source, candidateId);
      const { id } = await client.value.createDeployment(body as never);
      onMade(id);
    } catch (caught) {
      setError(caught);
    }
  };
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <Problem error={sourceError} />
      <Field
        label="Name"
        hint="Callers use it as the model. A name that exists gets a new version."
        error={at('/name')}
      >
        <input
          type="text"
          autocomplete="off"
          spellcheck={false}
          value={draft.name}
          onInput={(event) => setChanges({ ...changes, name: event.currentTarget.value })}
        />
      </Field>
      <GateFields draft={draft} onChange={(more) => setChanges({ ...changes, ...more })} errorAt={at} />
      {Boolean(error) && errors.length === 0 && <Problem error={error} />}
      {otherErrors(errors, ['/name', '/gate']).map(({ pointer, message }) => (
        <Problem key={pointer} error={`${pointer} ${message}`} />
      ))}
      {missing.length > 0 && <p class="quiet">Still missing: {missing.join(', ')}.</p>}
      <div class="actions">
        <ActionButton kind="primary" run={deploy} disabled={missing.length > 0}>
          Deploy
        </ActionButton>
      </div>
    </form>
  );
}

/** Name and data of the job that is deployed; `job`: its name, null: it has none. */
function useDefaults(source: string) {
  return useResource<{ job: string | null; draft: Partial<DeployDraft> }>(`source ${source}`, async (signal) => {
    if (kindOfJob(source) === 'graph') {
      const { name } = await client.value.request('getGraphJob', { path: { job_id: source }, signal });
      return { job: name, draft: { name: nameOf(name ?? ''), scoredBy: 'container' } };
    }
    const session = await client.value.request('getSession', { path: { session_id: source }, signal });
    const { name, dataset, container_url: containerUrl } = session;
    const draft = { name: nameOf(name ?? '') };
    if (!dataset) return { job: name, draft: { ...draft, scoredBy: 'container', containerUrl: containerUrl ?? '' } };
    const { columns } = await client.value.datasets.get(dataset.dataset_id, { signal });
    const data = { datasetId: dataset.dataset_id, ...guessColumns(columns) };
    const scorer = { scorer: { type: '', values: {} }, sessionScorer: dataset.scorer };
    return { job: name, draft: { ...draft, ...data, ...scorer } };
  });
}
