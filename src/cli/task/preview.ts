/** What a create would answer, by the service's own checks on the rows of the task. */
import { ConfigError } from '../../service/config.js';
import { flatEvaluationSchema } from '../../kinds/evaluation/contract/evaluation.js';
import { createSessionSchema, type OptimizationOnRows } from '../../kinds/session/contract/create.js';
import type { PolicySpec } from '../../core/jobs/policy.js';
import { fillMessages, rowValues } from '../../core/prompts/row-template.js';
import { plannedView, type Planned } from '../../candidates/routes/search-view.js';
import { splitOf, type SeedSplit } from '../../core/search/split.js';
import { unusableRows, type JobRows } from '../../datasets/routes/job-rows.js';
import { labelWarnings } from '../../datasets/routes/row-warnings.js';
import { evaluatedRows } from '../../kinds/evaluation/routes/rows.js';
import { evaluationEstimate, sessionEstimate, type Estimate } from '../../jobs/routes/cost-estimate.js';
import { evaluationSpec, sessionSpec } from '../../jobs/routes/specs.js';
import { createWarnings } from '../../jobs/routes/warnings.js';
import { searchedRows } from '../../kinds/session/routes/rows.js';
import { readBody, unchecked } from './estimates.js';
import { inOptions } from './faults.js';
import type { Prompt } from './prompt-file.js';
import { evaluationRequest, sessionRequest, taskRequest, type LabelOptions, type SearchOptions } from './requests.js';
import { heldRows, readRowsFile, type FileRows } from './rows-file.js';
import { dataOf, type ReadTask } from './task.js';

export interface Preview {
  estimate: Estimate;
  /** Null: an evaluation, whose rows have no parts. */
  split: SeedSplit | null;
  /** What the comparison will show; null: an evaluation. */
  planned: Planned | null;
  warnings: string[];
  /** The call for the first row that is asked. */
  request: { provider: string; row: number; body: Record<string, unknown> };
}

const listedRows = 20;
const maxPromptChars = 2_000_000;

/** Throws a ConfigError for a search that the service would refuse. */
export async function previewSession(task: ReadTask, prompt: Prompt, options: SearchOptions): Promise<Preview> {
  const file = await rowsOf(task);
  const wanted = sessionRequest(taskRequest(task, file.dataset.id), task, prompt, options);
  return inOptions(async () => {
    const { policy_optimization: request } = readBody(createSessionSchema, wanted);
    const { of, rows } = await searchedRows(file, unchecked, request as OptimizationOnRows);
    if (file.dataset.numRows === 1)
      throw new ConfigError('--data: has one row, which a search only learns by heart; add rows');
    const spec = sessionSpec(request, unchecked, of);
    const split = splitOf(spec.search);
    await requireUsable(file, rows, [...split.train, ...split.evaluation, ...split.heldout]);
    return {
      estimate: sessionEstimate(spec),
      split,
      planned: plannedView(spec.search),
      warnings: [...of.warnings, ...createWarnings(spec, '')],
      request: callFor(file, rows, spec.policy, split.evaluation[0]!),
    };
  });
}

/** Throws a ConfigError for an evaluation that the service would refuse. */
export async function previewEvaluation(task: ReadTask, prompt: Prompt, labels: LabelOptions): Promise<Preview> {
  const file = await rowsOf(task);
  const wanted = evaluationRequest(taskRequest(task, file.dataset.id), task, prompt, labels);
  return inOptions(async () => {
    const request = readBody(flatEvaluationSchema, wanted);
    const { messages } = prompt;
    const rows = evaluatedRows(file, unchecked, { ...request, dataset: request.dataset! }, messages, []);
    const candidate = { messages: rows.messages, sessionId: null, candidateId: null };
    const spec = evaluationSpec(request, candidate, rows.spec);
    await requireUsable(file, rows, spec.seeds);
    return {
      estimate: evaluationEstimate(spec),
      split: null,
      planned: null,
      warnings: [...rows.warnings, ...(await labelWarnings(rows)), ...createWarnings(spec, '')],
      request: callFor(file, rows, spec.policy, 0),
    };
  });
}

function rowsOf(task: ReadTask): Promise<FileRows> {
  const data = dataOf(task);
  return task.rows ? heldRows(task.rows, data, task.places) : readRowsFile(data, task.files);
}

/** Refuses rows whose expected value the scorer cannot use, by their places in the file. */
async function requireUsable(file: FileRows, rows: JobRows, seeds: readonly number[]): Promise<void> {
  const faults: string[] = [];
  for await (const { row, problem } of unusableRows(rows, seeds)) {
    faults.push(`${await file.placeOf(row)} "${rows.spec.expected}" ${problem}`);
    if (faults.length >= listedRows) break;
  }
  if (faults.length > 0) throw new ConfigError(faults.join('\n'));
}

function callFor(file: FileRows, rows: JobRows, policy: PolicySpec, row: number): Preview['request'] {
  const values = rowValues(file.rowAt(row), rows.spec);
  const messages = fillMessages(rows.messages, values, maxPromptChars);
  if (messages === null)
    throw new ConfigError(`--prompt: with row ${row} it has more than ${maxPromptChars} characters`);
  const { provider, model, params } = policy;
  return { provider, row, body: { ...params, model, messages } };
}
