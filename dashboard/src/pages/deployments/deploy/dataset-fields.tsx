import { guessColumns } from '../../../../../src/core/prompts/columns.js';
import { client } from '../../../data/client.js';
import { useResource } from '../../../data/resource.js';
import { datasetOption } from '../../../ui/dataset-link.js';
import { shortId } from '../../../util/format.js';
import { Field, Problem } from '../../../ui/basics.js';
import type { DeployDraft } from './draft.js';

const listed = 100;

/** The data set of a gate and its columns. */
export function DatasetFields(props: {
  draft: DeployDraft;
  onChange: (changes: Partial<DeployDraft>) => void;
  errorAt: (field: string, except?: string[]) => string | undefined;
}) {
  const { draft, onChange, errorAt } = props;
  const { data, error } = useResource('data sets of gates', (signal) =>
    client.value.request('listDatasets', { query: { limit: listed }, signal }),
  );
  const columnsOf = (id: string) => data?.data.find(({ dataset_id }) => dataset_id === id)?.columns ?? [];
  const namesOf = (id: string) => columnsOf(id).map(({ name }) => name);
  const columns = namesOf(draft.datasetId);
  const isListed = data?.data.some(({ dataset_id }) => dataset_id === draft.datasetId) ?? false;
  const column = (name: 'input' | 'expected') => (
    <select value={draft[name]} onChange={(event) => onChange({ [name]: event.currentTarget.value })}>
      <option value="">None</option>
      {draft[name] !== '' && !columns.includes(draft[name]) && <option>{draft[name]}</option>}
      {columns.map((each) => (
        <option key={each}>{each}</option>
      ))}
    </select>
  );
  return (
    <>
      <Problem error={error} />
      <Field label="Data set" error={errorAt('/gate/dataset', ['/input', '/expected'])}>
        <select
          value={draft.datasetId}
          onChange={({ currentTarget: { value: id } }) => onChange({ datasetId: id, ...guessColumns(columnsOf(id)) })}
        >
          <option value="" disabled selected={draft.datasetId === ''}>
            Choose …
          </option>
          {draft.datasetId !== '' && !isListed && <option value={draft.datasetId}>{shortId(draft.datasetId)}</option>}
          {data?.data.map((each) => (
            <option key={each.dataset_id} value={each.dataset_id}>
              {datasetOption(each)}
            </option>
          ))}
        </select>
      </Field>
      <div class="form-pair">
        <Field label="Input column" error={errorAt('/gate/dataset/input')}>
          {column('input')}
        </Field>
        <Field label="Expected column" error={errorAt('/gate/dataset/expected')}>
          {column('expected')}
        </Field>
      </div>
    </>
  );
}
