import { ago, count, shortId } from '../util/format.js';
import { counted } from '../../../src/core/math/words.js';
import { link } from '../util/router.js';

interface Named {
  dataset_id: string;
  name: string | null;
}

interface Sized {
  num_rows: number;
}

/** What people call a data set: its name, else its id in short. */
export const datasetName = ({ dataset_id: id, name }: Named): string => name ?? shortId(id);

/** A data set in a choice of many: its name, else what it holds. */
export function datasetOption(dataset: Named & Sized & { columns: readonly { name: string }[]; created_at: string }) {
  const { dataset_id: id, name, num_rows: rows, columns, created_at: at } = dataset;
  if (name !== null) return `${name} · ${counted(rows, 'row')} · ${ago(at)}`;
  const names = columns.slice(0, 4).map((column) => column.name);
  return `${counted(rows, 'row')}: ${names.join(', ')} · ${ago(at)} · ${shortId(id)}`;
}

/** A data set by its name; its page has the whole id to copy. */
export function DatasetLink({ dataset }: { dataset: Named & Sized }) {
  const { dataset_id: id, name, num_rows: rows } = dataset;
  return (
    <a class="plain-link" href={link(['datasets', id])} title={`${count(rows)} rows, ${id}`} dir="auto">
      {name ?? `${count(rows)} rows`}
    </a>
  );
}
