import { guessColumns } from '../../../../src/core/prompts/columns.js';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { count, shortId } from '../../util/format.js';
import { ActionButton, Field, Panel, Problem } from '../../ui/basics.js';
import { datasetOption } from '../../ui/dataset-link.js';
import { DatasetRows } from '../../ui/dataset-rows.js';
import { Fold } from '../../ui/fold.js';
import { factWords, LabelBalance, Warnings } from './data-facts.js';
import { typeOfRows, type Dataset } from './form/draft.js';
import type { DataFacts } from './form/facts.js';
import { replacements } from './form/original.js';
import { change, draft } from './form/store.js';
import { SourceChoice } from './kind-choice.js';
import { readableFile } from './form/upload.js';

const listed = 100;
const previewed = 5;

/** The choice of rows: a data set of the service, a file, or pasted text. */
export function DataPanel({
  dataset,
  facts,
  error,
  errorAt,
}: {
  dataset: Dataset | undefined;
  facts: DataFacts | undefined;
  error: unknown;
  errorAt: (field: string) => string | undefined;
}) {
  const [uploads, setUploads] = useState(0);
  const use = (chosen: Dataset) => {
    change({ datasetId: chosen.dataset_id, ...guessColumns(chosen.columns) });
    setUploads(uploads + 1);
  };
  return (
    <Panel title="1. Data" aside={<SourceChoice />}>
      <FileDrop key={replacements.value} onUpload={use}>
        {(file) => (
          <div class="form-data">
            {file}
            <KnownDatasets uploads={uploads} chosen={dataset} onChoose={use} />
            {dataset && <Columns dataset={dataset} errorAt={errorAt} />}
          </div>
        )}
      </FileDrop>
      <Problem error={error} />
      {dataset && facts && <Warnings facts={facts} total={dataset.num_rows} />}
      <div class="form-folds">
        {dataset && <Rows dataset={dataset} facts={facts} />}
        <PastedRows onUpload={use} />
      </div>
    </Panel>
  );
}

/** The rows behind one line that says how many there are, and what they are like. */
function Rows({ dataset, facts }: { dataset: Dataset; facts: DataFacts | undefined }) {
  const total = dataset.num_rows;
  return (
    <Fold
      summary={
        <>
          <strong>{count(total)} rows</strong>
          {facts && <span class="quiet">{factWords(facts, total)}</span>}
        </>
      }
    >
      {() => (
        <>
          {facts && <LabelBalance labels={facts.labels} />}
          <DatasetRows dataset={dataset} limit={previewed} />
        </>
      )}
    </Fold>
  );
}

function KnownDatasets(props: { uploads: number; chosen: Dataset | undefined; onChoose: (dataset: Dataset) => void }) {
  const { uploads, chosen, onChoose } = props;
  const { data, error } = useResource(`datasets ${uploads}`, (signal) =>
    client.value.request('listDatasets', { query: { limit: listed }, signal }),
  );
  const { datasetId } = draft.value;
  const choose = (id: string) => {
    const next = data?.data.find(({ dataset_id }) => dataset_id === id);
    if (next) onChoose(next);
  };
  const isListed = data?.data.some(({ dataset_id }) => dataset_id === datasetId) ?? false;
  return (
    <div>
      <Field label="Or an earlier data set" {...(data?.has_more && { hint: `The newest ${listed}.` })}>
        <select value={datasetId} onChange={(event) => choose(event.currentTarget.value)}>
          <option value="" disabled selected={datasetId === ''}>
            Choose …
          </option>
          {datasetId !== '' && !isListed && (
            <option value={datasetId}>{chosen ? datasetOption(chosen) : shortId(datasetId)}</option>
          )}
          {data?.data.map((each) => (
            <option key={each.dataset_id} value={each.dataset_id}>
              {datasetOption(each)}
            </option>
          ))}
        </select>
      </Field>
      <Problem error={error} />
    </div>
  );
}

/** A place to drop a file, around the field that chooses one. */
function FileDrop(props: {
  onUpload: (dataset: Dataset) => void;
  children: (field: ComponentChildren) => ComponentChildren;
}) {
  const { onUpload, children } = props;
  const [error, setError] = useState<unknown>(null);
  const [note, setNote] = useState<string | null>(null);
  const [isOver, setOver] = useState(false);
  const upload = async (given: File | undefined) => {
    if (!given) return;
    setError(null);
    setNote(null);
    try {
      const { file, type, note: assumed } = await readableFile(given);
      onUpload(await client.value.datasets.upload(file, type && { type }));
      setNote(assumed);
    } catch (caught) {
      setError(caught);
    }
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void upload(event.dataTransfer?.files[0]);
  };
  const onDragOver = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  return (
    <div
      class={isOver ? 'drop drop-over' : 'drop'}
      onDrop={onDrop}
      onDragOver={onDragOver}
      onDragLeave={() => setOver(false)}
    >
      {children(
        <Field label="Drop or choose a file" hint="CSV, JSONL or JSON, up to 100 MiB.">
          <input type="file" onChange={(event) => void upload(event.currentTarget.files?.[0])} />
        </Field>,
      )}
      <Problem error={error} />
      {note && (
        <p class="note" role="status">
          {note}
        </p>
      )}
    </div>
  );
}

function PastedRows({ onUpload }: { onUpload: (dataset: Dataset) => void }) {
  const [text, setText] = useState('');
  const upload = async () => {
    onUpload(await client.value.datasets.upload(text, { type: typeOfRows(text) }));
    setText('');
  };
  return (
    <details class="form-more">
      <summary>Paste rows</summary>
      <Field label="Rows" hint="JSON lines, a JSON list, or CSV whose first line names the columns.">
        <textarea
          rows={6}
          spellcheck={false}
          placeholder={'{"text": "My card was declined", "label": "card_auth"}'}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </Field>
      <ActionButton run={upload} disabled={text.trim() === ''}>
        Use these rows
      </ActionButton>
    </details>
  );
}

function Columns({ dataset, errorAt }: { dataset: Dataset; errorAt: (field: string) => string | undefined }) {
  const { input, expected } = draft.value;
  const select = (name: 'input' | 'expected', value: string) => (
    <select value={value} onChange={(event) => change({ [name]: event.currentTarget.value })}>
      <option value="">None</option>
      {dataset.columns.map((column) => (
        <option key={column.name}>{column.name}</option>
      ))}
    </select>
  );
  return (
    <>
      <Field
        label="Input column"
        hint={input === '' ? 'What the model reads.' : `In the prompt: {{${input}}}.`}
        error={errorAt('/dataset/input')}
      >
        {select('input', input)}
      </Field>
      <Field label="Expected column" hint="The right answers." error={errorAt('/dataset/expected')}>
        {select('expected', expected)}
      </Field>
    </>
  );
}
