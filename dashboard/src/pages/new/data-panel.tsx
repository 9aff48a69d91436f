import { guessColumns } from '../../../../src/core/prompts/columns.js';
import { useState } from 'preact/hooks';
import type { Item } from '../../../../src/client/index.js';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { ago, count, shortId } from '../../util/format.js';
import { ActionButton, Field, Panel, Problem } from '../../ui/basics.js';
import { DatasetRows } from '../../ui/dataset-rows.js';
import { FactsOfData } from './data-facts.js';
import { typeOfRows, type Dataset } from './form/draft.js';
import type { DataFacts } from './form/facts.js';
import { replacements } from './form/original.js';
import { change, draft } from './form/store.js';
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
    <Panel title="1. Data">
      <FileField key={replacements.value} onUpload={use} />
      <KnownDatasets uploads={uploads} onChoose={use} />
      <PastedRows onUpload={use} />
      <Problem error={error} />
      {dataset && <Columns dataset={dataset} errorAt={errorAt} />}
      {dataset && facts && <FactsOfData facts={facts} total={dataset.num_rows} />}
      {dataset && <DatasetRows dataset={dataset} limit={previewed} />}
    </Panel>
  );
}

function KnownDatasets({ uploads, onChoose }: { uploads: number; onChoose: (dataset: Dataset) => void }) {
  const { data, error } = useResource(`datasets ${uploads}`, (signal) =>
    client.value.request('listDatasets', { query: { limit: listed }, signal }),
  );
  const { datasetId } = draft.value;
  const choose = (id: string) => {
    const chosen = data?.data.find(({ dataset_id }) => dataset_id === id);
    if (chosen) onChoose(chosen);
  };
  const isListed = data?.data.some(({ dataset_id }) => dataset_id === datasetId) ?? false;
  return (
    <div>
      <Field label="Or an earlier data set" {...(data?.has_more && { hint: `The newest ${listed}.` })}>
        <select value={datasetId} onChange={(event) => choose(event.currentTarget.value)}>
          <option value="" disabled selected={datasetId === ''}>
            Choose …
          </option>
          {datasetId !== '' && !isListed && <option value={datasetId}>{shortId(datasetId)}</option>}
          {data?.data.map((each) => (
            <option key={each.dataset_id} value={each.dataset_id}>
              {nameOf(each)}
            </option>
          ))}
        </select>
      </Field>
      <Problem error={error} />
    </div>
  );
}

function nameOf({ dataset_id: id, name, num_rows: rows, columns, created_at: at }: Item<'listDatasets'>): string {
  if (name !== null) return `${name} · ${count(rows)} rows · ${ago(at)}`;
  const names = columns.slice(0, 4).map(({ name }) => name);
  return `${count(rows)} rows: ${names.join(', ')} · ${ago(at)} · ${shortId(id)}`;
}

function FileField({ onUpload }: { onUpload: (dataset: Dataset) => void }) {
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
      <Field
        label="Drop or choose a file"
        hint="CSV with commas, semicolons or tabs, JSONL or JSON, up to 100 MiB. The first line of a CSV names the columns."
      >
        <input type="file" onChange={(event) => void upload(event.currentTarget.files?.[0])} />
      </Field>
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
    <div class="form-pair">
      <Field label="Input column" hint="{{input}} in the prompt stands for it." error={errorAt('/dataset/input')}>
        {select('input', input)}
      </Field>
      <Field label="Expected column" hint="The right answers." error={errorAt('/dataset/expected')}>
        {select('expected', expected)}
      </Field>
    </div>
  );
}
