import type { FastifyRequest } from 'fastify';
import type { EvaluationRequest } from '../contract/evaluation.js';
import type { RowsRequest } from '../../../datasets/contract/rows.js';
import { scorerSpec } from '../../../scorers/index.js';
import type { EvaluationSpec, RowsSpec } from '../../../core/jobs/spec.js';
import type { Message } from '../../../core/prompts/message.js';
import { checkExpected, jobRows, type JobRows } from '../../../datasets/routes/job-rows.js';
import { formWarnings, labelWarnings } from '../../../datasets/routes/row-warnings.js';
import { rowSource, type Rows, type RowSource } from '../../../datasets/routes/row-source.js';
import { scorerChecks, type ScorerChecks } from '../../../datasets/routes/scorer-errors.js';
import { seedErrors } from '../../../jobs/routes/specs.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { pointerOf, refuse } from '../../../platform/http/server/errors.js';

/** Most rows of one evaluation, as seeds of a request. */
const maxSeeds = 10_000;

type Candidate = EvaluationSpec['candidate'];

/** The rows of an evaluation on a data set, and the prompt that they fill. Null: it has none. */
export async function withRows(
  deps: HttpDeps,
  request: FastifyRequest,
  evaluation: EvaluationRequest,
  candidate: Candidate,
  path: readonly string[],
): Promise<{ candidate: Candidate; rows: RowsSpec | null; warnings: string[]; keep?: RowSource['keep'] }> {
  const { dataset, seeds } = evaluation;
  if (!dataset || !candidate) return { candidate, rows: null, warnings: [] };
  if (candidate.marked) {
    const pointer = pointerOf([...path, 'candidate', 'session_id']);
    const message = "names a session whose texts are spans inside its container's calls; give messages for a data set";
    throw refuse.invalid([{ pointer, message }]);
  }
  const source = await rowSource(deps, request.caller.orgId, dataset, [...path, 'dataset']);
  const checks = scorerChecks(deps, request.caller.orgId);
  const rows = evaluatedRows(source, checks, { ...evaluation, dataset }, candidate.messages, path);
  await checkExpected(rows, seeds ?? [...Array(rows.spec.numRows).keys()], path);
  return {
    candidate: { ...candidate, messages: rows.messages },
    rows: rows.spec,
    warnings: [...rows.warnings, ...(await formWarnings(rows)), ...(await labelWarnings(rows))],
    keep: source.keep,
  };
}

/** Throws with all invalid fields but for the expected values of the rows. */
export function evaluatedRows(
  source: Rows,
  checks: ScorerChecks,
  { dataset, scorer, policy, seeds }: EvaluationRequest & { dataset: RowsRequest },
  messages: readonly Message[],
  path: readonly string[],
): JobRows {
  const { provider } = policy;
  const promptPath = [...path, 'candidate'];
  const fields = { dataset, scorer: scorerSpec(scorer!, provider), provider, messages, promptPath };
  const rows = jobRows(source, checks, fields, path);
  const { numRows } = rows.spec;
  if (!seeds && numRows > maxSeeds) {
    const message = `is required: the data set has ${numRows} rows, and an evaluation runs at most ${maxSeeds}`;
    throw refuse.invalid([{ pointer: pointerOf([...path, 'seeds']), message }]);
  }
  const errors = seedErrors(numRows, [{ path: [...path, 'seeds'], seeds: seeds ?? [] }]);
  if (errors.length > 0) throw refuse.invalid(errors);
  return rows;
}
