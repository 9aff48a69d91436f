/** What the values of files are: evals, runs, rows, prompts. */
import { basename } from 'node:path';
import { ConfigError } from '../../service/config.js';
import { asObject, isObject } from '../../util/json.js';
import type { Row, SourceFile } from './imported.js';
import { looksLikeChat } from './messages.js';
import { contentOf, type Placed } from './source.js';

type Json = Record<string, unknown>;

/** Rows of one file, by what their lines look like. */
export interface RowsPiece {
  /** `output`: of a run, with the grades that it got. */
  form: 'item' | 'output' | 'sample' | 'chat' | 'plain';
  path: string;
  rows: Row[];
}

export interface Pieces {
  evals: { value: Json; place: string }[];
  runs: { value: Json; place: string }[];
  rows: RowsPiece[];
  /** Stored prompts, bodies of requests, messages. */
  prompts: Placed[];
  texts: SourceFile[];
  promptfoo: string[];
  /** YAML of openai/evals. */
  registries: { value: Json; path: string }[];
  unknown: string[];
}

export async function piecesOf(files: readonly SourceFile[]): Promise<Pieces> {
  const pieces: Pieces = {
    evals: [],
    runs: [],
    rows: [],
    prompts: [],
    texts: [],
    promptfoo: [],
    registries: [],
    unknown: [],
  };
  for (const file of files) {
    const content = await contentOf(file);
    if (content.form === 'text') pieces.texts.push(file);
    else if (content.form === 'lines') addLines(pieces, file.path, content.lines);
    else add(pieces, file.path, content.placed);
  }
  return pieces;
}

/** A file of one value. */
function add(pieces: Pieces, path: string, { value, place }: Placed): void {
  if (Array.isArray(value)) {
    if (looksLikeChat(value)) pieces.prompts.push({ value, place });
    else addLines(pieces, path, placedItems(value, place));
    return;
  }
  if (!isObject(value)) return void pieces.unknown.push(path);
  const list = asObject(value)?.['object'] === 'list' ? value['data'] : undefined;
  if (Array.isArray(list)) return addLines(pieces, path, placedItems(list, `${place} data`));
  if (isPromptfoo(value)) return void pieces.promptfoo.push(path);
  if (isObject(value['config']) && isPromptfoo(value['config']) && value['results'] !== undefined)
    throw new ConfigError(
      `${path} holds the results of a run of promptfoo; import the configuration that made them, which is its "config"`,
    );
  if (addOwn(pieces, path, { value, place })) return;
  if (isObject(value['eval'])) return addExport(pieces, path, value, place);
  if (isPrompt(value)) return void pieces.prompts.push({ value, place });
  if (isRegistry(value)) return void pieces.registries.push({ value, path });
  const rows = ['rows', 'items', 'data', 'examples', 'samples'].map((name) => value[name]).find(Array.isArray);
  if (rows) return addLines(pieces, path, placedItems(rows, place));
  pieces.unknown.push(path);
}

const placedItems = (list: readonly unknown[], place: string): Placed[] =>
  list.map((value, at) => ({ value, place: `${place}[${at}]` }));

/** An eval or a run by itself; false: something else. */
function addOwn(pieces: Pieces, path: string, { value, place }: Placed): boolean {
  if (!isObject(value)) return false;
  if (isEval(value)) pieces.evals.push({ value, place });
  else if (isRun(value)) pieces.runs.push({ value, place });
  else if (isOutput(value)) addRow(pieces, 'output', path, { value, place });
  else return false;
  return true;
}

/** A script's export of an eval: `{eval, rows, runs: [{run, output_items}]}`. */
function addExport(pieces: Pieces, path: string, value: Json, place: string): void {
  add(pieces, path, { value: value['eval'], place: `${place} eval` });
  for (const name of ['runs', 'output_items', 'rows'])
    if (value[name] !== undefined && !Array.isArray(value[name]))
      throw new ConfigError(`${place} ${name} must be a list`);
  const runs = placedItems((value['runs'] as unknown[] | undefined) ?? [], `${place} runs`);
  for (const { value: one, place: at } of runs) {
    const { run = one, output_items: outputs = [] } = asObject(one) ?? {};
    if (isObject(run)) pieces.runs.push({ value: run, place: at });
    if (Array.isArray(outputs)) addLines(pieces, path, placedItems(outputs, `${at} output_items`));
  }
  addLines(pieces, path, placedItems((value['output_items'] as unknown[] | undefined) ?? [], `${place} output_items`));
  for (const row of placedItems((value['rows'] as unknown[] | undefined) ?? [], `${place} rows`))
    addRow(pieces, formOf(row.value), path, row);
}

function addLines(pieces: Pieces, path: string, lines: readonly Placed[]): void {
  for (const line of lines) if (!addOwn(pieces, path, line)) addRow(pieces, formOf(line.value), path, line);
}

/** The first row of a file tells the form of all. */
function addRow(pieces: Pieces, form: RowsPiece['form'], path: string, { value, place }: Placed): void {
  let piece = pieces.rows.find((one) => one.path === path && (one.form === 'output') === (form === 'output'));
  if (!piece) pieces.rows.push((piece = { form, path, rows: [] }));
  if (!isObject(value)) throw new ConfigError(`${place} must be an object`);
  const wanted = { item: 'item', output: 'datasource_item', sample: 'input', chat: 'messages', plain: null }[
    piece.form
  ];
  if (wanted !== null && value[wanted] === undefined)
    throw new ConfigError(`${place} has no ${wanted}, which the rows before it have`);
  if (piece.form === 'item' && !isObject(value['item'])) throw new ConfigError(`${place} item must be an object`);
  piece.rows.push({ value, place });
}

function formOf(value: unknown): RowsPiece['form'] {
  if (!isObject(value)) return 'plain';
  if (isObject(value['item'])) return 'item';
  if (value['input'] !== undefined && value['ideal'] !== undefined) return 'sample';
  return looksLikeChat(value['messages']) ? 'chat' : 'plain';
}

const isEval = (value: Json) => Array.isArray(value['testing_criteria']);
const isRun = (value: Json) => isObject(value['data_source']);
const isOutput = (value: Json) => value['object'] === 'eval.run.output_item' || value['datasource_item'] !== undefined;
const isPromptfoo = ({ prompts, providers, targets, tests, scenarios }: Json) =>
  [prompts, providers ?? targets, tests ?? scenarios].filter((one) => one !== undefined).length > 1;
const isPrompt = (value: Json) =>
  looksLikeChat(value['messages']) ||
  Array.isArray(value['versions']) ||
  value['object'] === 'response' ||
  isObject(value['prompt']) ||
  ['instructions', 'input'].some((name) => value[name] !== undefined) ||
  idOf(value) !== null;
const isRegistry = (value: Json) =>
  Object.values(value).some((one) => isObject(one) && typeof one['class'] === 'string');

/** The id of a stored prompt; null: none is named. */
export function idOf(value: Json): string | null {
  const ids = [value['id'], value['prompt_id'], value['openai_prompt_id']];
  return ids.find((one): one is string => typeof one === 'string' && one.startsWith('pmpt_')) ?? null;
}

/** The file's name without its end, as a run names its file. */
export function isFileOf(path: string, id: string): boolean {
  return basename(path).startsWith(`${id}.`);
}
