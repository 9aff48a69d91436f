/** The tasks of a graph job: its request's, or the rows of a data set of the service. */
import { columnFinder, expectedOf, inputName } from '../../../core/prompts/row-template.js';
import { chatOf, splitAnswer } from '../../../core/prompts/chat-rows.js';
import type { TaskRows } from '../../../core/jobs/spec.js';
import { valueAt } from '../../../contracts/validation.js';
import { hint, inputWarnings, knownForms } from '../../../datasets/routes/job-rows.js';
import { rowSource, type RowSource } from '../../../datasets/routes/row-source.js';
import { listDatasetRows, type NewDataset } from '../../../datasets/store/datasets.js';
import { readsRubric } from '../../../scorers/verifier.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { listed, pointerOf, refuse, type FieldError } from '../../../platform/http/server/errors.js';
import type { Fault } from '../../../platform/http/server/faults.js';
import { contentProblems, rowsProblem } from '../contract/dataset-problems.js';
import type { GraphDataset, TaskedDataset } from '../contract/dataset.js';
import type { CreateGraphJob, TaskedGraphJob } from '../contract/job.js';

/** A request with its tasks. */
export interface TaskSource {
  request: TaskedGraphJob;
  /** null: the request had its tasks. */
  rows: TaskRows | null;
  /** The field that `{{input}}` stands for; null: none. */
  main: string | null;
  warnings: string[];
  /** Moves a fault of a task to the field that the caller sent. */
  asSent(fault: Fault): Fault;
  /** Keeps the data set from being deleted. */
  keep?: RowSource['keep'];
  /** Bytes of the rows that are stored again as tasks. */
  copiedBytes?: number;
}

const base = ['dataset'] as const;

/** Throws if the data set does not exist, is too large, or lacks a column or a right answer. */
export async function withTasks(deps: HttpDeps, orgId: string, request: CreateGraphJob): Promise<TaskSource> {
  const { dataset } = request;
  if (dataset.tasks) {
    const tasked = { ...request, dataset: { ...dataset, tasks: dataset.tasks } };
    return { request: tasked, rows: null, main: null, warnings: [], asSent: (fault) => fault };
  }
  const named = { input: dataset.input ?? inputName, expected: dataset.expected ?? 'expected' };
  const source = await rowSource(deps, orgId, { dataset_id: dataset.dataset_id, ...named }, base);
  const { id, numRows, bytes } = source.dataset;
  const tooLarge = rowsProblem(source.dataset);
  if (tooLarge !== null) throw refuse.invalid([{ pointer: pointerOf([...base, 'dataset_id']), message: tooLarge }]);
  const columns = columnsOf(dataset, source.dataset);
  const read = await deps.db.org(orgId, (tx) => listDatasetRows(tx, id, { after: -1, limit: numRows }));
  const tasked = taskedDataset(dataset, columns, read);
  const asSent = (fault: Fault) => faultOfRow(fault, tasked, columns.expected);
  const problems = contentProblems(tasked, request.judge_model !== undefined);
  const errors = problems.map(({ path, message }) => errorOf(asSent({ path: [...base, ...path], message })));
  if (errors.length > 0) throw refuse.invalid(errors.slice(0, listed));
  return {
    request: { ...request, dataset: tasked },
    rows: { datasetId: id, numRows, expected: columns.expected },
    main: columns.main,
    warnings: columns.main === null ? [] : inputWarnings(source.dataset, { [inputName]: columns.main }),
    asSent,
    keep: source.keep,
    copiedBytes: bytes,
  };
}

export const errorOf = ({ path, message }: Fault): FieldError => ({ pointer: pointerOf(path), message });

interface Columns {
  /** Those of the tasks' inputs. */
  fields: string[];
  main: string | null;
  /** null: the data set has no right answers. */
  expected: string | null;
}

function columnsOf({ input, expected, verifier_config: { mode } }: GraphDataset, { columns }: NewDataset): Columns {
  const names = columns.map(({ name }) => name);
  const wanted = knownForms({ input: input ?? inputName, expected: expected ?? 'expected' }, names);
  const main = columnFinder(names, wanted.input)(inputName);
  const right = names.includes(wanted.expected) ? wanted.expected : null;
  const fields = names.filter((name) => name !== right || name === main);
  const errors: FieldError[] = [];
  const refuseColumn = (field: 'input' | 'expected', what: string) =>
    errors.push(errorOf({ path: [...base, field], message: `must name ${what}${hint(wanted[field], names)}` }));
  if ((main === null && input !== undefined) || fields.length === 0)
    refuseColumn('input', `a column for {{${inputName}}}`);
  if (right === null && (expected !== undefined || !readsRubric(mode)))
    refuseColumn('expected', 'the column with the right answers');
  if (errors.length > 0) throw refuse.invalid(errors);
  return { fields, main, expected: right };
}

function taskedDataset(
  dataset: GraphDataset,
  { fields, main, expected }: Columns,
  rows: readonly { row: number; data: Record<string, unknown> }[],
): TaskedDataset {
  const columns = { placeholders: main === null ? {} : { [inputName]: main }, expected };
  const fieldOf = (data: Record<string, unknown>, name: string) => {
    const value = valueAt(data, name) ?? '';
    const chat = name === expected ? chatOf(value) : null;
    return chat ? splitAnswer(chat).input : value;
  };
  const { dataset_id: _id, input: _input, expected: _expected, ...others } = dataset;
  return {
    ...others,
    tasks: rows.map(({ row, data }) => ({
      id: String(row),
      input: Object.fromEntries(fields.map((name) => [name, fieldOf(data, name)])),
    })),
    gold_outputs: rows.flatMap(({ row, data }) => {
      const output = expected === null ? undefined : expectedOf(valueAt(data, expected) ?? undefined, columns);
      return output === undefined ? [] : [{ task_id: String(row), output }];
    }),
  };
}

/** The column that a fault of a task is about, or its row. */
function faultOfRow(
  fault: Fault,
  { gold_outputs: golds, verifier_config: { mode } }: TaskedDataset,
  column: string | null,
): Fault {
  const [, list, at, ...inside] = fault.path;
  const ofColumn = (row: unknown, message: string): Fault => ({
    path: [...base, 'expected'],
    message: `names the column "${column}", whose value in row ${String(row)} ${message}`,
  });
  if (list === 'gold_outputs') return ofColumn(golds![at as number]!.task_id, fault.message);
  if (list !== 'tasks') return fault;
  if (inside.length === 0) return ofColumn(at, `is empty, which mode ${mode} does not allow`);
  return { path: [...base, 'dataset_id'], message: `is a data set whose row ${String(at)} ${fault.message}` };
}
