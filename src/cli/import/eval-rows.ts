/** The rows of an eval, from its run, a file of rows, or what a run put out. */
import { ConfigError } from '../../service/config.js';
import { asObject, isObject } from '../../util/json.js';
import type { Report, Row } from './imported.js';
import { isFileOf, type Pieces, type RowsPiece } from './pieces.js';

interface Of {
  id: unknown;
  /** The one whose prompt is taken. */
  run: Pieces['runs'][number] | null;
  runs: Pieces['runs'];
  place: string;
}

/** Throws a ConfigError if there are none, or several files of them. */
export function evalRows(pieces: Pieces, of: Of, report: Report): Row[] {
  const asking = of.run ? [of.run, ...of.runs.filter((one) => one !== of.run)] : of.runs;
  for (const run of asking) {
    const rows = inlineRows(run) ?? rowsOfFile(pieces, run);
    if (rows) return rows;
  }
  const files = pieces.rows.filter(({ form }) => form !== 'output');
  const [only, ...others] = files;
  if (others.length > 0)
    throw new ConfigError(
      `there are several files of rows: ${files.map(({ path }) => path).join(', ')}; name the eval's files alone`,
    );
  if (only) return itemsOf(only, report);
  const outputs = pieces.rows.flatMap(({ form, rows }) => (form === 'output' ? rows : []));
  const own = outputs.filter(
    ({ value }) => !of.run || value['run_id'] === undefined || value['run_id'] === of.run.value['id'],
  );
  const rows = outputRows(own.length > 0 ? own : outputs);
  if (rows.length > 0) return rows;
  const id = typeof of.id === 'string' && of.id.startsWith('eval_') ? of.id : 'eval_…';
  throw new ConfigError(
    `${of.place} has no rows beside it: name their JSONL, too, or fetch eval and rows with "ratchet import openai:${id}"`,
  );
}

function inlineRows({ value, place }: Pieces['runs'][number]): Row[] | null {
  const source = asObject(asObject(value['data_source'])?.['source']);
  const { type, content } = source ?? {};
  if (type !== 'file_content' || !Array.isArray(content)) return null;
  return content.map((one: unknown, at) => {
    const item = asObject(one)?.['item'];
    const here = `${place} data_source.source.content[${at}]`;
    if (!isObject(item)) throw new ConfigError(`${here} must have an item, an object`);
    return { value: item, place: here };
  });
}

function rowsOfFile(pieces: Pieces, { value }: Pieces['runs'][number]): Row[] | null {
  const id = asObject(asObject(value['data_source'])?.['source'])?.['id'];
  if (typeof id !== 'string') return null;
  const piece = pieces.rows.find(({ path, form }) => form !== 'output' && isFileOf(path, id));
  return piece ? itemsOf(piece) : null;
}

/** The items of `{"item": …}`, or the rows themselves. */
export function itemsOf({ form, rows }: RowsPiece, report?: Report): Row[] {
  if (form !== 'item') return rows;
  if (rows.some(({ value }) => value['sample'] !== undefined))
    report?.leave('sample of the rows, the answers of an earlier run: the model answers anew');
  return rows.map(({ value, place }) => ({ value: value['item'] as Row['value'], place }));
}

/** Each item once, in the order of the data. */
function outputRows(outputs: readonly Row[]): Row[] {
  const byId = new Map<unknown, Row>();
  for (const { value, place } of outputs) {
    const data = value['datasource_item'];
    if (!isObject(data)) throw new ConfigError(`${place} datasource_item must be an object`);
    const id = value['datasource_item_id'] ?? place;
    // Of uploaded rows it holds the item alone, of stored answers with the sample.
    const item = isObject(data['item']) ? data['item'] : data;
    if (!byId.has(id)) byId.set(id, { value: item, place });
  }
  const numberOf = (id: unknown) => (typeof id === 'number' ? id : 0);
  return [...byId].sort(([one], [other]) => numberOf(one) - numberOf(other)).map(([, row]) => row);
}
