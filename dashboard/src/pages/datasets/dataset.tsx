import { guessColumns } from '../../../../src/core/prompts/columns.js';
import { useState } from 'preact/hooks';
import type { Answer } from '../../../../src/client/index.js';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { count } from '../../util/format.js';
import { go, link, route, setQuery } from '../../util/router.js';
import { Field, Loading, Panel, Problem, Time } from '../../ui/basics.js';
import { ConfirmButton } from '../../ui/confirm.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { datasetName } from '../../ui/dataset-link.js';
import { CopyId } from '../../ui/copy.js';
import { Heading } from '../../ui/heading.js';
import { DatasetRows } from '../../ui/dataset-rows.js';
import { change } from '../new/form/store.js';

const pageSize = 20;

/** A data set: its name, its rows, and what runs on it. */
export function DatasetPage({ id }: { id: string }) {
  const { data, error, reload } = useResource(id, (signal) => client.value.datasets.get(id, { signal }));
  if (!data) return error ? <Problem error={error} /> : <Loading />;
  const title = datasetName(data);
  return (
    <>
      <div class="page-head job-head">
        <div>
          <p class="crumbs">
            <a href={link(['datasets'])}>Data sets</a>
          </p>
          <Heading title={title}>
            <bdi>{title}</bdi>
          </Heading>
          <p class="quiet job-facts">
            <span>{count(data.num_rows)} rows</span>
            <span>
              created <Time at={data.created_at} />
            </span>
            <a href={link([], { dataset: id })}>
              {count(data.jobs)} {data.jobs === 1 ? 'run' : 'runs'}
            </a>
            <CopyId id={id} />
          </p>
        </div>
        <div class="actions">
          <a class="button button-primary" href={link(['new'])} onClick={() => chooseFor(data)}>
            New run on it
          </a>
          <Rename id={id} name={data.name} onDone={reload} />
          <ConfirmButton
            label="Delete"
            title="Delete this data set?"
            answers={['Delete it', 'Keep it']}
            kind="danger"
            run={() => client.value.datasets.delete(id).then(() => go(link(['datasets'])))}
          >
            <p>Its rows are deleted for good. A data set that a run needs stays.</p>
          </ConfirmButton>
        </div>
      </div>
      <Rows dataset={data} />
    </>
  );
}

/** The form of a new run begins with this data set. */
function chooseFor({ dataset_id: datasetId, columns }: Answer<'getDataset'>): void {
  change({ datasetId, ...guessColumns(columns) });
}

function Rows({ dataset }: { dataset: Answer<'getDataset'> }) {
  const cursor = route.value.query.get('rows');
  return (
    <Panel title="Rows">
      <DatasetRows dataset={dataset} limit={pageSize} cursor={cursor}>
        {(next) => (
          <div class="bar">
            {cursor !== null && (
              <button type="button" class="button" onClick={() => setQuery({ rows: null })}>
                First rows
              </button>
            )}
            {next !== null && (
              <button type="button" class="button" onClick={() => setQuery({ rows: next })}>
                Next rows
              </button>
            )}
          </div>
        )}
      </DatasetRows>
    </Panel>
  );
}

function Rename({ id, name, onDone }: { id: string; name: string | null; onDone: () => Promise<void> }) {
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState(name ?? '');
  return (
    <>
      <button type="button" class="button" onClick={() => setOpen(true)}>
        Rename
      </button>
      {isOpen && (
        <FormDialog
          title="Name of the data set"
          submit="Save"
          run={() => client.value.datasets.rename(id, text.trim() || null).then(onDone)}
          onClose={() => setOpen(false)}
        >
          {(errorOf) => (
            <Field label="Name" hint="Empty: no name." error={errorOf('/name')}>
              <input value={text} maxLength={200} onInput={(event) => setText(event.currentTarget.value)} />
            </Field>
          )}
        </FormDialog>
      )}
    </>
  );
}
