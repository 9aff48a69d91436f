/** Evals of OpenAI's platform: rows, the prompt of a run, graders. */
import { ConfigError } from '../../service/config.js';
import { asObject, canonicalJson, isObject } from '../../util/json.js';
import { promptOfText } from '../task/prompt-file.js';
import { mapAssertions, type Assertion, type Scorer } from '../task/row-scorer.js';
import { graderForms } from './grader-forms.js';
import { readGraders, type Grader, type Graders } from './graders.js';
import { listed, named, type Imported, type ImportedPrompt, type Report, type Row } from './imported.js';
import { evalRows } from './eval-rows.js';
import { onlyPath, valueAt, withColumns } from './item-templates.js';
import { textOfContent } from './messages.js';
import type { Pieces } from './pieces.js';
import { modelName, parametersOf } from './policies.js';

type PlacedJson = Pieces['evals'][number];

/** `name` chooses among several. */
export function importEval(pieces: Pieces, name: string | undefined, report: Report): Imported {
  const { value, place } = chosenEval(pieces.evals, name);
  const title =
    typeof value['name'] === 'string' && value['name'] !== '' ? value['name'] : String(value['id'] ?? 'eval');
  const own = pieces.runs.filter(({ value: run }) => run['eval_id'] === undefined || run['eval_id'] === value['id']);
  const run = chosenRun(own, report);
  const found = evalRows(pieces, { id: value['id'], run, runs: own, place }, report);
  const prompt = promptOf(pieces, run, found, report);
  const rows = prompt ? withPaths(found, prompt.columns) : found;
  const read = readGraders(value['testing_criteria'], report);
  const scored = scoreRows(rows, read, prompt?.columns ?? new Map<string, readonly string[]>());
  const columns = [...new Set(rows.flatMap(({ value: row }) => Object.keys(row)))];
  const asked = prompt?.columns.size ? null : askedColumn(columns, [...read.references, scored.expected]);
  if (prompt && prompt.columns.size === 0 && asked === null && !columns.includes('input'))
    report.note('the prompt names no column; write {{column}} into it, or name the input with --input');
  return {
    what: `the eval ${named(title)} of OpenAI`,
    name: title,
    rows: scored.rows,
    input: asked === 'input' ? null : asked,
    expected: scored.expected,
    scorer: scored.scorer,
    ...servedBy(prompt?.prompt ?? onlyInput(asked, report)),
  };
}

const servedBy = (prompt: ImportedPrompt | null) => ({ prompts: prompt ? [prompt] : [], served: prompt });

/** A prompt that only asks, for a search to begin with. */
function onlyInput(column: string | null, report: Report): ImportedPrompt | null {
  report.note('no run with a prompt is among the files: write instructions into the prompt before a search');
  if (column === null) return null;
  return { messages: [{ role: 'user', content: `{{${column}}}` }], model: null, policy: {}, version: null };
}

function chosenEval(evals: readonly PlacedJson[], name: string | undefined): PlacedJson {
  const called = evals.filter(({ value }) => name !== undefined && [value['name'], value['id']].includes(name));
  const [only] = called.length > 0 ? called : evals;
  if (called.length === 1 || evals.length === 1) return only!;
  const names = evals.slice(0, 10).map(({ value }) => String(value['name'] ?? value['id']));
  throw new ConfigError(
    `there are ${evals.length} evals; choose one by --name and its name or id: ${names.map((one) => JSON.stringify(one)).join(', ')}${evals.length > 10 ? ', …' : ''}`,
  );
}

/** The newest run that has a prompt. */
function chosenRun(runs: readonly PlacedJson[], report: Report): PlacedJson | null {
  const asking = runs.filter(({ value }) => isObject(asObject(value['data_source'])?.['input_messages']));
  const timeOf = ({ value }: PlacedJson) => (typeof value['created_at'] === 'number' ? value['created_at'] : 0);
  const [newest = null, ...others] = asking.toSorted((one, other) => timeOf(other) - timeOf(one));
  const kind = ({ value }: PlacedJson) => {
    const { model, input_messages: input } = asObject(value['data_source'])!;
    return canonicalJson([model, input]);
  };
  if (newest && others.some((one) => kind(one) !== kind(newest)))
    report.note(`of ${asking.length} runs, which differ in prompt or model, the newest is taken: ${nameOf(newest)}`);
  return newest ?? runs[0] ?? null;
}

const nameOf = ({ value, place }: PlacedJson) => named(String(value['name'] ?? value['id'] ?? place));

interface FoundPrompt {
  prompt: ImportedPrompt;
  /** The columns that it names, with their paths in a row. */
  columns: Map<string, readonly string[]>;
}

function promptOf(pieces: Pieces, run: PlacedJson | null, rows: readonly Row[], report: Report): FoundPrompt | null {
  const source = asObject(run?.value['data_source']) ?? {};
  const model = modelName(source['model']);
  const place = run ? `${run.place} data_source` : '';
  const policy = parametersOf(asObject(source['sampling_params']) ?? {}, `${place}.sampling_params`, report);
  const input = asObject(source['input_messages']) ?? {};
  const columns = new Map<string, readonly string[]>();
  const of = (messages: ImportedPrompt['messages']) => ({
    prompt: { messages, model, policy, version: null },
    columns,
  });
  if (Array.isArray(input['template']))
    return of(templateMessages(input['template'], `${place}.input_messages.template`, columns));
  const reference = input['item_reference'];
  if (typeof reference === 'string') {
    const keys = onlyPath(reference) ?? reference.trim().split('.');
    if (keys[0] !== 'item' || keys.length < 2)
      throw new ConfigError(`${place}.input_messages.item_reference must be item.column; it is ${named(reference)}`);
    columns.set(keys.slice(1).join('.'), keys.slice(1));
    report.note('a row holds the whole conversation: write instructions into the prompt before a search');
    return of([{ role: 'user', content: `{{${keys.slice(1).join('.')}}}` }]);
  }
  const texts = pieces.texts.filter(({ path }) => /prompt/i.test(path.split('/').at(-1)!));
  if (texts.length !== 1) return model === null ? null : rows.length === 0 ? null : withoutText(model, policy, report);
  report.note(`the prompt is that of ${texts[0]!.path}, as the run has none`);
  return of(promptOfText(texts[0]!.text.trim()).messages);
}

function withoutText(model: string, policy: ImportedPrompt['policy'], report: Report): null {
  const set = Object.keys(policy).length > 0 ? ` with ${Object.keys(policy).join(', ')}` : '';
  report.note(`the run has the model ${model}${set} but no prompt`);
  return null;
}

function templateMessages(template: readonly unknown[], place: string, columns: FoundPrompt['columns']) {
  if (template.length === 0) throw new ConfigError(`${place} must have a message`);
  return template.map((one, at): ImportedPrompt['messages'][number] => {
    const { role, content } = asObject(one) ?? {};
    const text = textOfContent(content);
    const known = role === 'developer' ? 'system' : role;
    if (text === null || (known !== 'system' && known !== 'user' && known !== 'assistant'))
      throw new ConfigError(
        `${place}[${at}] must have the role system, developer, user or assistant and a text; pictures, sounds and tools are not taken over`,
      );
    return { role: known, content: withColumns(text, `${place}[${at}]`, columns) };
  });
}

/** Rows with a column for each path of several keys. */
function withPaths(rows: readonly Row[], columns: FoundPrompt['columns']): Row[] {
  const paths = [...columns].filter(([, keys]) => keys.length !== 1);
  const lacking = rows.flatMap(({ value, place }) =>
    [...columns].filter(([, keys]) => valueAt(value, keys) === undefined).map(([name]) => `${place} has no ${name}`),
  );
  if (lacking.length === rows.length * columns.size && lacking.length > 0)
    throw new ConfigError(`the rows have none of the columns that the prompt names: ${[...columns.keys()].join(', ')}`);
  if (paths.length === 0) return [...rows];
  return rows.map(({ value, place }) => ({
    place,
    value: { ...value, ...Object.fromEntries(paths.map(([name, keys]) => [name, valueAt(value, keys) ?? null])) },
  }));
}

/** The one column that nothing is compared with, for a prompt that names none. */
function askedColumn(columns: readonly string[], compared: readonly (string | null)[]): string | null {
  if (columns.includes('input')) return 'input';
  const left = columns.filter((name) => !compared.includes(name));
  return left.length === 1 ? left[0]! : null;
}

interface ScoredRows {
  rows: readonly Row[];
  scorer: Scorer | null;
  expected: string | null;
}

/** The scorer of what the rows assert, whose values are a column of theirs or a new one. */
function scoreRows(rows: readonly Row[], { graders }: Graders, asked: FoundPrompt['columns']): ScoredRows {
  if (graders.length === 0) return { rows, scorer: null, expected: null };
  return withScorer(
    rows,
    rows.map((row) => assertionsOf(row, graders)),
    [...asked.keys()],
  );
}

function assertionsOf({ value, place }: Row, graders: readonly Grader[]): (Assertion | string)[] {
  return graders.map((grader) => {
    const read = grader(value);
    return typeof read === 'string' ? `${place} ${read}` : read;
  });
}

/** `asked`: columns that the prompt shows, no right answers. Throws for rows with faults. */
export function withScorer(
  rows: readonly Row[],
  asserted: readonly (Assertion | string)[][],
  asked: readonly string[],
): ScoredRows {
  const faults = asserted.flat().filter((one) => typeof one === 'string');
  if (faults.length > 0) throw new ConfigError(listed(faults));
  const { scorer, expected: values } = mapAssertions(asserted as Assertion[][], graderForms);
  if (!values) return { rows, scorer, expected: null };
  const columns = [...new Set(rows.flatMap(({ value }) => Object.keys(value)))].filter((name) => !asked.includes(name));
  const same = columns.find((name) =>
    rows.every(({ value }, at) => canonicalJson(value[name] ?? null) === canonicalJson(values[at] ?? null)),
  );
  if (same !== undefined) return { rows, scorer, expected: same };
  const free = ['expected', '_expected', '__expected'].find((name) => rows.every(({ value }) => !(name in value)))!;
  return {
    rows: rows.map(({ value, place }, at) => ({ place, value: { ...value, [free]: values[at] } })),
    scorer,
    expected: free,
  };
}
